"""One run's processes, seen from the HTTP process: started, fed, listened to, killed, cleaned up after."""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import Any

from .. import frames
from ..service.logs import log
from .seam import Isolation, Limits

SLOTS_MAX = 65
"""More slots than this are refused when the settings are read."""
UID_BASE = 60_000 + os.getpid() % 80 * SLOTS_MAX
"""Slot n runs as user UID_BASE+n: below 65536, which is all that a container may have, assigned to nobody, and as a
rule not the range of another executor on the same machine, because a user's processes share one limit."""
KILL_SECONDS = 2.0
"""A keeper that has not ended its run after this time is killed itself."""
DRAIN_SECONDS = 1.0
"""After a run's death its output pipes end at once; this bounds the wait should one not."""

_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_BOOT = f"import sys; sys.path.append({_PACKAGE_FOLDER!r}); from qjs_executor.sandbox.keeper import main; main()"
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "Agg",
    "QISKIT_PARALLEL": "FALSE",
    "QISKIT_NUM_PROCS": "1",
    **{
        f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "RAYON")
    },  # One slot is one core.
}


class OutputFlood(Exception):
    """The run printed more than its flood limit."""


@dataclass
class Output:
    """What one stream printed: the first bytes, and whether there was more."""

    kept: bytes = b""
    total: int = 0

    @property
    def truncated(self) -> bool:
        """More was printed than kept."""
        return self.total > len(self.kept)


