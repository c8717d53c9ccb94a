"""The host of one job's tasks: a confined child that runs none of the user's code and forks a process for each task.

A task begins like a child from the stock, but in the confinement that its job already has. No state of one task reaches
the next: its process is a copy, forked after everything of the previous one was dead, with randomness of its own, a
pipe of its own for its answer, and no end of the host's pipes. Two tasks do share the writable folders and what can be
set for another process of the same user. The host inspects these after each task; if it finds a trace of anything it
exits, and the next task begins in a new child. The host is the first process of its process namespace, which signals
from within do not reach.
"""

from __future__ import annotations

import fcntl
import os
import resource
import select
import signal
from typing import Any

from .. import frames
from ..library_generators import seed_all

EXIT_SECONDS = 1.0
"""A task that has closed its answer is about to exit; the shell kills one that does not."""
_PART_BYTES = 1 << 16
_PLACES = ("/tmp", "/dev/shm")
_OUTPUTS = (0, 1, 2)
_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


def host_tasks(result_fd: int) -> None:
    """Hosts until a task leaves a trace or no further task comes, then exits. Returns in the process of each task,
    where `result_fd` is the task's own; there the next message on the job's pipe is its job. It sends to the shell, for
    each task: the task's first message; {"answers": true} and the answer; {"free": true} when the next task may come;
    or {"ended": status} for a task that exited without an answer."""
    # Python's own handler would let a task interrupt its host.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    untouched = _traces()
    while True:
        answer, theirs = os.pipe()
        # Here and not in the fork, which would have to copy everything that this writes.
        seed_all(os.urandom)
        pid = os.fork()
        if pid == 0:
            os.close(answer)
            os.dup2(theirs, result_fd, inheritable=False)
            os.close(theirs)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            return
        os.close(theirs)
        if not _forwarded(answer, result_fd, None):
            os._exit(0)
        if not _forwarded(answer, result_fd, {"answers": True}):
            frames.send(result_fd, frames.pack({"ended": _status(pid)}))
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        os.close(answer)
        if status != 0 or not _alone() or _traces() != untouched:
            os._exit(0)
        frames.send(result_fd, frames.pack({"free": True}))


def _forwarded(source: int, target: int, before: dict[str, Any] | None) -> bool:
    """Forwards one message of a task unread, after one of the host's own; False when the task sends none. The shell
    judges the length that the message declares. A message that breaks off stops the host."""
    header = b""
    while len(header) < 4:
        part = os.read(source, 4 - len(header))
        if not part:
            return False
        header += part
    frames.send(target, (frames.pack(before) if before else b"") + header)
    left = int.from_bytes(header, "little")
    while left > 0:
        part = os.read(source, min(left, _PART_BYTES))
        if not part:
            os._exit(1)
        frames.send(target, part)
        left -= len(part)
    return True


def _status(pid: int) -> list[Any]:
    """How a process exited; ["open", 0] when it continues without having answered."""
    pidfd = os.pidfd_open(pid)
    ended, _, _ = select.select([pidfd], [], [], EXIT_SECONDS)
    if not ended:
        return ["open", 0]
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return ["signal", -code] if code < 0 else ["exit", code]


def _alone() -> bool:
    """Whether nothing else is alive in the process namespace: what a task started and left is a child by now."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def _traces() -> list[Any]:
    """Everything that a task could have changed for later tasks."""
    me = 0
    return [
        [_folder(place) for place in _PLACES],
        [resource.getrlimit(kind) for kind in _LIMITS],
        [os.getpriority(os.PRIO_PROCESS, me), sorted(os.sched_getaffinity(me)), os.sched_getscheduler(me)],
        [[fcntl.fcntl(fd, what) for what in (fcntl.F_GETFL, fcntl.F_GETOWN)] for fd in _OUTPUTS],
        [fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ) for fd in _OUTPUTS[1:]],
    ]


def _folder(path: str) -> list[Any]:
    """A folder's content and attributes, and when these changed, which also reveals a file that came and went."""
    state = os.stat(path)
    owners = [state.st_mode, state.st_uid, state.st_gid, state.st_nlink]
    return [os.listdir(path), os.listxattr(path), *owners, state.st_mtime_ns, state.st_ctime_ns]
