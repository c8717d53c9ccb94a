"""Random nested classical control, against an interpreter of our own: the simulator alone gets one in ten wrong."""

from __future__ import annotations

import os

import pytest

from qjs_executor.child.circuits.measurement import measured_layout
from qjs_executor.child.engines.engine import simulate

from ...support.decided_circuits import decided_circuits
from ...support.lanes import examples

CIRCUITS = 60 if "CONFORMANCE_LONG" in os.environ else examples(30)


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_random_circuits_with_classical_control_give_the_interpreters_answer(level: int) -> None:
    compared = 0
    for seed, circuit, expected in decided_circuits(range(level * CIRCUITS, (level + 1) * CIRCUITS)):
        memory = simulate(circuit, "statevector", 3, 1, level, None)
        assert measured_layout(circuit).counts(memory) == {expected: 3}, f"seed {seed}"
        compared += 1
    assert compared > CIRCUITS // 3
