"""Writes circuits for IonQ in the JSON of ionq.circuit.v1 with the gate set qis. All qubits are measured at the end,
implicitly.

The format is a list of gates, so it is written here: the converters that exist come with a client of the provider's
network, and the one by IonQ writes a phase gate as a `z` with an angle, which is not documented. The finished text is
read back by the matrices that IonQ documents.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from .expansion import Call, Expansion
from .matrices import HADAMARD, SWAP, Matrix, X, Y, Z, controlled, phase, rotation, tensor
from .program import Compiled, Input, by_qubits, left_out, terminal
from .proof import Statement, prove
from .steps import Refused, Step

NAME = "IonQ"
MEDIA_TYPE = "application/json"
GATES = {
    **{name: (name, 0) for name in ("x", "y", "z", "h", "s", "t", "rx", "ry", "rz", "swap")},
    "sdg": ("si", 0),
    "tdg": ("ti", 0),
    "sx": ("v", 0),
    "sxdg": ("vi", 0),
    "rxx": ("xx", 0),
    "ryy": ("yy", 0),
    "rzz": ("zz", 0),
    "cx": ("x", 1),
    "cy": ("y", 1),
    "cz": ("z", 1),
    "ch": ("h", 1),
    "crx": ("rx", 1),
    "cry": ("ry", 1),
    "crz": ("rz", 1),
    "cswap": ("swap", 1),
    "ccx": ("x", 2),
    "ccz": ("z", 2),
}
"""IonQ's gate and the number of its controls, by the standard name."""

_PAULI: dict[str, Matrix] = {"x": X, "y": Y, "z": Z}
_V: Matrix = np.array([[0.5 + 0.5j, 0.5 - 0.5j], [0.5 - 0.5j, 0.5 + 0.5j]], dtype=complex)
_FIXED: dict[str, Matrix] = {
    **_PAULI,
    "h": HADAMARD,
    "swap": SWAP,
    "v": _V,
    "vi": _V.conj().T,
    "s": phase(math.pi / 2),
    "si": phase(-math.pi / 2),
    "t": phase(math.pi / 4),
    "ti": phase(-math.pi / 4),
}
_GENERATORS: dict[str, Matrix] = {
    **{f"r{name}": matrix for name, matrix in _PAULI.items()},
    **{name * 2: tensor(matrix, matrix) for name, matrix in _PAULI.items()},
}


def compile_ionq(given: Input) -> Compiled:
    """The program of a circuit that measures at the end. Raises Refused."""
    steps, measured, warnings = terminal(given.steps, NAME, barriers=False)
    expansion = Expansion(GATES, NAME)
    entries: list[dict[str, Any]] = []
    counts = []
    for step in steps:
        calls = expansion.calls(step)
        entries += [entry(step, call) for call in calls]
        counts.append(len(calls))
    warnings += left_out(steps, counts)
    if not entries:
        raise Refused("the circuit has no gates, and IonQ takes no empty circuit", None, "")
    text = json.dumps({"qubits": given.num_qubits, "gateset": "qis", "circuit": entries}, allow_nan=False)
    prove(steps, counts, read(text), NAME)
    return Compiled(text, MEDIA_TYPE, by_qubits(measured, given), warnings)


def entry(step: Step, call: Call) -> dict[str, Any]:
    """A gate in the JSON; rotations are in radians."""
    name, controls = GATES[call.name]
    qubits = [step.qubits[place] for place in call.places]
    written: dict[str, Any] = {"gate": name}
    if controls:
        written["controls"] = qubits[:controls]
    written["targets"] = qubits[controls:]
    if call.params:
        [written["rotation"]] = call.params
    return written


def read(text: str) -> list[Statement]:
    """A program's gates by IonQ's documentation."""
    found = []
    for item in json.loads(text)["circuit"]:
        controls, angle = item.get("controls", []), item.get("rotation")
        base = _FIXED[item["gate"]] if angle is None else rotation(_GENERATORS[item["gate"]], angle)
        key = (item["gate"], len(controls), angle)
        found.append(Statement("gate", (*controls, *item["targets"]), controlled(base, len(controls)), key))
    return found
