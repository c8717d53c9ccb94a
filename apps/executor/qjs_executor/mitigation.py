"""Reads which error mitigation a job asks for with `params.mitigation`. domain/jobs/params/mitigation.ts has the same
rules."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, Literal, NoReturn, get_args

FACTORS_MIN = 2
FACTORS_MAX = 5
FACTOR_MAX = 9.0
"""A circuit that is folded further holds little of its state on any machine."""

Fit = Literal["linear", "polynomial", "richardson"]


class NotMitigation(Exception):
    """What was sent is no mitigation; the message says where and why."""


@dataclass(frozen=True)
class Zne:
    """Zero-noise extrapolation: by how much the noise is scaled, the first time by 1, and the order of the polynomial
    that is fitted."""

    factors: list[float]
    fit: Fit
    order: int


@dataclass(frozen=True)
class Mitigation:
    """What a job asks for; at least one of the two."""

    readout: bool
    zne: Zne | None


def read(value: Any) -> Mitigation:
    """The mitigation in a job's parameters. Raises NotMitigation."""
    fields = _object(value, "", ("readout", "zne"))
    readout = fields.get("readout", False)
    if not isinstance(readout, bool):
        _refuse("readout", "must be true or false")
    zne = None if fields.get("zne") is None else _zne(fields["zne"])
    if not readout and zne is None:
        _refuse("", "must have readout: true, zne or both")
    return Mitigation(readout, zne)


def _zne(value: Any) -> Zne:
    fields = _object(value, "zne", ("factors", "fit", "order"))
    factors = _factors(fields.get("factors"))
    fit: Any = fields.get("fit")
    order = fields.get("order")
    if fit not in get_args(Fit):
        _refuse("zne.fit", f"must be one of {', '.join(get_args(Fit))}")
    if fit != "polynomial":
        if order is not None:
            _refuse("zne.order", "is for the fit polynomial")
        return Zne(factors, fit, 1 if fit == "linear" else len(factors) - 1)
    if not isinstance(order, int) or isinstance(order, bool) or not 1 <= order < len(factors):
        _refuse("zne.order", f"must be an integer from 1 to {len(factors) - 1}, below the number of factors")
    return Zne(factors, fit, order)


def _factors(value: Any) -> list[float]:
    if not isinstance(value, list) or not FACTORS_MIN <= len(value) <= FACTORS_MAX:
        _refuse("zne.factors", f"must be {FACTORS_MIN} to {FACTORS_MAX} numbers")
    for factor in value:
        if not isinstance(factor, int | float) or isinstance(factor, bool) or not math.isfinite(factor):
            _refuse("zne.factors", "must be numbers")
    if value[0] != 1 or value[-1] > FACTOR_MAX or any(one >= other for one, other in itertools.pairwise(value)):
        _refuse("zne.factors", f"must begin with 1 and increase to at most {FACTOR_MAX:g}")
    return [float(factor) for factor in value]


def _object(value: Any, where: str, known: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        _refuse(where, "must be an object")
    for key in value:
        if key not in known:
            _refuse(where, f"has no field '{str(key)[:50]}'; known are {', '.join(known)}")
    return value


def _refuse(where: str, problem: str) -> NoReturn:
    raise NotMitigation(f"mitigation{'.' if where else ''}{where}: {problem}")
