# expect: value {"counts": {"11": 10}}
# expect-stdout: starting
# expect-warning: shots, engine, engine_version and optimization_level are null
from qiskit import QuantumCircuit
from qiskit_aer import AerSimulator


def main():
    qc = QuantumCircuit(2)
    qc.x([0, 1])
    qc.measure_all()
    return {"counts": backend.run(qc, shots=10).result().get_counts()}


if __name__ == "__main__":
    print("starting")
    backend = AerSimulator()
    print(main())
