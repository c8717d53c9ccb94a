"""The two lanes of the suite. The short one (`scripts/test`) keeps a test of every promise; the long one
(`scripts/test --all`) adds the rest of each table, more random examples and every level of isolation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pytest

SHORT = False
"""Whether only the short lane runs; conftest.py sets it before the tests are loaded."""


def one_of_each(values: Iterable[Any], kind: Callable[[Any], Hashable]) -> list[Any]:
    """Parameters for a test: the first value of each kind in both lanes, the others in the long one only."""
    seen: set[Hashable] = set()
    params = []
    for value in values:
        of = kind(value)
        params.append(pytest.param(value, marks=pytest.mark.long) if of in seen else pytest.param(value))
        seen.add(of)
    return params


def long(*values: Any) -> Any:
    """A parameter, or several for one call, of the long lane."""
    return pytest.param(*values, marks=pytest.mark.long)


def examples(number: int) -> int:
    """How many random examples a test takes: a fifth of them in the short lane."""
    return max(2, number // 5) if SHORT else number
