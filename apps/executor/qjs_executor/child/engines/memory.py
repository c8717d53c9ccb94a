"""Bounds the memory of a simulation, before anything is allocated."""

from __future__ import annotations

import math
import os

from ...isolation.confinement import allow_engine_memory
from ..refusals import JobError

GIB = 1024**3
BYTES_PER_AMPLITUDE = 16
HEADROOM_BYTES = 256 * 1024**2
"""The memory that the simulator and the transpiler allocate in addition to the state."""
BOND_DIMENSION_MAX = 4096
"""Beyond this one gate alone takes minutes."""


def fits(needed: int) -> bool:
    """Whether a state of this many bytes fits."""
    return needed <= _free(allow_engine_memory())


def check_fits(what: str, needed: int) -> None:
    """Raises JobError unless a state of this many bytes fits. `what`: "a state of 30 qubits"."""
    limit = allow_engine_memory()
    free = _free(limit)
    if needed > free:
        room = 1 << max(free, 1).bit_length() - 1
        raise JobError(f"memory: {what} needs {_size(needed)}, limit {_size(min(room, limit))}")


def bond_dimension(num_qubits: int) -> int:
    """The largest bond dimension at which every site of a matrix product state has room, with work space for a gate: a
    site is 2 D^2 amplitudes, a gate works on about 24 D^2."""
    per_square = BYTES_PER_AMPLITUDE * (2 * num_qubits + 24)
    return max(2, min(math.isqrt(max(_free(allow_engine_memory()), 0) // per_square), BOND_DIMENSION_MAX))


def _free(limit: int) -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        in_use = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    return limit - in_use - HEADROOM_BYTES


def _size(size: int) -> str:
    return f"{size / GIB:g} GiB" if size >= GIB else f"{size / 1024**2:g} MiB"
