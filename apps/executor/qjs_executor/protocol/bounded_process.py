"""Computes something in a process of its own, which may not use more memory or time than it was given."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import resource
import signal
import warnings
from collections.abc import Callable
from typing import NoReturn

from ..isolation.confinement import limit, yield_processor
from ..isolation.linux import die_with_parent

SECONDS = 10
"""Of processor time."""
WALL_SECONDS = 60.0
"""On a machine that is busy with other work."""
_HEADER_BYTES = 8
_DESCRIPTORS_MAX = 1 << 20
_OUT_OF_MEMORY = 3


class OutOfBounds(Exception):
    """The computation needed more memory or time than it may use; the message names which."""


async def compute_apart(compute: Callable[[], bytes], memory_bytes: int) -> bytes:
    """What `compute` returns, from a fork of this process that may allocate `memory_bytes`. The fork reads this
    process's objects, so nothing has to be sent to it. Raises OutOfBounds, and OSError when there can be no fork."""
    source, target = os.pipe2(os.O_CLOEXEC)
    parent = os.getpid()
    try:
        with warnings.catch_warnings():
            # Another thread may exist; the fork needs nothing that it could hold.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
    except OSError:
        os.close(source)
        raise
    finally:
        if os.getpid() == parent:
            os.close(target)
    if pid == 0:
        _compute_and_exit(compute, target, memory_bytes, parent)
    process = _Process(pid)
    try:
        async with asyncio.timeout(WALL_SECONDS):
            answer = await _read(source)
    except TimeoutError:
        raise OutOfBounds(f"more than {WALL_SECONDS:g} s") from None
    finally:
        process.kill()
    if len(answer) < _HEADER_BYTES:
        raise OutOfBounds(_reason(os.waitstatus_to_exitcode(await process.status), memory_bytes))
    return answer[_HEADER_BYTES:]


def _reason(code: int, memory_bytes: int) -> str:
    if code == -signal.SIGXCPU:
        return f"more than {SECONDS} s of processor time"
    if code == _OUT_OF_MEMORY:
        return f"more than {memory_bytes >> 20} MiB of memory"
    return f"more than this machine has (exit code {code})"


class _Process:
    """A fork, which is collected when it exits, even if its caller no longer waits for it."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._pidfd = os.pidfd_open(pid)
        loop = asyncio.get_running_loop()
        self.status: asyncio.Future[int] = loop.create_future()
        loop.add_reader(self._pidfd, self._collect)

    def kill(self) -> None:
        if not self.status.done():
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def _collect(self) -> None:
        asyncio.get_running_loop().remove_reader(self._pidfd)
        os.close(self._pidfd)
        _, status = os.waitpid(self._pid, 0)
        self.status.set_result(status)


async def _read(source: int) -> bytes:
    """Everything up to the end of the stream; empty when it breaks off."""
    reader = asyncio.StreamReader(limit=1 << 20)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(source, "rb", buffering=0)
    )
    try:
        answer = await reader.read()
    finally:
        transport.close()
    complete = len(answer) >= _HEADER_BYTES and len(answer) - _HEADER_BYTES == int.from_bytes(
        answer[:_HEADER_BYTES], "little"
    )
    return answer if complete else b""


def _compute_and_exit(compute: Callable[[], bytes], target: int, memory_bytes: int, parent: int) -> NoReturn:
    """Runs in the fork. It must not return: the caller's event loop belongs to the parent."""
    try:
        _give_up(target, memory_bytes, parent)
        answer = compute()
        view = memoryview(len(answer).to_bytes(_HEADER_BYTES, "little") + answer)
        while view:
            view = view[os.write(target, view) :]
        os._exit(0)
    except MemoryError:
        os._exit(_OUT_OF_MEMORY)
    finally:
        os._exit(1)


def _give_up(target: int, memory_bytes: int, parent: int) -> None:
    """Keeps one descriptor, and no more memory and time than the computation may use."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    os.closerange(0, target)
    os.closerange(target + 1, _DESCRIPTORS_MAX)
    die_with_parent()
    if os.getppid() != parent:
        os._exit(0)
    # What the computation builds is dropped with the process; looking for cycles in it would take most of the time.
    gc.disable()
    yield_processor()
    limit(resource.RLIMIT_CPU, SECONDS, SECONDS + 1)
    with open("/proc/self/statm", encoding="ascii") as file:
        mapped = int(file.read().split()[0]) * resource.getpagesize()
    limit(resource.RLIMIT_AS, mapped + memory_bytes)
