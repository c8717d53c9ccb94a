"""Writes circuits for Rigetti in Quil, with one memory region `ro` whose cell k is the canonical bit k.

The finished text is read back by Rigetti's own parser, with the matrices of the Quil specification: the parser's own
matrices have a wrong RZ.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from quil.instructions import Gate, Instruction, Qubit
from quil.program import Program

from .expansion import Expansion, number_text
from .matrices import HADAMARD, SWAP, Matrix, X, Y, Z, controlled, phase, rotation
from .program import Compiled, Input, by_clbits
from .proof import Statement, prove
from .steps import Refused, Step

NAME = "Quil"
MEDIA_TYPE = "text/plain"
GATES = {
    "id": "I",
    "x": "X",
    "y": "Y",
    "z": "Z",
    "h": "H",
    "s": "S",
    "t": "T",
    "p": "PHASE",
    "rx": "RX",
    "ry": "RY",
    "rz": "RZ",
    "cx": "CNOT",
    "cz": "CZ",
    "cp": "CPHASE",
    "swap": "SWAP",
    "iswap": "ISWAP",
    "ccx": "CCNOT",
    "cswap": "CSWAP",
}

_FIXED: dict[str, Matrix] = {
    "I": phase(0),
    "X": X,
    "Y": Y,
    "Z": Z,
    "H": HADAMARD,
    "S": phase(math.pi / 2),
    "T": phase(math.pi / 4),
    "CNOT": controlled(X, 1),
    "CZ": controlled(Z, 1),
    "CCNOT": controlled(X, 2),
    "SWAP": SWAP,
    "CSWAP": controlled(SWAP, 1),
    "ISWAP": np.array([[1, 0, 0, 0], [0, 0, 1j, 0], [0, 1j, 0, 0], [0, 0, 0, 1]], dtype=complex),
}
_ROTATIONS = {"RX": X, "RY": Y, "RZ": Z}


def compile_quil(given: Input) -> Compiled:
    """The program of a circuit without classical control. Raises Refused."""
    cells = {clbit: cell for cell, clbit in enumerate(given.positions)}
    expansion = Expansion(GATES, NAME)
    lines = [f"DECLARE ro BIT[{len(cells)}]"]
    counts = []
    steps = [_in_cells(step, cells) for step in given.steps]
    for step in steps:
        written = _lines(step, expansion)
        lines += written
        counts.append(len(written))
    text = "\n".join(lines) + "\n"
    prove(steps, counts, read(text), NAME)
    return Compiled(text, MEDIA_TYPE, by_clbits([("ro", len(cells))], list(range(len(cells)))))


def _in_cells(step: Step, cells: dict[int, int]) -> Step:
    if step.conditions:
        raise step.refused("depends on a measured bit (if), which is not written in Quil here; measure at the end only")
    if step.kind != "measure" or step.clbit is None:
        return step
    return Step(step.kind, step.name, step.operation, step.qubits, step.index, cells[step.clbit])


def _lines(step: Step, expansion: Expansion) -> list[str]:
    match step.kind:
        case "measure":
            return [f"MEASURE {step.qubits[0]} ro[{step.clbit}]"]
        case "reset":
            return [f"RESET {step.qubits[0]}"]
        case "barrier":
            return [f"FENCE {' '.join(map(str, step.qubits))}"]
    lines = []
    for call in expansion.calls(step):
        angles = f"({', '.join(map(number_text, call.params))})" if call.params else ""
        lines.append(f"{GATES[call.name]}{angles} {' '.join(str(step.qubits[place]) for place in call.places)}")
    return lines


def read(text: str) -> list[Statement]:
    """A program's instructions as Rigetti's parser has them."""
    found = []
    for instruction in Program.parse(text).body_instructions:
        match instruction:
            case Instruction.Gate(gate):
                found.append(_gate(gate))
            case Instruction.Measurement(measurement) if measurement.target is not None:
                found.append(Statement("measure", (_index(measurement.qubit),), cell=measurement.target.index))
            case Instruction.Reset(reset) if reset.qubit is not None:
                found.append(Statement("reset", (_index(reset.qubit),)))
            case Instruction.Fence(fence):
                found.append(Statement("barrier", tuple(map(_index, fence.qubits))))
            case _:
                raise Refused(f"the program has an unexpected instruction: {instruction.to_quil()[:100]}", None, "")
    return found


def _gate(gate: Gate) -> Statement:
    angles = tuple(_angle(parameter) for parameter in gate.parameters)
    qubits = tuple(map(_index, gate.qubits))
    if gate.modifiers:
        raise Refused(f"the program has an unexpected modifier on {gate.name}", None, "")
    if not angles:
        return Statement("gate", qubits, _FIXED[gate.name], gate.name)
    [angle] = angles
    if gate.name in _ROTATIONS:
        matrix = rotation(_ROTATIONS[gate.name], angle)
    else:
        matrix = {"PHASE": phase(angle), "CPHASE": controlled(phase(angle), 1)}[gate.name]
    return Statement("gate", qubits, matrix, (gate.name, angle))


def _angle(parameter: Any) -> float:
    number = complex(parameter.evaluate({}, {}))
    if number.imag != 0:
        raise Refused(f"the program has the angle {number}, which is not real", None, "")
    return number.real


def _index(qubit: Qubit) -> int:
    return int(qubit.to_quil())
