"""Computes expectation values and variances of observables from the counts of the circuit that measures them."""

from __future__ import annotations

from ..adapted_circuit import Observable
from ..refusals import JobError


def expectation_value(observable: Observable, counts: dict[str, int]) -> float:
    """The mean (`expval`) or the variance (`var`, of the samples themselves) of the observable over the counts."""
    shots = sum(counts.values())
    if shots == 0:
        raise JobError(f"the value of {observable.name} needs at least one shot")
    samples = [(_sample(observable, key), count) for key, count in counts.items()]
    mean = sum(value * count for value, count in samples) / shots
    if observable.kind == "expval":
        return mean
    return sum((value - mean) ** 2 * count for value, count in samples) / shots


def expectation_values(observables: list[Observable], counts: dict[str, int]) -> list[dict[str, object]]:
    """`expectation_values` of a result: name, kind and value of each observable, in their order."""
    return [
        {"name": observable.name, "kind": observable.kind, "value": expectation_value(observable, counts)}
        for observable in observables
    ]


def _sample(observable: Observable, key: str) -> float:
    """The observable's value in one sample. Raises JobError for a bit that the counts do not have."""
    value = observable.constant
    for coefficient, bits in observable.terms:
        if any(not 0 <= bit < len(key) for bit in bits):
            raise JobError(f"{observable.name} needs bits {bits}; the counts have {len(key)}")
        odd = sum(key[bit] == "1" for bit in bits) % 2
        value += -coefficient if odd else coefficient
    return value
