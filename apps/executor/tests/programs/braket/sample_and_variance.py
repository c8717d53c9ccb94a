# expect: expectation [1.0]
# expect-warning: 0 for +1
from braket.circuits import Circuit, Observable

circuit = Circuit().h(0).h(1)
circuit.variance(Observable.Z(), target=0)
circuit.sample(Observable.X(), target=1)
