# expect: value {"calls": 1}
# expect-stdout: hello
# expect-warning: shots, engine, engine_version and optimization_level are null
from qiskit import QuantumCircuit

calls = []


def main():
    print("hello")
    calls.append(QuantumCircuit(1))
    return {"calls": len(calls)}


if __name__ == "__main__":
    print(main())
