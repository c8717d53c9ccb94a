# expect: counts {"1": 1}
# expect-stdout: once
from qiskit import QuantumCircuit


def main():
    assert not done
    done.append(True)
    print("once")
    circuit = QuantumCircuit(1)
    circuit.x(0)
    return circuit


done = []
main()
