# expect: counts {"0": 0.5, "1": 0.5}
# expect-stdout: 64
from qiskit import QuantumCircuit, generate_preset_pass_manager
from qiskit_aer import AerSimulator
from qiskit_aer.primitives import SamplerV2

backend = AerSimulator()
qc = QuantumCircuit(1)
qc.h(0)
qc.measure_all()
pm = generate_preset_pass_manager(backend=backend, optimization_level=1)
isa_circuit = pm.run(qc)
result = SamplerV2().run([isa_circuit], shots=64).result()
print(sum(result[0].data.meas.get_counts().values()))
