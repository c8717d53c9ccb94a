"""What a circuit or an analog program is compiled for, parsed once from a request. Imports nothing but the standard
library: the service reads targets too, and nothing outside a child imports a framework."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NoReturn

from ..analog.limits import DeviceLimits, limits_of

FORMATS = ("braket", "ionq", "ibm", "qasm2", "quil", "qir", "ahs")

IBM_GATES = frozenset(
    (
        *("id", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "sxdg", "rx", "ry", "rz", "p", "u", "u1", "u2", "u3"),
        *("cx", "cy", "cz", "ch", "cp", "crx", "cry", "crz", "ecr", "rxx", "ryy", "rzz", "rzx", "swap", "iswap"),
    )
)
"""Gates that a basis may consist of: one or two qubits, known by the same name to qiskit."""
IBM_OTHER_OPERATIONS = frozenset(
    ("measure", "reset", "delay", "barrier", "if_else", "for_loop", "while_loop", "switch_case", "break_loop", "nop")
)
"""Operations in the published lists of basis gates that are not gates; they are ignored."""

NUM_QUBITS_MAX = 1024
PAIRS_MAX = 16 * NUM_QUBITS_MAX
GATES_MAX = 200
SEED_MAX = 2**31 - 1

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_FIELDS = {
    "braket": ("format", "num_qubits", "gates", "measures_all"),
    "ionq": ("format", "num_qubits"),
    "ibm": ("format", "num_qubits", "basis_gates", "coupling_map", "optimization_level", "seed"),
    "qasm2": ("format", "num_qubits"),
    "quil": ("format", "num_qubits"),
    "qir": ("format", "num_qubits", "profile"),
    "ahs": ("format", "num_qubits", "limits"),
}


@dataclass(frozen=True)
class Target:
    """A provider's form and the limits of its device.

    `num_qubits`: width of the device, None when unknown. `gates`: for `braket`, the operations that the device
    supports, None for the whole dialect. `measures_all`: it measures all qubits or none. `basis_gates`, `coupling_map`
    (directed pairs, None: any pair), `optimization_level` and `seed` are those of `ibm`. `profile` is that of `qir`.
    `limits` are those of `ahs`."""

    format: str
    num_qubits: int | None = None
    gates: frozenset[str] | None = None
    measures_all: bool = False
    basis_gates: tuple[str, ...] = ()
    coupling_map: frozenset[tuple[int, int]] | None = None
    optimization_level: int = 1
    seed: int = 0
    profile: str = "base"
    limits: DeviceLimits | None = None


def parse_target(value: Any) -> Target:
    """A target from the JSON value of a request. Raises ValueError with the place, the fault and the fix."""
    if not isinstance(value, dict):
        _refuse("target", "must be an object with a format", value)
    form = value.get("format")
    if not isinstance(form, str) or form not in FORMATS:
        _refuse("target.format", f"must be one of {', '.join(FORMATS)}", form)
    for name in value:
        if name not in _FIELDS[form]:
            _refuse(
                f"target.{str(name)[:40]}", f"is not a field of a target of this format ({', '.join(_FIELDS[form])})"
            )
    if form == "ibm":
        return _ibm(value)
    num_qubits = _optional_integer(value.get("num_qubits"), "num_qubits")
    if form == "braket":
        return _braket(value, num_qubits)
    if form == "ahs":
        return Target(form, num_qubits, limits=limits_of(value.get("limits"), "target.limits"))
    if form == "qir" and value.get("profile", "base") != "base":
        _refuse("target.profile", "must be base", value["profile"])
    return Target(form, num_qubits)


def _braket(value: dict[str, Any], num_qubits: int | None) -> Target:
    gates, measures_all = value.get("gates"), value.get("measures_all", False)
    if not isinstance(measures_all, bool):
        _refuse("target.measures_all", "must be true or false", measures_all)
    known = None if gates is None else frozenset(_names(gates, "gates"))
    return Target("braket", num_qubits, gates=known, measures_all=measures_all)


def _ibm(value: dict[str, Any]) -> Target:
    num_qubits = _optional_integer(value.get("num_qubits"), "num_qubits")
    if num_qubits is None:
        _refuse("target.num_qubits", f"must be an integer from 1 to {NUM_QUBITS_MAX}", None)
    names = _names(value.get("basis_gates"), "basis_gates")
    for name in names:
        if name not in IBM_GATES and name not in IBM_OTHER_OPERATIONS:
            _refuse("target.basis_gates", f"must consist of {', '.join(sorted(IBM_GATES))}", name)
    return Target(
        "ibm",
        num_qubits,
        basis_gates=tuple(name for name in names if name in IBM_GATES),
        coupling_map=_coupling_map(value.get("coupling_map"), num_qubits),
        optimization_level=_integer(value.get("optimization_level", 1), "optimization_level", 0, 3),
        seed=_integer(value.get("seed", 0), "seed", 0, SEED_MAX),
    )


def _coupling_map(value: Any, num_qubits: int) -> frozenset[tuple[int, int]] | None:
    if value is None:
        return None
    what = f"must be a list of at most {PAIRS_MAX} pairs of different qubits from 0 to {num_qubits - 1}"
    if not isinstance(value, list) or len(value) > PAIRS_MAX:
        _refuse("target.coupling_map", what, value)
    pairs = set()
    for index, pair in enumerate(value):
        fits = isinstance(pair, list) and len(pair) == 2 and all(type(qubit) is int for qubit in pair)
        if not fits or pair[0] == pair[1] or not all(0 <= qubit < num_qubits for qubit in pair):
            _refuse(f"target.coupling_map[{index}]", what, pair)
        pairs.add((pair[0], pair[1]))
    return frozenset(pairs)


def _names(value: Any, field: str) -> list[str]:
    if not isinstance(value, list) or not 0 < len(value) <= GATES_MAX:
        _refuse(f"target.{field}", f"must be a list of 1 to {GATES_MAX} gate names", value)
    for index, name in enumerate(value):
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            _refuse(f"target.{field}[{index}]", "must be the name of a gate", name)
    return value


def _optional_integer(value: Any, field: str) -> int | None:
    return None if value is None else _integer(value, field, 1, NUM_QUBITS_MAX)


def _integer(value: Any, field: str, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        _refuse(f"target.{field}", f"must be an integer from {least} to {most}", value)
    return int(value)


def _refuse(where: str, what: str, got: Any = ...) -> NoReturn:
    shown = "" if got is ... else f" (got {'nothing' if got is None else repr(got)[:80]})"
    raise ValueError(f"{where}: {what}{shown}")
