"""Reads the text of an analog program (braket.ir.ahs.program, version 1) strictly: every member known, every number
exact and finite, every list bounded. Amazon's own schema ignores members that it does not know, and reads `1.9` as 1
where it expects a filling; what is sent unchanged has to mean the same to every reader.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any, NoReturn

from ..refusals import Unsupported
from .numbers import number_of

HEADER = {"name": "braket.ir.ahs.program", "version": "1"}
SITES_MAX = 256
"""As many as a result here has places; no device has more."""
POINTS_MAX = 1_000
"""Times of one series: four microseconds in steps of the finest device are 80."""
_SHOWN = 60

Program = dict[str, Any]
"""The program as plain values, with `localDetuning` under that name."""


class _Number(str):
    """A JSON number as it is written."""


def is_analog(text: str) -> bool:
    """Whether a text is meant as an analog program."""
    return text.lstrip().startswith("{") and HEADER["name"] in text


def read(text: str) -> Program:
    """The program in a text. Raises Unsupported with the place, the fault and the value."""
    program = _object(_parsed(text), "", ("braketSchemaHeader", "setup", "hamiltonian"))
    header = _object(program["braketSchemaHeader"], "braketSchemaHeader", tuple(HEADER))
    for name, expected in HEADER.items():
        if header[name] != expected or isinstance(header[name], _Number):
            _refuse(f"braketSchemaHeader.{name}", f"must be {json.dumps(expected)}", header[name])
    setup = _object(program["setup"], "setup", ("ahs_register",))
    hamiltonian = _hamiltonian(program["hamiltonian"])
    return {
        "braketSchemaHeader": HEADER,
        "setup": {"ahs_register": _register(setup["ahs_register"], "setup.ahs_register")},
        "hamiltonian": hamiltonian,
    }


def _parsed(text: str) -> Any:
    try:
        return json.loads(
            text, parse_float=_Number, parse_int=_Number, parse_constant=_no_constant, object_pairs_hook=_unique
        )
    except json.JSONDecodeError as error:
        raise Unsupported(f"the analog program is not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise Unsupported("the analog program is nested too deeply") from None


def _no_constant(name: str) -> NoReturn:
    raise Unsupported(f"the analog program is not JSON: {name} is not a JSON number")


def _unique(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in members:
        if name in found:
            raise Unsupported(f"the member {json.dumps(name[:_SHOWN])} stands twice in one object; keep one")
        found[name] = value
    return found


def _register(value: Any, where: str) -> dict[str, Any]:
    register = _object(value, where, ("sites", "filling"))
    sites = [
        _numbers(site, f"{where}.sites[{index}]", 2)
        for index, site in enumerate(_list(register["sites"], f"{where}.sites", SITES_MAX))
    ]
    filling = _list(register["filling"], f"{where}.filling", SITES_MAX)
    for index, atoms in enumerate(filling):
        if not isinstance(atoms, _Number) or atoms not in ("0", "1"):
            _refuse(f"{where}.filling[{index}]", "must be 1 for an atom or 0 for none", atoms)
    return {"sites": sites, "filling": [int(atoms) for atoms in filling]}


def _hamiltonian(value: Any) -> dict[str, Any]:
    where = "hamiltonian"
    # The older name of the schema, which providers still read.
    older = isinstance(value, dict) and "shiftingFields" in value
    local = "shiftingFields" if older else "localDetuning"
    hamiltonian = _object(value, where, ("drivingFields", local))
    driving = _list(hamiltonian["drivingFields"], f"{where}.drivingFields", 1)
    if not driving:
        _refuse(f"{where}.drivingFields", "must have one driving field: without it nothing happens", driving)
    detuning = _list(hamiltonian[local], f"{where}.{local}", 1)
    return {
        "drivingFields": [_driving(field, f"{where}.drivingFields[{index}]") for index, field in enumerate(driving)],
        "localDetuning": [_local(field, f"{where}.{local}[{index}]") for index, field in enumerate(detuning)],
    }


def _driving(value: Any, where: str) -> dict[str, Any]:
    names = ("amplitude", "phase", "detuning")
    driving = _object(value, where, names)
    return {name: _field(driving[name], f"{where}.{name}") for name in names}


def _local(value: Any, where: str) -> dict[str, Any]:
    return {"magnitude": _field(_object(value, where, ("magnitude",))["magnitude"], f"{where}.magnitude")}


def _field(value: Any, where: str) -> dict[str, Any]:
    field = _object(value, where, ("time_series", "pattern"))
    series = _object(field["time_series"], f"{where}.time_series", ("values", "times"))
    pattern = field["pattern"]
    if isinstance(pattern, _Number) or not isinstance(pattern, list | str):
        _refuse(f"{where}.pattern", 'must be "uniform" or a list of numbers', pattern)
    return {
        "time_series": {
            name: _numbers(series[name], f"{where}.time_series.{name}", POINTS_MAX) for name in ("values", "times")
        },
        "pattern": pattern if isinstance(pattern, str) else _numbers(pattern, f"{where}.pattern", SITES_MAX),
    }


def _numbers(value: Any, where: str, most: int) -> list[Decimal]:
    return [_number(item, f"{where}[{index}]") for index, item in enumerate(_list(value, where, most))]


def _number(value: Any, where: str) -> Decimal:
    number = number_of(value)
    if number is None:
        _refuse(where, "must be a number of at most 40 characters and a power of ten from -40 to 40", value)
    return number


def _list(value: Any, where: str, most: int) -> list[Any]:
    if not isinstance(value, list):
        _refuse(where, "must be a list", value)
    if len(value) > most:
        raise Unsupported(f"{where}: must have at most {most} {'entry' if most == 1 else 'entries'} (got {len(value)})")
    return value


def _object(value: Any, where: str, names: tuple[str, ...]) -> dict[str, Any]:
    place = where or "the analog program"
    if not isinstance(value, dict):
        _refuse(place, "must be an object", value)
    for name in value:
        if name not in names:
            raise Unsupported(f"{place}: {json.dumps(name[:_SHOWN])} is not a member of it ({', '.join(names)})")
    for name in names:
        if name not in value:
            raise Unsupported(f"{place}: {name} is missing")
    return value


def _refuse(where: str, what: str, got: Any) -> NoReturn:
    if isinstance(got, _Number):
        shown = str(got)
    elif isinstance(got, dict | list):
        shown = "an object" if isinstance(got, dict) else f"a list of {len(got)}"
    else:
        shown = json.dumps(got)
    raise Unsupported(f"{where}: {what} (got {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '...'})")
