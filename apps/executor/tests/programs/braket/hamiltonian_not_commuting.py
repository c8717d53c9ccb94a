# expect-error: cannot be measured together
# expect-error: qubit 0 in different bases
# expect-line: 6
from braket.circuits import Circuit, observables

circuit = Circuit().h(0).cnot(0, 1)
circuit.expectation(observables.X(0) + observables.Z(0))
