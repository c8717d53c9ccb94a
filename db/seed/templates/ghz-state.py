"""GHZ state: a Bell state of as many qubits as you like.

All qubits read 0, or all read 1, with equal probability. How often anything else is read tells how noisy a backend
is.
"""

from qiskit import QuantumCircuit


# The device reads noise_model and seed itself; naming them here lets a job give them.
def main(shots: int, num_qubits: int = 3, noise_model: dict | None = None, seed: int | None = None):
    if not 2 <= num_qubits <= 100:
        raise ValueError(f"num_qubits must be from 2 to 100 (got {num_qubits})")

    circuit = QuantumCircuit(num_qubits)
    circuit.h(0)
    for qubit in range(num_qubits - 1):
        circuit.cx(qubit, qubit + 1)
    circuit.measure_all()

    # `device` is the backend that the job names.
    counts = device.run(circuit, shots)
    observed = sum(counts.values())
    zeros, ones = counts.get("0" * num_qubits, 0), counts.get("1" * num_qubits, 0)
    agreement = (zeros + ones) / observed

    return {
        "counts": counts,
        "num_qubits": num_qubits,
        "agreement": agreement,
        "_summary": {
            "All qubits agree": f"{agreement:.1%} of {observed} shots",
            "All 0 : all 1": f"{zeros} : {ones}",
        },
    }
