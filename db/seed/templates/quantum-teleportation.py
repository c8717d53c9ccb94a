"""Teleportation: the state of qubit 0 moves to qubit 2 by way of an entangled pair and two classical bits.

The state is cos(theta/2)|0> + exp(i phi) sin(theta/2)|1>. At the end its preparation is undone on qubit 2, so that
qubit reads 0 with a probability equal to the fidelity of what arrived: 1 without noise, 1/2 had nothing arrived at
all.

The two bits are measured in the middle and control gates after it. Hardware that cannot do so takes deferred = true:
the same gates are then controlled by the qubits themselves, measured last. The answer is the same.
"""

from qiskit import QuantumCircuit


# The device reads noise_model and seed itself; naming them here lets a job give them.
def main(
    shots: int,
    theta: float = 1.0,
    phi: float = 0.5,
    deferred: bool = False,
    noise_model: dict | None = None,
    seed: int | None = None,
):
    circuit = QuantumCircuit(3, 3)
    circuit.ry(theta, 0)
    circuit.rz(phi, 0)

    # Qubits 1 and 2 share a Bell pair; qubits 0 and 1 are then measured in the basis of Bell states.
    circuit.h(1)
    circuit.cx(1, 2)
    circuit.cx(0, 1)
    circuit.h(0)
    if deferred:
        circuit.cx(1, 2)
        circuit.cz(0, 2)
    else:
        circuit.measure([0, 1], [0, 1])
        with circuit.if_test((1, 1)):
            circuit.x(2)
        with circuit.if_test((0, 1)):
            circuit.z(2)

    circuit.rz(-phi, 2)
    circuit.ry(-theta, 2)
    if deferred:
        circuit.measure([0, 1], [0, 1])
    circuit.measure(2, 2)

    # `device` is the backend that the job names. The third character of an outcome is qubit 2.
    counts = device.run(circuit, shots)
    observed = sum(counts.values())
    fidelity = sum(n for outcome, n in counts.items() if outcome[2] == "0") / observed
    messages = {
        bits: sum(n for outcome, n in counts.items() if outcome[:2] == bits) for bits in ("00", "01", "10", "11")
    }
    return {
        "counts": counts,
        "fidelity": fidelity,
        "messages": messages,
        "_summary": {
            "Fidelity": f"{fidelity:.4f} of {observed} shots (1 without noise)",
            "Classical bits sent": ", ".join(f"{bits}: {n}" for bits, n in messages.items()),
        },
    }
