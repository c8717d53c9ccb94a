# expect: value {"calls": 1}
# expect-stdout: hello
from qiskit import QuantumCircuit

calls = []


def main():
    print("hello")
    calls.append(QuantumCircuit(1))
    return {"calls": len(calls)}


if __name__ == "__main__":
    print(main())
