# expect: counts {"00": 0.5, "11": 0.5}
# expect-stdout: local counts
import asyncio

from marqov import Circuit, LocalExecutor

circuit = Circuit().h(0).cnot(0, 1)
result = asyncio.run(LocalExecutor().execute(circuit, shots=50))
print("local counts", sorted(result.counts))
