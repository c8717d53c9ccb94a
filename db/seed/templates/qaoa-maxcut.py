"""MaxCut by QAOA: split the nodes of a graph in two so that as many edges as possible run between the halves.

The graph is a ring: node i is joined to node i + 1, the last to the first (two nodes: one edge). The largest cut of a
ring is known (all edges when the number of nodes is even, all but one when it is odd) and is found here by brute
force.

The angles follow a straight line from layer to layer, phase up and mixing down. One layer then has the best angles
that exist for a ring of four or more (pi/4 and pi/8, an expected cut of 3/4 of the edges; a random split cuts 1/2),
and each further layer does better.
"""

from math import pi

import numpy as np
from qiskit import QuantumCircuit


def ring(size: int) -> list[tuple[int, int]]:
    """The edges of a ring."""
    return [(node, (node + 1) % size) for node in range(size if size > 2 else 1)]


def cut_of(outcome: str, edges: list[tuple[int, int]]) -> int:
    """How many edges run between the nodes read 0 and the nodes read 1."""
    return sum(outcome[a] != outcome[b] for a, b in edges)


def largest_cut(size: int, edges: list[tuple[int, int]]) -> int:
    """By trying every split; the last node may stay on its side, since mirrored splits cut alike."""
    splits = np.arange(2 ** (size - 1))
    cuts = np.zeros(len(splits), dtype=np.int64)
    for a, b in edges:
        cuts += (splits >> a ^ splits >> b) & 1
    return int(cuts.max())


def qaoa(size: int, edges: list[tuple[int, int]], layers: int) -> QuantumCircuit:
    """Layers of exp(-i gamma cut) and exp(-i beta X), on an even mixture of all splits."""
    circuit = QuantumCircuit(size)
    circuit.h(range(size))
    for layer in range(layers):
        progress = (layer + 0.5) / layers
        gamma, beta = pi / 2 * progress, pi / 4 * (1 - progress)
        for a, b in edges:
            circuit.rzz(-gamma, a, b)
        circuit.rx(2 * beta, range(size))
    circuit.measure_all()
    return circuit


# The device reads noise_model and seed itself; naming them here lets a job give them.
def main(shots: int, graph_size: int = 6, layers: int = 2, noise_model: dict | None = None, seed: int | None = None):
    if not 2 <= graph_size <= 20 or not 1 <= layers <= 10:
        raise ValueError(f"graph_size is from 2 to 20, layers from 1 to 10 (got {graph_size} and {layers})")
    edges = ring(graph_size)
    counts = device.run(qaoa(graph_size, edges, layers), shots)

    cuts = {outcome: cut_of(outcome, edges) for outcome in counts}
    expected = sum(n * cuts[outcome] for outcome, n in counts.items()) / sum(counts.values())
    best = max(cuts, key=cuts.get)
    most = largest_cut(graph_size, edges)
    return {
        "counts": counts,
        "edges": edges,
        "expected_cut": expected,
        "best_cut": cuts[best],
        "best_split": best,
        "max_cut": most,
        "_summary": {
            "Expected cut": f"{expected:.2f} of {most} (a random split: {len(edges) / 2:.1f})",
            "Best split seen": f"{best} cuts {cuts[best]} of {len(edges)} edges",
        },
    }
