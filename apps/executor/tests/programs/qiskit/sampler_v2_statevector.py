# expect: counts {"00": 0.5, "11": 0.5}
# expect-stdout: data: meas
from qiskit import QuantumCircuit
from qiskit.primitives import StatevectorSampler as Sampler

qc = QuantumCircuit(2)
qc.h(0)
qc.cx(0, 1)
qc.measure_all()
sampler = Sampler(seed=7)
pub_result = sampler.run([qc], shots=128).result()[0]
print("data:", *pub_result.data.keys())
print(pub_result.data.meas.get_counts())
