# expect: counts {"0": cos(0.35)**2, "1": sin(0.35)**2}
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter

theta = Parameter("θ")
ansatz = QuantumCircuit(1)
ansatz.ry(theta, 0)

circuit = ansatz.assign_parameters({theta: 0.7})
