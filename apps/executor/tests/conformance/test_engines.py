"""Every engine gives the reference's answer for every circuit of the table, at every optimization level.

Each row is met by two of the ways, and each way meets each level. CONFORMANCE_LONG takes every row on every engine at
every level.
"""

from __future__ import annotations

import functools
import os
from typing import Any

import pytest
from qiskit import QuantumCircuit

from qjs_executor.child.circuits.measurement import measured_layout, with_measurements
from qjs_executor.child.engines.engine import simulate
from qjs_executor.child.engines.noise import parse_noise_model

from ..support.lanes import long
from . import reference
from .bound import disagreement
from .circuit import features
from .converters import read
from .tables.table import PROGRAMS, TABLE

SHOTS = 2000
LONG = "CONFORMANCE_LONG" in os.environ
WITHOUT_EFFECT = parse_noise_model({"gate_errors": {"nothing": 0.0}}, 14)
"""Takes the circuit the whole way through the noise all the same."""
WAYS: dict[str, dict[str, Any]] = {
    "statevector": {"engine": "statevector"},
    "density_matrix": {"engine": "density_matrix"},
    "mps": {"engine": "mps"},
    "noisy": {"engine": "noisy"},
    "noisy with a noise model without effect": {"engine": "noisy", "noise_model": WITHOUT_EFFECT},
    "density_matrix with a noise model without effect": {"engine": "density_matrix", "noise_model": WITHOUT_EFFECT},
}
LEVELS = (0, 1, 2, 3)
EACH = 1 if LONG else 3
"""Of so many rows a way takes one, the next way the next one."""


@functools.cache
def loaded(name: str) -> QuantumCircuit:
    """A row as the executor reads its OpenQASM 3."""
    return with_measurements(read(PROGRAMS[name, "openqasm3"]))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", ["one of each kind", long("the table")])
def test_every_engine_agrees_with_the_reference(rows: str, way: str) -> None:
    table = list(TABLE)[list(WAYS).index(way) % EACH :: EACH]
    if rows != "the table":
        table = list({features(TABLE[name]): name for name in reversed(table)}.values())
    for place, name in enumerate(table):
        levels = LEVELS if LONG else (LEVELS[place % len(LEVELS)],)
        for level in levels:
            circuit = loaded(name)
            memory = simulate(circuit, shots=SHOTS, seed=21, optimization_level=level, source=None, **WAYS[way])
            counts = measured_layout(circuit).counts(memory)
            assert disagreement(counts, reference.probabilities(TABLE[name]), SHOTS) is None, f"{name}, level {level}"
