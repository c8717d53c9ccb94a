# expect: counts {"1": 1}
# expect-stdout: OPENQASM 3.0
from braket.circuits import Circuit
from braket.circuits.serialization import IRType

circuit = Circuit().x(0)
print(circuit.to_ir(IRType.OPENQASM).source)
