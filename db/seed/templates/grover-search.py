"""Grover's search: find one marked bit string among all of its length.

The oracle flips the sign of the marked string, the diffuser reflects all amplitudes about their mean. After k rounds
on n qubits the marked string is read with probability sin((2k + 1) asin(2^(-n/2)))^2, near 1 for k = (pi/4) 2^(n/2).
"""

from math import asin, pi, sin, sqrt

from qiskit import QuantumCircuit


def flip_sign_of(circuit: QuantumCircuit, string: str) -> None:
    """Flips the sign of one bit string; its leftmost character is qubit 0."""
    last = len(string) - 1
    zeros = [qubit for qubit, bit in enumerate(string) if bit == "0"]
    if zeros:
        circuit.x(zeros)
    circuit.h(last)
    circuit.mcx(list(range(last)), last)
    circuit.h(last)
    if zeros:
        circuit.x(zeros)


# The device reads noise_model and seed itself; naming them here lets a job give them.
def main(shots: int, marked: str = "101", noise_model: dict | None = None, seed: int | None = None):
    num_qubits = len(marked)
    if not 2 <= num_qubits <= 8 or set(marked) - {"0", "1"}:
        raise ValueError(f"marked must be 2 to 8 characters, each 0 or 1 (got {marked!r})")
    angle = asin(1 / sqrt(2**num_qubits))
    iterations = round(pi / (4 * angle) - 0.5)

    circuit = QuantumCircuit(num_qubits)
    circuit.h(range(num_qubits))
    for _ in range(iterations):
        flip_sign_of(circuit, marked)
        circuit.h(range(num_qubits))
        flip_sign_of(circuit, "0" * num_qubits)
        circuit.h(range(num_qubits))
    circuit.measure_all()

    # `device` is the backend that the job names.
    counts = device.run(circuit, shots)
    observed = sum(counts.values())
    success = counts.get(marked, 0) / observed
    theory = sin((2 * iterations + 1) * angle) ** 2
    return {
        "counts": counts,
        "marked": marked,
        "iterations": iterations,
        "success_probability": success,
        "theoretical_probability": theory,
        "_summary": {
            "Found": f"{max(counts, key=counts.get)} (marked: {marked})",
            "Success": f"{success:.1%} of {observed} shots, {theory:.1%} by theory, {2**-num_qubits:.1%} by guessing",
        },
    }
