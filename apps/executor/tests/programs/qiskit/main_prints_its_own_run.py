# expect: value None
# expect-stdout: {'00': 100}
# expect-warning: main() returned nothing
# expect-warning: shots, engine, engine_version and optimization_level are null
from qiskit import QuantumCircuit
from qiskit_aer import AerSimulator


def main():
    qc = QuantumCircuit(2)
    qc.measure_all()
    counts = AerSimulator().run(qc, shots=100).result().get_counts()
    print(counts)


if __name__ == "__main__":
    main()
