"""Estimates sums of Pauli products from the counts of the circuit that measures them, with their variance. With known
errors of readout, each shot is corrected first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ReadoutErrors:
    """For each qubit the probability of reading 1 where it is 0, and of reading 0 where it is 1."""

    p1_given0: Floats
    p0_given1: Floats

    @property
    def contrast(self) -> Floats:
        """What is left of the difference between 0 and 1."""
        return 1 - self.p1_given0 - self.p0_given1

    @property
    def signs(self) -> Floats:
        """What stands for +1 and -1 of each qubit, so that the mean over wrong readings is that of the qubit."""
        bias = self.p0_given1 - self.p1_given0
        return np.stack([(1 - bias) / self.contrast, (-1 - bias) / self.contrast], axis=1)


@dataclass(frozen=True)
class Estimate:
    """A mean over shots. `variance` is that of the shots alone, NaN for one shot; `slopes` are the derivatives of the
    value by each probability of `ReadoutErrors`, those of `p1_given0` first, which are uncertain themselves."""

    value: float
    variance: float
    slopes: Floats


def weighted_sum(weights: Sequence[float], estimates: Sequence[Estimate], constant: float = 0.0) -> Estimate:
    """A linear combination of estimates from different shots."""
    return Estimate(
        constant + float(sum(weight * one.value for weight, one in zip(weights, estimates, strict=True))),
        float(sum(weight**2 * one.variance for weight, one in zip(weights, estimates, strict=True))),
        sum((weight * one.slopes for weight, one in zip(weights, estimates, strict=True)), np.zeros(1)),
    )


@dataclass(frozen=True)
class Shots:
    """Counts as arrays: the bits of each different result, qubit 0 first, and how often it came."""

    bits: NDArray[np.uint8]
    counts: Floats

    @classmethod
    def of(cls, counts: Mapping[str, int]) -> Shots:
        """From counts by bit string, at least one of them above 0."""
        keys = list(counts)
        text = np.frombuffer("".join(keys).encode("ascii"), dtype=np.uint8)
        return cls(text.reshape(len(keys), -1) - ord("0"), np.array([counts[key] for key in keys], dtype=np.float64))

    def mean(self, values: Floats) -> tuple[float, float]:
        """The mean over the shots of a value of each result, and the estimated variance of that mean."""
        shots = float(self.counts.sum())
        mean = float(values @ self.counts) / shots
        if shots <= 1:
            return mean, float("nan")
        return mean, float((values - mean) ** 2 @ self.counts) / (shots - 1) / shots


def estimate(terms: Mapping[str, float], shots: Shots, errors: ReadoutErrors | None = None) -> Estimate:
    """The mean of a sum of terms that one circuit measures: its variance contains their covariance."""
    qubits = shots.bits.shape[1]
    signs = np.tile([1.0, -1.0], (qubits, 1)) if errors is None else errors.signs
    total = np.zeros(len(shots.bits))
    slopes = np.zeros(2 * qubits)
    for word, factor in terms.items():
        places = [place for place, letter in enumerate(word) if letter != "I"]
        product = np.full(len(shots.bits), factor)
        for place in places:
            product *= signs[place][shots.bits[:, place]]
        total += product
        if errors is not None:
            _add_slopes(slopes, product, places, shots, errors)
    mean, variance = shots.mean(total)
    return Estimate(mean, variance, slopes)


def _add_slopes(slopes: Floats, product: Floats, places: Sequence[int], shots: Shots, errors: ReadoutErrors) -> None:
    """The sign s of a reading is (z - p0_given1 + p1_given0) / contrast, for z = +1 or -1. Its derivatives by the two
    probabilities are (s + 1) / contrast and (s - 1) / contrast."""
    qubits = shots.bits.shape[1]
    share = product * shots.counts / shots.counts.sum()
    of_ones = share @ shots.bits[:, places]
    of_zeros = share.sum() - of_ones
    signs, contrast = errors.signs[places], errors.contrast[places]
    for first, offset in ((0, 1.0), (qubits, -1.0)):
        change = (signs + offset) / (signs * contrast[:, None])
        slopes[first + np.asarray(places, dtype=np.intp)] += change[:, 0] * of_zeros + change[:, 1] * of_ones
