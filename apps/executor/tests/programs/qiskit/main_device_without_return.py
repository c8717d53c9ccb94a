# expect: counts {"01": 1}
# expect: shots 50
# expect-warning: the last run on the device
from qiskit import QuantumCircuit


def main():
    qc = QuantumCircuit(2)
    qc.x(1)
    print(device.run(qc, 50))  # noqa: F821
