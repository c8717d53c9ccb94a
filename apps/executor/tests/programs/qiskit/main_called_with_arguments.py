# expect: value {"n": 3, "bits": "111"}
# expect-stdout: once
# expect-warning: shots, engine, engine_version and optimization_level are null
from qiskit import QuantumCircuit
from qiskit_aer import AerSimulator


def main(n, gate="x"):
    print("once")
    qc = QuantumCircuit(n)
    getattr(qc, gate)(range(n))
    qc.measure_all()
    (bits,) = AerSimulator().run(qc, shots=10).result().get_counts()
    return {"n": n, "bits": bits}


if __name__ == "__main__":
    print(main(3))
