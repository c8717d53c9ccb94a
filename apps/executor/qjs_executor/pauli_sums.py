"""Reads observables as a job's `params.observables` writes them: sums of products of Pauli matrices, such as
`XI + 0.5*ZZ`, with one letter for each qubit and qubit 0 leftmost. domain/jobs/params/observables.ts has the same
grammar."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

OBSERVABLES_MAX = 100
TEXT_MAX = 10_000
"""Characters of one observable."""
TERMS_MAX = 1_000
"""Terms of all observables of a job together; each can need a circuit of its own."""

_SPACE = re.compile(r"[ \t]*")
_SIGN = re.compile(r"[+-]")
_COEFFICIENT = re.compile(r"((?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)[ \t]*\*[ \t]*")
_WORD = re.compile(r"[IXYZ]+")
_EXAMPLE = "write terms such as ZZ, -XI or 0.5*ZZ, joined by + or -"


class NotAnObservable(Exception):
    """The text is no sum of Pauli products; the message says where and why."""


@dataclass(frozen=True)
class PauliSum:
    """An observable: `terms` gives the coefficient of each product of letters, all of one length."""

    text: str
    terms: Mapping[str, float]

    @cached_property
    def num_qubits(self) -> int:
        """The letters of each term."""
        return len(next(iter(self.terms)))


def read_all(texts: list[str]) -> list[PauliSum]:
    """The observables of a job, in their order. Raises NotAnObservable, also when they are too many or too long."""
    if not 1 <= len(texts) <= OBSERVABLES_MAX:
        raise NotAnObservable(f"must be 1 to {OBSERVABLES_MAX} observables (got {len(texts)})")
    sums = [read(text) for text in texts]
    total = sum(len(one.terms) for one in sums)
    if total > TERMS_MAX:
        raise NotAnObservable(f"must have at most {TERMS_MAX:,} terms together (got {total:,})")
    return sums


def read(text: str) -> PauliSum:
    """One observable; equal products are added up. Raises NotAnObservable."""
    shown = text if len(text) <= 60 else f"{text[:60]}..."
    if len(text) > TEXT_MAX:
        raise NotAnObservable(f"'{shown}' has more than {TEXT_MAX:,} characters")
    terms: dict[str, float] = {}
    place = _after(_SPACE, text, 0)
    while True:
        sign, place = _sign(text, place, optional=not terms)
        coefficient = _COEFFICIENT.match(text, place)
        size = float(coefficient[1]) if coefficient else 1.0
        place = coefficient.end() if coefficient else place
        word = _WORD.match(text, place)
        if word is None or sign is None or not math.isfinite(size):
            raise NotAnObservable(f"'{shown}' cannot be read at character {place + 1}: {_EXAMPLE}")
        if terms and len(word[0]) != len(next(iter(terms))):
            raise NotAnObservable(f"the terms of '{shown}' have different numbers of letters: one for each qubit")
        terms[word[0]] = terms.get(word[0], 0.0) + sign * size
        place = _after(_SPACE, text, word.end())
        if place == len(text):
            break
    if not all(math.isfinite(value) for value in terms.values()):
        raise NotAnObservable(f"the coefficients of '{shown}' are too large")
    return PauliSum(text, terms)


def _sign(text: str, place: int, optional: bool) -> tuple[float | None, int]:
    """The sign of a term, None where one is missing, and the place after it."""
    found = _SIGN.match(text, place)
    if found is None:
        return (1.0 if optional else None), place
    return (-1.0 if found[0] == "-" else 1.0), _after(_SPACE, text, found.end())


def _after(pattern: re.Pattern[str], text: str, place: int) -> int:
    found = pattern.match(text, place)
    return found.end() if found else place
