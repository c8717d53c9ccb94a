"""Runs a parametrised circuit at many points on qiskit-aer in this process, as a researcher's own loop does.

    python bench/bare/bare_sweep.py FILE SHOTS POINTS ROUNDS

prints the seconds of each round as a JSON list. A round reads and compiles the text once, and runs each point alone. The
first round pays for the imports and is not counted.
"""

from __future__ import annotations

import json
import sys
import time


def main(file: str, shots: int, points: int, rounds: int) -> None:
    from qiskit import qasm3, transpile
    from qiskit_aer import AerSimulator

    simulator = AerSimulator(method="statevector")
    with open(file, encoding="utf-8") as text:
        program = text.read()
    spent = []
    for _ in range(rounds + 1):
        started = time.perf_counter()
        circuit = transpile(qasm3.loads(program), target=simulator.target)
        for point in range(points):
            bound = circuit.assign_parameters({"theta": point / points})
            counts = simulator.run(bound, shots=shots).result().get_counts()
            assert sum(counts.values()) == shots
        spent.append(time.perf_counter() - started)
    print(json.dumps(spent[1:]))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
