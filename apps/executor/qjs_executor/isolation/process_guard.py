"""The guard of an execution without a process namespace: it outlives the execution's first process and kills what that
process started.

A process that an execution detaches (a daemon) would otherwise survive. The guard adopts every orphan of its execution,
and the kernel signals the guard when the zygote dies, so the execution's processes do not survive the zygote either. It
also kills an execution that holds too much in its folder. It runs no other code.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from typing import NoReturn

from ..job import Isolation
from . import linux
from .folder_watch import FolderWatch
from .landlock import landlock_abi, scope_signals
from .work_folder import remove_tree

REMOVE_SECONDS = 1.0
"""Below the time after which a child that does not exit is noticed; what remains is removed with the zygote."""
PAUSE_SECONDS = 0.01
"""At most, between two checks of an execution that dies slowly; a guard must not occupy a processor."""
_WAITED_FOR = {signal.SIGTERM, signal.SIGCHLD}


def stand_guard(isolation: Isolation, uid: int, folder: str) -> None:
    """Forks: returns in the execution's first process, and never in its guard. The guard exits like that process, once
    nothing of the execution is alive and its folder is removed; by SIGXFSZ when the folder held too much. SIGTERM makes
    the guard kill the execution. Raises OSError."""
    zygote = os.getppid()
    signal.pthread_sigmask(signal.SIG_BLOCK, _WAITED_FOR)
    linux.adopt_orphans()
    linux.die_with_parent(signal.SIGTERM)
    if os.getppid() != zygote:
        os._exit(1)  # The zygote died before its death was watched.
    scoped = isolation == "landlock" and landlock_abi() >= 6
    if scoped:
        # What the execution starts is in this scope too and can signal no process outside its own, narrower scope.
        linux.forbid_new_privileges()
        scope_signals()
    child = os.fork()
    if child == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAITED_FOR)
        return
    os.closerange(3, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    _watch(child, scoped, uid if isolation == "uid" else None, folder)


def _watch(child: int, scoped: bool, uid: int | None, folder: str) -> NoReturn:
    status: int | None = None
    watch = FolderWatch(folder)
    while status is None:
        arrived = signal.sigtimedwait(_WAITED_FOR, watch.due_in())
        if arrived is not None and arrived.si_signo == signal.SIGTERM:
            status = signal.SIGKILL
        elif watch.due_in() == 0 and watch.is_over():
            status = signal.SIGXFSZ
        while status is None:
            try:
                pid, ended = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if pid == 0:
                break
            if pid == child:
                status = ended
    _kill_everything(scoped, uid)
    with contextlib.suppress(OSError):
        remove_tree(folder, REMOVE_SECONDS)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with contextlib.suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
    os._exit(code if code >= 0 else 1)


def _kill_everything(scoped: bool, uid: int | None) -> None:
    """Kills until nothing is left. A process that loses its parent becomes a child of this process, so none is
    overlooked."""
    pause = 0.0
    while True:
        if scoped:
            with contextlib.suppress(OSError):
                os.kill(-1, signal.SIGKILL)  # Reaches only this process's scope, and all of it at once.
        elif uid is not None:
            _kill_user(uid)
        for pid in linux.children_of(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        if scoped or uid is not None:
            # All of them are killed at once, so the kernel only needs time; elsewhere they could start others faster.
            time.sleep(pause)
            pause = min(PAUSE_SECONDS, pause + PAUSE_SECONDS / 10)


def _kill_user(uid: int) -> None:
    """Kills every process of a user that only this execution has."""
    try:
        pid = os.fork()
    except OSError:
        return  # The machine has no free process; the next round has killed some.
    if pid == 0:
        with contextlib.suppress(OSError):
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            os.kill(-1, signal.SIGKILL)
        os._exit(0)
    os.waitpid(pid, 0)