class ChildProcess:
    """A keeper and its child. `spawn` never blocks on the child; `reap` returns once nothing of the run is alive."""

    def __init__(self, slot: int, isolation: Isolation, limits: Limits) -> None:
        self.uid = UID_BASE + slot if isolation != "process" else os.getuid()
        self.stdout = Output()
        self.stderr = Output()
        self._limits = limits
        self._folder = tempfile.mkdtemp(prefix=f"qjs-run-{os.getpid()}-")
        self._ends: list[int] = []
        self._transports: list[asyncio.BaseTransport] = []
        try:
            self._spawn(isolation)
        except BaseException:
            for fd in self._ends:
                os.close(fd)
            shutil.rmtree(self._folder, ignore_errors=True)
            raise

    def _spawn(self, isolation: Isolation) -> None:
        if isolation == "uid":
            os.chown(self._folder, self.uid, self.uid)
        job_read, self._job_fd = self._pipe()
        self._result_fd, result_write = self._pipe()
        self._stdout_fd, stdout_write = self._pipe()
        self._stderr_fd, stderr_write = self._pipe()
        ours, theirs = socket.socketpair()
        self._leash = ours
        arguments = {
            "job_fd": job_read,
            "result_fd": result_write,
            "leash_fd": theirs.fileno(),
            "confinement": {
                "isolation": isolation,
                "uid": self.uid,
                "memory_bytes": self._limits.memory_bytes,
                "engine_memory_bytes": self._limits.engine_memory_bytes,
                "cpu_seconds": math.ceil(self._limits.wall_seconds) + 1,
                "scaffold": self._folder,
            },
        }
        with theirs:
            self._keeper = subprocess.Popen(
                [sys.executable, "-I", "-B", "-c", _BOOT, json.dumps(arguments)],
                env=_ENVIRONMENT,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=stdout_write,
                stderr=stderr_write,
                pass_fds=(job_read, result_write, theirs.fileno()),
                start_new_session=True,
            )
        for fd in (job_read, result_write, stdout_write, stderr_write):
            os.close(fd)
            self._ends.remove(fd)
        self._exited = _exit_notice(self._keeper)

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._ends.extend(ends)
        return ends

    async def open(self) -> asyncio.StreamReader:
        """Starts collecting the output; answers the stream of the child's messages."""
        self._collectors = [
            asyncio.create_task(self._collect(self._stdout_fd, self.stdout)),
            asyncio.create_task(self._collect(self._stderr_fd, self.stderr)),
        ]
        return await self._reader(self._result_fd)

    async def send(self, job: dict[str, Any]) -> None:
        """Hands the job over. A child that dies meanwhile is noticed by its exit, not here."""
        loop = asyncio.get_running_loop()
        self._ends.remove(self._job_fd)
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(self._job_fd, "wb", buffering=0)
        )
        writer = asyncio.StreamWriter(transport, protocol, None, loop)
        try:
            writer.write(frames.pack(job))
            await writer.drain()
        except ConnectionError:
            pass
        finally:
            transport.close()

    async def flooded(self) -> None:
        """Waits until one of the output streams passes its limit, which it may never do."""
        try:
            await asyncio.gather(*(asyncio.shield(collector) for collector in self._collectors))
        except OutputFlood:
            return
        await asyncio.get_running_loop().create_future()

    async def exit_status(self) -> tuple[str, int] | None:
        """Waits for the end of the run: ("exit", code) or ("signal", number) of the child; None when the keeper died
        without a word."""
        await asyncio.shield(self._exited)
        try:
            kind, number = self._leash.recv(64).decode("ascii").split()
        except (OSError, ValueError):
            return None
        return kind, int(number)

    def kill(self) -> None:
        """Ends the run; idempotent. The keeper does the killing."""
        # It fails when it was shut down before or the keeper has ended.
        with contextlib.suppress(OSError):
            self._leash.shutdown(socket.SHUT_WR)

    async def reap(self) -> None:
        """Kills the run and returns when it is dead, its output collected and its folder gone."""
        self.kill()
        timer = asyncio.get_running_loop().call_later(KILL_SECONDS, self._kill_keeper)
        await asyncio.shield(self._exited)
        timer.cancel()
        if collectors := getattr(self, "_collectors", None):
            _, late = await asyncio.wait(collectors, timeout=DRAIN_SECONDS)
            for task in late:
                task.cancel()
            await asyncio.gather(*collectors, return_exceptions=True)
        for transport in self._transports:
            transport.close()
        for fd in self._ends:
            os.close(fd)
        self._leash.close()
        try:
            os.rmdir(self._folder)
        except OSError:
            await asyncio.to_thread(_remove_tree, self._folder)

    def _kill_keeper(self) -> None:
        log.error("a keeper did not end its run in time and was killed")
        os.killpg(self._keeper.pid, signal.SIGKILL)

    async def _reader(self, fd: int) -> asyncio.StreamReader:
        reader = asyncio.StreamReader()
        self._ends.remove(fd)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", buffering=0)
        )
        self._transports.append(transport)
        return reader

    async def _collect(self, fd: int, output: Output) -> None:
        reader = await self._reader(fd)
        while part := await reader.read(1 << 16):
            output.total += len(part)
            output.kept += part[: self._limits.output_bytes - len(output.kept)]
            if output.total > self._limits.flood_bytes:
                raise OutputFlood


def remove_leftovers() -> None:
    """Removes the empty folders of killed executors. Never more than rmdir: the temporary folder is shared,
    and a folder with contents may be somebody's."""
    for entry in os.scandir(tempfile.gettempdir()):
        owner = entry.name.split("-")
        if entry.name.startswith("qjs-run-") and len(owner) > 3 and not os.path.exists(f"/proc/{owner[2]}"):
            with contextlib.suppress(OSError):
                os.rmdir(entry.path)


def _exit_notice(process: subprocess.Popen[bytes]) -> asyncio.Future[None]:
    """Resolved when the process has ended and is reaped. Uses a pidfd, so that no signal handler is needed."""
    loop = asyncio.get_running_loop()
    notice: asyncio.Future[None] = loop.create_future()
    pidfd = os.pidfd_open(process.pid)

    def ended() -> None:
        loop.remove_reader(pidfd)
        os.close(pidfd)
        process.wait()
        notice.set_result(None)

    loop.add_reader(pidfd, ended)
    return notice


def _remove_tree(folder: str) -> None:
    """Removes what a run left, however deep and with whatever modes; symbolic links are not followed."""
    subprocess.run(["chmod", "-R", "u+rwX", "--", folder], check=False, capture_output=True, timeout=60)
    subprocess.run(["rm", "-rf", "--", folder], check=False, capture_output=True, timeout=60)
