"""The keeper: a small trusted process between the executor and one run's child.

It makes the namespaces, forks the child, and holds a leash to the executor. When the leash ends, because the executor
wants the run dead or is dead itself, the keeper kills the child with all its descendants and then exits; so the
keeper's own exit means that nothing of the run is alive. It never reads the job or the result.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
from typing import NoReturn

from .. import frames
from . import linux
from .confinement import Confinement, confine, separate

DESCENDANTS_ROUNDS_MAX = 1_000
"""How often the keeper looks again for descendants that fork while it kills; each round also reaps."""


def main() -> NoReturn:
    """Runs one child; the arguments are one JSON text made by `child_process`."""
    arguments = json.loads(sys.argv[1])
    leash = socket.socket(fileno=arguments["leash_fd"])
    job_fd, result_fd = arguments["job_fd"], arguments["result_fd"]
    confinement = Confinement(**arguments["confinement"])
    try:
        separate(confinement)
        linux.adopt_orphans()
        child = os.fork()
    except OSError as error:
        frames.send(result_fd, frames.pack({"fault": f"cannot separate the run: {error}"}))
        os._exit(1)
    if child == 0:
        leash.close()
        _be_child(confinement, job_fd, result_fd)
    for fd in (job_fd, result_fd):
        os.close(fd)
    # The keeper may not hold the run's output open.
    null = os.open("/dev/null", os.O_RDWR)
    os.dup2(null, 1)
    os.dup2(null, 2)
    _watch(leash, child)


def _be_child(confinement: Confinement, job_fd: int, result_fd: int) -> NoReturn:
    try:
        confine(confinement)
    except OSError as error:
        frames.send(result_fd, frames.pack({"fault": f"cannot confine the run: {error}"}))
        os._exit(1)
    job = frames.receive(job_fd)
    if job is None:
        os._exit(0)
    os.close(job_fd)
    frames.send(result_fd, frames.pack({"taken": {"uid": os.getuid()}}))
    from ..child.main import answer

    answer(job, result_fd)


def _watch(leash: socket.socket, child: int) -> NoReturn:
    pidfd = os.pidfd_open(child)
    ready, _, _ = select.select([leash.fileno(), pidfd], [], [])
    if pidfd not in ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    _kill_descendants()
    code = os.waitstatus_to_exitcode(status)
    # An executor that is gone was the only reader.
    with contextlib.suppress(OSError):
        leash.send(f"signal {-code}".encode() if code < 0 else f"exit {code}".encode())
    os._exit(0)


def _kill_descendants() -> None:
    """Kills what the child left behind. Inside a process namespace nothing is left: its first process has died."""
    for _ in range(DESCENDANTS_ROUNDS_MAX):
        try:
            with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
                orphans = [int(pid) for pid in file.read().split()]
        except OSError:
            return
        if not orphans:
            return
        for pid in orphans:
            os.kill(pid, signal.SIGKILL)
        for pid in orphans:
            os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
