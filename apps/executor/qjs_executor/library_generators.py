"""The random number generators that packages create for themselves when they are imported.

A zygote imports them once, so all of its children inherit the same state, and those of another zygote a different one.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from typing import Any

_NUMPY = (("qiskit.quantum_info.operators.random", "DEFAULT_RNG"),)
_PYTHON = (("sympy.core.random", "rng"), ("sympy.core.random", "_assumptions_rng"))


def seed_all(draw: Callable[[int], bytes]) -> None:
    """Seeds the shared generators of `random` and numpy and those of the loaded packages. `draw` returns the given
    number of random bytes."""
    random.seed(draw(64))
    for module, name in _PYTHON:
        generator: Any = getattr(sys.modules.get(module), name, None)
        if isinstance(generator, random.Random):
            generator.seed(draw(64))
    numpy: Any = sys.modules.get("numpy")
    if numpy is None:
        return
    numpy.random.seed(list(draw(64)))
    for module, name in _NUMPY:
        generator = getattr(sys.modules.get(module), name, None)
        if isinstance(generator, numpy.random.Generator):
            # In place, because functions keep references to it.
            own = generator.bit_generator
            own.state = type(own)(list(draw(64))).state
