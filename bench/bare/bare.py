"""Runs the programs of the bench without the platform: in one warm process, or once in a new one.

    python bench/bare/bare.py FRAMEWORK FILE [SHOTS [TIMES]]

runs the file's circuit TIMES times on its framework's own simulator (OpenQASM on qiskit-aer) and prints the
milliseconds of each, from the program's text to its counts, as a JSON list.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any


def main(framework: str, file: str, shots: int = 1024, times: int = 1) -> None:
    run = RUNS[framework]
    with open(file, encoding="utf-8") as text:
        program = text.read()
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        counts = run(program, shots)
        spent.append((time.perf_counter() - started) * 1000)
        assert sum(counts.values()) == shots
    print(json.dumps(spent))


def circuit_of(program: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(program, "program", "exec"), names)
    return names["circuit"]


def on_aer(circuit: Any, shots: int) -> Any:
    from qiskit import transpile
    from qiskit_aer import AerSimulator

    simulator = AerSimulator(method="statevector")
    return simulator.run(transpile(circuit, target=simulator.target), shots=shots).result().get_counts()


def openqasm(program: str, shots: int) -> Any:
    from qiskit import qasm3

    return on_aer(qasm3.loads(program), shots)


def qiskit(program: str, shots: int) -> Any:
    return on_aer(circuit_of(program), shots)


def cirq(program: str, shots: int) -> Any:
    from cirq import Simulator

    return Simulator().run(circuit_of(program), repetitions=shots).multi_measurement_histogram(keys=["c"])


def pennylane(program: str, shots: int) -> Any:  # noqa: ARG001
    return circuit_of(program)()


def braket(program: str, shots: int) -> Any:
    from braket.devices import LocalSimulator

    return LocalSimulator().run(circuit_of(program), shots=shots).result().measurement_counts


RUNS: dict[str, Callable[[str, int], Any]] = {
    "openqasm": openqasm,
    "qiskit": qiskit,
    "cirq": cirq,
    "pennylane": pennylane,
    "braket": braket,
}

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:]))
