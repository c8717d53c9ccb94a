# expect-error: qiskit_ibm_runtime
# expect-error: backend
# expect-line: 5
from qiskit import QuantumCircuit
from qiskit_ibm_runtime import QiskitRuntimeService, SamplerV2 as Sampler

service = QiskitRuntimeService()
backend = service.least_busy(simulator=False, operational=True)
qc = QuantumCircuit(1)
qc.h(0)
qc.measure_all()
