"""The random number generators that all code of a process shares, as a task sees them.

`from random import gauss` is a method of such a generator. Pickled with its state, it would draw the same numbers in
every task; so a pickle refers to the generator of the child that opens it.
"""

from __future__ import annotations

import copyreg
import random
import sys
from typing import Any

_shared: Any = random.__dict__["_inst"]


def pickle_generators_by_reference() -> None:
    """Makes every later pickle of the generator behind `random`, or of that behind `numpy.random`, a reference to
    it."""
    copyreg.pickle(random.Random, _random_reduced)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None:
        copyreg.pickle(numpy.random.RandomState, _numpy_reduced)


def shared_random() -> Any:
    """The generator behind the functions of `random`."""
    return _shared


def shared_numpy_random() -> Any:
    """The generator behind the functions of `numpy.random`."""
    import numpy as np

    return np.random.mtrand._rand


def _random_reduced(generator: random.Random) -> Any:
    return (shared_random, ()) if generator is _shared else generator.__reduce__()


def _numpy_reduced(generator: Any) -> Any:
    return (shared_numpy_random, ()) if generator is shared_numpy_random() else generator.__reduce__()
