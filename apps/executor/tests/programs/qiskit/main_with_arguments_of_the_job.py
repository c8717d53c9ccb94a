# expect: counts {"1111": 1}
# params: {"n": 4}
from qiskit import QuantumCircuit


def main(n):
    qc = QuantumCircuit(n)
    qc.x(range(n))
    return qc


if __name__ == "__main__":
    main(3)
