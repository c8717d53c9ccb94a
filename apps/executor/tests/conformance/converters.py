"""Every converter of the executor, in this process: from a program to its canonical OpenQASM 3 and the circuit read from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from qiskit import QuantumCircuit

from qjs_executor.child.circuits.openqasm import load

from ..support.direct import answered, request
from . import loaded, reference
from .circuit import Circuit
from .gates import Matrix
from .writers.braket_programs import braket, marqov
from .writers.cirq_programs import cirq
from .writers.openqasm_programs import openqasm2, openqasm3
from .writers.pennylane_programs import pennylane
from .writers.qiskit_programs import qiskit

WRITERS: dict[str, Callable[[Circuit], str]] = {
    "openqasm2": openqasm2,
    "openqasm3": openqasm3,
    "qiskit": qiskit,
    "cirq": cirq,
    "pennylane": pennylane,
    "braket": braket,
    "marqov": marqov,
}
EXACT = 1e-9
"""Largest difference of a matrix element or probability."""


def framework_of(language: str) -> str:
    """The executor's word for a language of the table."""
    if language.startswith("openqasm"):
        return "openqasm"
    return "marqov" if language == "braket" else language


def canonical(language: str, program: str) -> str:
    """The canonical text of a program, by the way that its conversion takes through the executor's children."""
    asked = request(framework_of(language), program, kind="convert", max_qubits=64)
    answer: dict[str, Any] = answered(asked)
    if "found" in answer:
        text = answer["found"]["openqasm3"]
        source = {"kind": "circuit", "format": "qasm3", "payload": text}
        answer = answered(replace(asked, source=source, circuit_facts=answer["found"]))
    converted: str = answer["openqasm3"]
    return converted


def read(text: str) -> QuantumCircuit:
    """A text as the executor reads it."""
    return load(text, 64, "the table")


def check(circuit: Circuit, text: str) -> None:
    """Raises AssertionError unless a text does exactly what the circuit does: the same unitary up to a phase where
    there is one on these qubits, and the same probabilities of the same bit strings."""
    read_back = read(text)
    expected, found = reference.probabilities(circuit), loaded.probabilities(read_back)
    for key in sorted(set(expected) | set(found)):
        difference = abs(expected.get(key, 0.0) - found.get(key, 0.0))
        assert difference < EXACT, f"'{key}' has probability {found.get(key)} instead of {expected.get(key)}\n{text}"
    end = len(circuit.steps) - circuit.final_measurements()
    if Circuit(circuit.steps[:end], circuit.qubits).is_unitary:
        assert read_back.num_qubits == circuit.width, text
        assert equal_up_to_phase(loaded.unitary(read_back), reference.unitary(circuit)), text


def equal_up_to_phase(left: Matrix, right: Matrix) -> bool:
    """Whether two unitaries differ by a global phase alone."""
    overlap = np.vdot(right, left)
    return bool(abs(overlap) > EXACT and np.allclose(left, right * (overlap / abs(overlap)), rtol=0, atol=EXACT))
