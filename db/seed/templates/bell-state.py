"""Bell state: two qubits that always agree.

H puts qubit 0 into both values at once, CX copies its value to qubit 1. Half of the shots read 00, half 11.
"""

from qiskit import QuantumCircuit


# A job's params arrive by name. The device reads noise_model and seed itself; naming them here lets a job give them.
def main(shots: int, noise_model: dict | None = None, seed: int | None = None):
    circuit = QuantumCircuit(2)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.measure_all()

    # `device` is the backend that the job names. Outcomes have qubit 0 leftmost.
    counts = device.run(circuit, shots)
    observed = sum(counts.values())
    agreement = (counts.get("00", 0) + counts.get("11", 0)) / observed

    return {
        "counts": counts,
        "agreement": agreement,
        "_summary": {
            "Qubits agree": f"{agreement:.1%} of {observed} shots",
            "00 : 11": f"{counts.get('00', 0)} : {counts.get('11', 0)}",
        },
    }
