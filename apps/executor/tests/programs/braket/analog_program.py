# expect-error: No circuit found
from braket.ahs import AnalogHamiltonianSimulation, AtomArrangement, DrivingField
from braket.circuits import Circuit

register = AtomArrangement()
register.add((0.0, 0.0))
program = AnalogHamiltonianSimulation(register=register, hamiltonian=DrivingField.from_lists([0, 1e-6], [0, 0], [0, 0], [0, 0]))
