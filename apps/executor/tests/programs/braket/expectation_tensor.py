# expect: expectation [1.0]
from braket.circuits import Circuit, Observable

circuit = Circuit().h(0).cnot(0, 1)
circuit.expectation(observable=Observable.Z() @ Observable.Z(), target=[0, 1])
