# expect-error: 'await' outside function
# expect-error: asyncio.run
# expect-line: 7
import asyncio
from qiskit import QuantumCircuit

await asyncio.sleep(0)
circuit = QuantumCircuit(1)
