# expect: expectation [2*cos(0.3) - 3*cos(0.5)]
from braket.circuits import Circuit, observables

circuit = Circuit().rx(0, 0.3).ry(1, 0.5)
h = 2 * observables.Z(0) + -3 * observables.Z(1)
circuit.expectation(h)
