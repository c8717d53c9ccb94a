"""Energy of the hydrogen molecule as a workflow: one task for each basis, side by side, and one that adds them up.

The Hamiltonian is that of the template vqe-h2 (H2 at 0.735 angstrom, STO-3G, two qubits; hartree). The energy at
theta = -0.2235 is -1.1373, at theta = 0 it is -1.1170.
"""

from marqov import Circuit, get_device, task, workflow

# Pauli terms with qubit 0 leftmost, by the basis in which they are read.
TERMS = {
    "Z": {"ZI": 0.39793742484318045, "IZ": -0.39793742484318045, "ZZ": -0.01128010425623538},
    "X": {"XX": 0.18093119978423156},
}
IDENTITY = -1.052373245772859
NUCLEAR_REPULSION = 0.7199689944489797


@task(retries=2, timeout=120)
def expectations(theta: float, basis: str, shots: int, backend: str) -> dict:
    """The expectation of each Pauli term of a basis."""
    circuit = Circuit().x(0).ry(theta, 1).cnot(1, 0)
    if basis == "X":
        circuit.h(0).h(1)
    counts = get_device({"backend": backend}).run(circuit, shots)
    values = {}
    for pauli in TERMS[basis]:
        signs = {
            outcome: (-1) ** sum(bit == "1" for bit, letter in zip(outcome, pauli) if letter != "I")
            for outcome in counts
        }
        values[pauli] = sum(n * signs[outcome] for outcome, n in counts.items()) / sum(counts.values())
    return values


@task
def energy_of(measured: list[dict], theta: float) -> dict:
    coefficients = {"II": IDENTITY, **TERMS["Z"], **TERMS["X"]}
    values = {"II": 1.0, **measured[0], **measured[1]}
    energy = NUCLEAR_REPULSION + sum(coefficients[pauli] * value for pauli, value in values.items())
    terms = {pauli: {"coefficient": coefficients[pauli], "expectation": value} for pauli, value in values.items()}
    return {
        "energy": energy,
        "theta": theta,
        "terms": terms,
        "nuclear_repulsion": NUCLEAR_REPULSION,
        "_summary": {"Energy": f"{energy:.4f} hartree at theta = {theta:.4f}"},
    }


@workflow
def vqe_workflow(
    theta: float = -0.2235369982676592,
    shots: int = 1000,
    backend: str = "local",
    noise_model: dict | None = None,
    seed: int | None = None,
):
    return energy_of([expectations(theta, basis, shots, backend) for basis in TERMS], theta)
