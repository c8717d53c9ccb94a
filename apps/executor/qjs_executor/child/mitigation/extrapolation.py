"""Extrapolates values of scaled noise to no noise, with the fits of PennyLane that are linear in the values: their
weights give the exact standard error."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pennylane.noise import poly_extrapolate, richardson_extrapolate

from ...mitigation import Zne


def weights_of(zne: Zne, factors: Sequence[float]) -> list[float]:
    """By what the value of each factor counts."""
    return [_extrapolated(zne, factors, unit) for unit in np.eye(len(factors))]


def _extrapolated(zne: Zne, factors: Sequence[float], values: Sequence[float]) -> float:
    points = np.asarray(factors, dtype=np.float64)
    if zne.fit == "richardson":
        return float(richardson_extrapolate(points, values))
    return float(poly_extrapolate(points, values, zne.order))
