"""The noise model of a job (`params.noise_model`): its fields, their checks, and its values for each gate.

`gate_errors`: depolarizing parameter p (0 to 1, rho -> (1-p) rho + p I/d) by `all_1q`, `all_2q`, `<gate>` or
`<gate>@<q0>[,<q1>...]`; the most specific entry alone counts. `readout_errors`: `{p0_given1, p1_given0}` by `all` or
qubit. `t1_us`, `t2_us`: microseconds, one number or by qubit. `gate_times_ns`: nanoseconds by gate.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from qiskit.circuit.library import get_standard_gate_name_mapping

from ..circuits.gate_names import SUFFIX
from ..refusals import JobError

DEFAULT_TIME_NS_1Q = 50.0
DEFAULT_TIME_NS_2Q = 300.0
"""Includes gates on more qubits, which run as one gate only if the noise model names them."""
READOUT_TIME_NS = 1000.0
TIME_NS_MAX = 1e9
RELAXATION_US_MAX = 1e9

_FIELDS = ("gate_errors", "readout_errors", "t1_us", "t2_us", "gate_times_ns")
_READOUT_FIELDS = ("p0_given1", "p1_given0")
_ALL = {"all_1q": 1, "all_2q": 2}
_GATE = re.compile(r"([A-Za-z_]\w*)(?:@(\d{1,4}(?:,\d{1,4})*))?")
_SYMMETRIC = frozenset({"cz", "swap", "iswap", "cp", "cu1", "rxx", "ryy", "rzz", "xx_minus_yy"})
"""Gates whose qubits may be named in either order."""
_ARITY = {name: gate.num_qubits for name, gate in get_standard_gate_name_mapping().items()}


@dataclass(frozen=True)
class Readout:
    """The probabilities of reading a qubit wrongly: 0 although it is 1, and 1 although it is 0."""

    p0_given1: float
    p1_given0: float


@dataclass(frozen=True)
class NoiseSpec:
    """A checked noise model. Qubits are indices of the circuit."""

    by_arity: dict[int, float]
    by_gate: dict[tuple[str, tuple[int, ...] | None], float]
    readout: dict[int | None, Readout]
    t1_us: dict[int | None, float]
    t2_us: dict[int | None, float]
    gate_times_ns: dict[str, float]

    @property
    def gates(self) -> frozenset[str]:
        """The gates that have an entry of their own; they run as written, however many qubits they have."""
        return frozenset(name for name, _ in self.by_gate) | frozenset(self.gate_times_ns)

    @property
    def has_readout_errors(self) -> bool:
        """Whether anything can be read wrongly."""
        return any(errors.p0_given1 > 0 or errors.p1_given0 > 0 for errors in self.readout.values())

    @property
    def has_gate_errors(self) -> bool:
        """Whether a gate can be noisy."""
        return any([*self.by_arity.values(), *self.by_gate.values(), self.t1_us, self.t2_us])

    def depolarizing(self, name: str, qubits: tuple[int, ...]) -> float:
        """The depolarizing parameter of a gate on its qubits; 0 when the model does not cover it."""
        name = written_name(name)
        keys: list[tuple[str, tuple[int, ...] | None]] = [(name, qubits)]
        if name in _SYMMETRIC:
            keys.append((name, qubits[::-1]))
        for key in [*keys, (name, None)]:
            if key in self.by_gate:
                return self.by_gate[key]
        return self.by_arity.get(len(qubits), 0.0)

    def time_ns(self, name: str, num_qubits: int) -> float:
        """How long a gate takes."""
        default = DEFAULT_TIME_NS_1Q if num_qubits == 1 else DEFAULT_TIME_NS_2Q
        return self.gate_times_ns.get(written_name(name), default)

    def relaxation(self, qubit: int, time_ns: float) -> tuple[float, float] | None:
        """The parts of the excited state's population and of the coherence that remain after a time; None when both
        remain in full."""
        t1, t2 = _of_qubit(self.t1_us, qubit), _of_qubit(self.t2_us, qubit)
        if t1 is None and t2 is None:
            return None
        time_us = time_ns / 1000
        population = 1.0 if t1 is None else math.exp(-time_us / t1)
        # Without a T2 of its own a qubit loses no more coherence than T1 costs: T2 = 2 T1.
        coherence = math.sqrt(population) if t2 is None else math.exp(-time_us / t2)
        return population, coherence


ALIASES = {"CX": "cx", "U": "u", "phase": "p", "cphase": "cp"}
"""Older names of OpenQASM 3 for gates that a circuit holds under the newer ones."""


def written_name(name: str) -> str:
    """The name that a user gave to a custom gate, which is executed under another name when a standard gate has this
    one."""
    return name.removesuffix(SUFFIX)


def parse_noise_model(value: object, num_qubits: int) -> NoiseSpec:
    """The noise model of a request for a backend of `num_qubits` qubits. Raises JobError naming the field."""
    model = _object(value, "noise_model")
    _known(model, _FIELDS, "noise_model")
    by_arity, by_gate = _gate_errors(model.get("gate_errors"), num_qubits)
    spec = NoiseSpec(
        by_arity=by_arity,
        by_gate=by_gate,
        readout=_readout_errors(model.get("readout_errors"), num_qubits),
        t1_us=_relaxation_times(model.get("t1_us"), "noise_model.t1_us", num_qubits),
        t2_us=_relaxation_times(model.get("t2_us"), "noise_model.t2_us", num_qubits),
        gate_times_ns=_gate_times(model.get("gate_times_ns")),
    )
    for qubit in [*spec.t1_us, *spec.t2_us]:
        t1 = spec.t1_us.get(qubit, spec.t1_us.get(None))
        t2 = spec.t2_us.get(qubit, spec.t2_us.get(None))
        if t1 is not None and t2 is not None and t2 > 2 * t1:
            where = "noise_model.t2_us" + ("" if qubit is None else f".{qubit}")
            raise JobError(f"{where}: T2 is at most 2 T1; T2 is {t2:g}, T1 is {t1:g}")
    return spec


def _gate_errors(
    value: object, num_qubits: int
) -> tuple[dict[int, float], dict[tuple[str, tuple[int, ...] | None], float]]:
    by_arity: dict[int, float] = {}
    by_gate: dict[tuple[str, tuple[int, ...] | None], float] = {}
    for key, given in _entries(value, "noise_model.gate_errors"):
        where = f"noise_model.gate_errors.{key}"
        number = _number(given, where, 0, 1)
        if key in _ALL:
            by_arity[_ALL[key]] = number
            continue
        found = _GATE.fullmatch(key)
        if found is None:
            raise JobError(f"{where}: must be all_1q, all_2q, a gate, or a gate and its qubits such as 'cx@0,1'")
        name = ALIASES.get(found[1], found[1])
        _gate_name(name, where)
        if found[2] is None:
            by_gate[name, None] = number
            continue
        qubits = tuple(_qubit(index, where, num_qubits) for index in found[2].split(","))
        if len(set(qubits)) != len(qubits):
            raise JobError(f"{where}: names a qubit twice")
        if name in _ARITY and _ARITY[name] != len(qubits):
            raise JobError(f"{where}: gate '{name}' acts on {_ARITY[name]} qubits, {len(qubits)} are named")
        by_gate[name, qubits] = number
    return by_arity, by_gate


def _readout_errors(value: object, num_qubits: int) -> dict[int | None, Readout]:
    errors: dict[int | None, Readout] = {}
    for key, given in _entries(value, "noise_model.readout_errors"):
        where = f"noise_model.readout_errors.{key}"
        qubit = None if key == "all" else _qubit(key, where, num_qubits)
        fields = _object(given, where)
        _known(fields, _READOUT_FIELDS, where)
        errors[qubit] = Readout(*(_number(fields.get(name, 0), f"{where}.{name}", 0, 1) for name in _READOUT_FIELDS))
    return errors


def _relaxation_times(value: object, where: str, num_qubits: int) -> dict[int | None, float]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        return {None: _number(value, where, 0, RELAXATION_US_MAX, above=True)}
    times: dict[int | None, float] = {}
    for key, given in _entries(value, where):
        place = f"{where}.{key}"
        times[_qubit(key, place, num_qubits)] = _number(given, place, 0, RELAXATION_US_MAX, above=True)
    return times


def _gate_times(value: object) -> dict[str, float]:
    times = {}
    for key, given in _entries(value, "noise_model.gate_times_ns"):
        where = f"noise_model.gate_times_ns.{key}"
        if not key.isidentifier():
            raise JobError(f"{where}: must be the name of a gate")
        _gate_name(key, where)
        times[ALIASES.get(key, key)] = _number(given, where, 0, TIME_NS_MAX)
    return times


def _gate_name(name: str, where: str) -> None:
    if name in ("measure", "reset", "delay", "barrier"):
        raise JobError(f"{where}: '{name}' is not a gate")


def _of_qubit(table: dict[int | None, float], qubit: int) -> float | None:
    return table.get(qubit, table.get(None))


def _entries(value: object, where: str) -> list[tuple[str, object]]:
    return [] if value is None else list(_object(value, where).items())


def _object(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise JobError(f"{where}: must be an object")
    return value


def _known(value: dict[str, Any], fields: tuple[str, ...], where: str) -> None:
    for key in value:
        if key not in fields:
            raise JobError(f"{where}.{key[:50]}: unknown field; known are {', '.join(fields)}")


def _number(value: object, where: str, least: float, most: float, above: bool = False) -> float:
    """`above`: more than the least, not the least itself."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
        raise JobError(f"{where}: must be a number")
    if not least <= value <= most or (above and value == least):
        raise JobError(f"{where}: must be {'above' if above else 'from'} {least:g} to {most:g}, is {str(value)[:20]}")
    return float(value)


def _qubit(text: str, where: str, num_qubits: int) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 4 or str(int(text)) != text:
        raise JobError(f"{where}: '{text[:20]}' is not the number of a qubit")
    if int(text) >= num_qubits:
        raise JobError(f"{where}: the backend has the qubits 0 to {num_qubits - 1}")
    return int(text)
