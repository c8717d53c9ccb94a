# expect-error: unbound parameters: theta
# expect-error: operation 'rx' on qubit 1
# expect-error: in the job's params
# expect-line: 9
from qiskit import QuantumCircuit
from qiskit.circuit import Parameter

theta = Parameter("theta")
qc = QuantumCircuit(2)
qc.h(0)
qc.rx(theta, 1)
qc.measure_all()
