# expect: counts {"0": cos(0.5)**2, "1": sin(0.5)**2}
from qiskit import QuantumCircuit
from qiskit.circuit.library import PauliEvolutionGate
from qiskit.quantum_info import SparsePauliOp
from qiskit.synthesis import LieTrotter

gate = PauliEvolutionGate(SparsePauliOp(["X"], [1.0]), time=0.5, synthesis=LieTrotter(reps=4))
qc = QuantumCircuit(1)
qc.append(gate, [0])
qc.measure_all()
