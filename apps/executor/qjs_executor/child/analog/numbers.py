"""Reads numbers of analog programs and of the devices that run them as exact decimals. Imports nothing but the standard
library: the service reads a device's limits too."""

from __future__ import annotations

import re
from decimal import Context, Decimal
from typing import Any

LENGTH_MAX = 40
"""Characters of a number: twice the digits of a double."""
EXPONENT_MAX = 40
"""Of ten, either way: SI units of atoms and pulses need thirty, and the digits of a remainder stay few."""

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_EXACT = Context(prec=4 * (LENGTH_MAX + EXPONENT_MAX))
"""Enough digits for the difference, the quotient and the remainder of any two numbers."""


def number_of(value: Any) -> Decimal | None:
    """The number that a JSON number, or a text, is; None for anything else and for one with too many digits."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        text = value if isinstance(value, str) else repr(value)
    except ValueError:
        return None  # An integer with more digits than Python writes.
    if len(text) > LENGTH_MAX or not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    exponent = number.as_tuple().exponent
    fits = isinstance(exponent, int) and exponent >= -EXPONENT_MAX and number.adjusted() <= EXPONENT_MAX
    return number if fits else None


def difference(one: Decimal, other: Decimal) -> Decimal:
    """Exactly `one` - `other`."""
    return _EXACT.subtract(one, other)


def is_multiple(value: Decimal, unit: Decimal) -> bool:
    """Whether a value is a whole number of units; any is where the unit is 0."""
    return not unit or not _EXACT.remainder(value, unit)


def product(one: Decimal, other: Decimal) -> Decimal:
    """Exactly `one` times `other`."""
    return _EXACT.multiply(one, other)
