"""Finds the memory pages that executions write: each zygote finds them once, and each child copies them while it waits
for its job.

A child shares its memory with its zygote until one of them writes; then the kernel copies the page. A small execution
writes 2,000 to 3,000 pages, which is half of its time. So a zygote makes forks of itself rehearse small executions and
reads from their page tables what they wrote (`learn`); a child makes the kernel copy these pages before it has a job
(`own`), which changes no content.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
from array import array
from collections import Counter
from collections.abc import Callable, Iterable

from . import linux

OWN_BYTES_MAX = 7 * 1024 * 1024
"""The memory that a waiting child may take; with what its confinement writes it stays below 10 MiB."""
REHEARSAL_SECONDS = 30
_PAGE = resource.getpagesize()
_MAPPING_BYTES_MAX = 1 << 31
"""A larger mapping is reserved address space, not memory."""
_EXCLUSIVE = 1 << 56
_OF_FILE = 1 << 61
_PRESENT = 1 << 63

Range = tuple[int, int]
"""Address and length in bytes."""


def learn(rehearsals: Iterable[Callable[[], object]]) -> list[Range]:
    """The pages that executions like these write, those of most rehearsals first, up to a limit. Each rehearsal has a
    fork of its own; one that fails counts as having written nothing. Empty where the kernel does not provide page
    tables."""
    counts = Counter(page for rehearsal in rehearsals for page in _written_by(rehearsal))
    most = [page for page, _ in counts.most_common(OWN_BYTES_MAX // _PAGE)]
    ranges: list[Range] = []
    for page in sorted(most):
        if ranges and sum(ranges[-1]) == page:
            ranges[-1] = (ranges[-1][0], ranges[-1][1] + _PAGE)
        else:
            ranges.append((page, _PAGE))
    return ranges


def own(ranges: list[Range]) -> None:
    """Makes these pages the caller's own. Pages that are no longer mapped are skipped, and a kernel before 5.14 skips
    all: each page is then copied at its first write."""
    for address, length in ranges:
        try:
            linux.populate_for_writing(address, length)
        except OSError as error:
            if error.errno == errno.EINVAL:
                return


def _written_by(rehearsal: Callable[[], object]) -> set[int]:
    """What a fork writes between two stops. This process inspects it, since the fork's own inspection would write
    too."""
    zygote = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            # It stops itself: if this process died before, it would stay stopped without this.
            linux.die_with_parent()
            if os.getppid() != zygote:
                os._exit(1)
            signal.alarm(REHEARSAL_SECONDS)
            os.kill(os.getpid(), signal.SIGSTOP)
            rehearsal()
            os.kill(os.getpid(), signal.SIGSTOP)
        finally:
            os._exit(0)
    try:
        if not _stopped(pid):
            return set()
        before = _pages_of_its_own(pid)
        os.kill(pid, signal.SIGCONT)
        return _pages_of_its_own(pid) - before if _stopped(pid) else set()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _stopped(pid: int) -> bool:
    """Waits until the process stops; False when it exited instead, still to be waited for."""
    event = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    if event is None or event.si_code != os.CLD_STOPPED:
        return False
    os.waitpid(pid, os.WUNTRACED)
    return True


def _pages_of_its_own(pid: int) -> set[int]:
    """Addresses of the writable pages that a process shares with no other: those it has written since it was forked."""
    found: set[int] = set()
    wanted = _PRESENT | _EXCLUSIVE
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pages:
        for line in maps:
            span, rights = line.split()[:2]
            start, end = (int(number, 16) for number in span.split("-"))
            if rights[1] != "w" or end - start > _MAPPING_BYTES_MAX:
                continue
            pages.seek(start // _PAGE * 8)
            entries = array("Q", pages.read((end - start) // _PAGE * 8))
            found.update(
                start + index * _PAGE
                for index, entry in enumerate(entries)
                if entry & wanted == wanted and not entry & _OF_FILE
            )
    return found
