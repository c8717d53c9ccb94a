"""Puts a zygote's memory into huge pages: for each of them, a fork copies one entry of the page table instead of 512,
and an exit frees one.

That is nearly half of what a fork and its exit cost. A child that writes into a huge page gets a private page of the
ordinary size, as it would without huge pages.
"""

from __future__ import annotations

import contextlib
import time

from . import linux

_HUGE = 1 << 21
"""On x86-64, and on aarch64 with pages of 4 KiB. Elsewhere the kernel refuses and nothing changes."""
_MAPPING_BYTES_MAX = 1 << 31
"""A larger mapping is reserved address space, not memory."""
GATHER_SECONDS = 2.0
"""A machine whose free memory is fragmented searches for a long time."""


def gather() -> None:
    """Collapses the caller's own memory into huge pages, as far as the kernel can."""
    deadline = time.monotonic() + GATHER_SECONDS
    for start, end in _anonymous():
        for address in range(-(-start // _HUGE) * _HUGE, end // _HUGE * _HUGE, _HUGE):
            if time.monotonic() > deadline:
                return
            with contextlib.suppress(OSError):
                linux.collapse(address, _HUGE)


def _anonymous() -> list[tuple[int, int]]:
    """Start and end of the writable mappings that belong to no file."""
    found = []
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        for line in maps:
            span, rights, _, _, inode, *_ = line.split()
            start, end = (int(number, 16) for number in span.split("-"))
            if rights[1] == "w" and rights[3] == "p" and inode == "0" and end - start <= _MAPPING_BYTES_MAX:
                found.append((start, end))
    return found
