"""Compares an engine on a GPU with the conformance table, and its time with the CPU's: run by scripts/gpu-check."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable

from qiskit import QuantumCircuit

from qjs_executor.child.circuits.measurement import measured_layout, with_measurements
from qjs_executor.child.engines.engine import ENGINES, is_available, simulate
from qjs_executor.child.engines.noise import parse_noise_model
from qjs_executor.child.refusals import JobError

from ..conformance import reference
from ..conformance.bound import disagreement
from ..conformance.converters import read
from ..conformance.tables.table import TABLE
from ..conformance.tables.table_families import FAMILIES
from ..conformance.writers.openqasm_programs import openqasm3

SHOTS = 2000
NO_EFFECT = parse_noise_model({"gate_errors": {"nothing": 0.0}}, 30)
"""Takes a circuit the whole way through the noise."""


def disagreements(engine: str, rows: int | None) -> list[str]:
    """What is wrong on an engine with the circuits of the table, up to so many of them."""
    found = []
    for name, row in list({**TABLE, **FAMILIES}.items())[:rows]:
        circuit = with_measurements(read(openqasm3(row)))
        for noise in (None, NO_EFFECT) if ENGINES[engine].has_noise else (None,):
            try:
                memory = simulate(circuit, engine, SHOTS, 41, 0 if noise else 1, None, noise)
            except JobError as error:
                found.append(f"{name}: {error.message}")
                continue
            problem = disagreement(measured_layout(circuit).counts(memory), reference.probabilities(row), SHOTS)
            if problem is not None:
                found.append(f"{name}{' with noise of no effect' if noise else ''}: {problem}")
    return found


def layers(qubits: int) -> QuantumCircuit:
    """Ten layers of rotations and entangling gates."""
    circuit = QuantumCircuit(qubits)
    for layer in range(10):
        for qubit in range(qubits):
            circuit.ry(0.1 + qubit / 7 + layer, qubit)
        for qubit in range(layer % 2, qubits - 1, 2):
            circuit.cx(qubit, qubit + 1)
    return with_measurements(circuit)


def seconds(engine: str, qubits: int) -> float | str:
    """How long the circuit takes, or why it does not run."""
    start = time.perf_counter()
    try:
        simulate(layers(qubits), engine, 1000, 1, 1, None)
    except (JobError, MemoryError) as error:
        return str(error) or "memory"
    return time.perf_counter() - start


def main(arguments: Iterable[str]) -> int:
    """0: everything agrees, 1: something does not, 2: the machine lacks the engine."""
    parser = argparse.ArgumentParser(prog="gpu-check")
    parser.add_argument("--engine", default="gpu_statevector", choices=sorted(ENGINES))
    parser.add_argument("--rows", type=int, help="so many rows of the table only")
    parser.add_argument("--qubits", type=int, nargs=2, default=(20, 30), metavar=("FROM", "TO"))
    chosen = parser.parse_args(list(arguments))
    if not is_available(chosen.engine):
        print(f"this machine has no engine '{chosen.engine}': it needs qiskit-aer-gpu and an NVIDIA GPU")
        return 2
    wrong = disagreements(chosen.engine, chosen.rows)
    print("\n".join(wrong) or "every circuit of the table agrees")
    print(f"qubits  {chosen.engine:>20}  {'statevector':>20}")
    first, last = chosen.qubits
    for qubits in range(first, last + 1):
        times = [seconds(engine, qubits) for engine in (chosen.engine, "statevector")]
        shown = [f"{value:18.3f} s" if isinstance(value, float) else value[:60] for value in times]
        print(f"{qubits:6}  {shown[0]:>20}  {shown[1]:>20}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
