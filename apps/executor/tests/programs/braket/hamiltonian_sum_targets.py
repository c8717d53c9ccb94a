# expect: expectation [2.0]
from braket.circuits import Circuit, Observable

circuit = Circuit().h(0).cnot(0, 1)
circuit.expectation(Observable.X() @ Observable.X() + Observable.Z() @ Observable.Z(), target=[[0, 1], [0, 1]])
