# expect: value {"agree": True, "shots": 50}
from qiskit import QuantumCircuit


def main(shots):
    qc = QuantumCircuit(2)
    qc.x(1)
    counts = device.run(qc, 50)  # noqa: F821
    return {"agree": counts == {"01": 50}, "shots": sum(counts.values())}
