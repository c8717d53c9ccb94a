# expect: counts {"11": 1}
from qiskit import QuantumCircuit


def build(bits: str) -> QuantumCircuit:
    circuit = QuantumCircuit(len(bits))
    for position, bit in enumerate(bits):
        if bit == "1":
            circuit.x(position)
    return circuit


if __name__ == "__main__":
    qc = build("11")
    print(qc)
