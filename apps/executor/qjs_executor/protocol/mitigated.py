"""Checks what a child reports about the mitigation of errors, and states what it did. Shots and the fit come from the
request, never from the child."""

from __future__ import annotations

import re
from typing import Any

from ..job import Job
from ..mitigation import Mitigation, Zne, read
from ..pauli_sums import TERMS_MAX
from .checked_fields import BadAnswer, double, integer, listed, value_of

RESULTS_MAX = 4_096
QUBITS_MAX = 256
CIRCUITS_MAX = 10 * TERMS_MAX
CALIBRATION_CIRCUITS = 2

READOUT_NOTE = (
    "readout: standard errors contain the shots of the calibration; not contained is the bias where qubits are not read"
    " independently of each other, or where preparing a 1 fails, which counts as a wrong reading"
)
ZNE_NOTE = (
    "zne: standard errors contain the shots alone; not contained is the bias where the values do not follow the fit, or"
    " where folding does not scale the noise, as with errors of preparation and readout"
)
_BITS = re.compile(r"[01]{1,256}")


def mitigation_of(answer: dict[str, Any], job: Job) -> dict[str, Any] | None:
    """What was done for the mitigation that the job asks for. Raises BadAnswer."""
    if job.params.mitigation is None:
        return None
    asked, given = read(job.params.mitigation), answer.get("mitigation")
    if not isinstance(given, dict):
        raise BadAnswer("mitigation")
    calibrations = CALIBRATION_CIRCUITS if asked.readout else 0
    done: dict[str, Any] = {
        "circuits": integer(given.get("circuits"), "mitigation: circuits", 1 + calibrations, CIRCUITS_MAX),
        "calibration_shots": calibrations * job.params.shots,
    }
    if asked.readout:
        done["readout"] = _readout(given.get("readout"))
    if asked.zne is not None:
        done["zne"] = _zne(given.get("zne"), asked.zne, len(job.params.observables))
    done["notes"] = notes_of(asked)
    return done


def notes_of(asked: Mitigation) -> list[str]:
    """What the standard errors contain, and what they cannot."""
    return [*([READOUT_NOTE] if asked.readout else []), *([ZNE_NOTE] if asked.zne is not None else [])]


def _readout(given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise BadAnswer("mitigation: readout")
    errors = listed(given, "errors", QUBITS_MAX)
    overhead = given.get("overhead")
    return {
        "method": "m3",
        "calibration_circuits": CALIBRATION_CIRCUITS,
        "errors": [_errors(qubit, one) for qubit, one in enumerate(errors)],
        "overhead": None if overhead is None else double(overhead, "mitigation: overhead"),
    }


def _errors(qubit: int, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise BadAnswer("mitigation: errors")
    names = ("p0_given1", "p1_given0")
    return {"qubit": qubit, **{name: double(given.get(name), f"mitigation: {name}") for name in names}}


def _zne(given: Any, asked: Zne, observables: int) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise BadAnswer("mitigation: zne")
    factors = len(asked.factors)
    rows = listed(given, "values", observables)
    if len(rows) != observables:
        raise BadAnswer("mitigation: values")
    return {
        "factors": asked.factors,
        "reached": _doubles(given, "reached", factors),
        "fit": asked.fit,
        "order": asked.order,
        "weights": _doubles(given, "weights", factors),
        "values": [[value_of(one) for one in _row(row, factors)] for row in rows],
    }


def _doubles(given: dict[str, Any], name: str, length: int) -> list[float]:
    return [double(one, f"mitigation: {name}") for one in _row(given.get(name), length)]


def _row(given: Any, length: int) -> list[Any]:
    if not isinstance(given, list) or len(given) != length:
        raise BadAnswer("mitigation: a list")
    return given


def quasi_probabilities_of(answer: dict[str, Any], job: Job) -> dict[str, float] | None:
    """The corrected shares of a job that mitigates readout; None for too many different results. Raises BadAnswer."""
    given = answer.get("quasi_probabilities")
    if given is None or job.params.mitigation is None or not read(job.params.mitigation).readout:
        return None
    if not isinstance(given, dict) or not 1 <= len(given) <= RESULTS_MAX or not all(map(_BITS.fullmatch, given)):
        raise BadAnswer("quasi_probabilities")
    return {key: double(value, "quasi_probabilities") for key, value in sorted(given.items())}
