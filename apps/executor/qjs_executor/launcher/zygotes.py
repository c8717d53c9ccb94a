"""The zygotes that the launcher has started, by the numbers it assigned to them, and the folders it created for
them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
from dataclasses import asdict, dataclass, field

from ..isolation.linux import children_of, die_with_parent
from ..isolation.machine import check_expected
from ..isolation.work_folder import make_work_folder, remove_tree
from ..job import KEPT_SLOTS, PARKED_MAX, SHARED_USER, WITH_NAMESPACES, Isolation, SandboxFault, ZygoteSet
from ..settings import Settings
from ..zygote.zygote_child import Plan
from .orders import SETS, BadOrder
from .processes import start_process

REMOVE_SECONDS = 10.0
"""The time for removing files that executions left on the disk; the next executor removes the rest."""
_ENVIRONMENT = {
    "MPLBACKEND": "Agg",
    "QISKIT_PARALLEL": "FALSE",
    "QISKIT_NUM_PROCS": "1",
    **{
        f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "RAYON")
    },  # One slot is one core, and a zygote with threads cannot fork.
}


@dataclass
class _Zygote:
    number: int
    process: subprocess.Popen[bytes]
    folder: str
    guards: bool
    """The processes that it starts are guards of executions."""
    left: set[int] = field(default_factory=set)
    """Once it has exited: the processes that it had started and we have adopted. They are killed."""


class Zygotes:
    """Starts, kills and cleans up zygotes. `users` are those that their children may get; `grouped`: each of these gets
    a control group; `others` are children of this process that do not belong to a zygote."""

    def __init__(self, settings: Settings, isolations: list[Isolation], users: tuple[int, int], grouped: bool) -> None:
        self.others: set[int] = set()
        self._settings = settings
        self._isolations = isolations
        self._users = users
        self._grouped = grouped
        self._missing: dict[Isolation, str] = {}
        self._last = 0
        self._live: dict[int, _Zygote] = {}
        self._ended: list[_Zygote] = []

    @property
    def live(self) -> bool:
        """Whether any zygote is alive."""
        return bool(self._live)

    def start(self, zygote_set: ZygoteSet, isolation: Isolation) -> tuple[int, socket.socket, int]:
        """Starts a zygote; returns its number, its control socket and its pidfd, which the caller owns. Raises BadOrder
        for an isolation that is not on offer, SandboxFault or OSError."""
        if isolation not in self._isolations:
            raise BadOrder(f"a zygote with isolation {isolation}")
        # A renewed zygote stays as long as one of its executions does, so each slot and each parked execution may have
        # one.
        if len(self._live) >= 2 * len(SETS) + self._settings.slots + KEPT_SLOTS + PARKED_MAX:
            raise SandboxFault("too many zygotes are alive")
        self._check(isolation)
        memory = self._settings.memory_bytes, self._settings.engine_memory_bytes
        plan = Plan(isolation, self._grouped, *memory, gpu=self._settings.gpu)
        folder = make_work_folder()
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                environment = {**_ENVIRONMENT, "HOME": folder, "NUMBA_CACHE_DIR": folder}
                process = start_process(
                    "qjs_executor.zygote.zygote", theirs, folder, environment, own_session=True, fixed_hashes=True
                )
            users = (os.getuid(), os.getuid() + 1) if isolation in SHARED_USER else self._users
            configuration = {"set": zygote_set, "folder": folder, "plan": asdict(plan), "users": users}
            control.send(json.dumps(configuration).encode())
            pidfd = os.pidfd_open(process.pid)
        except OSError:
            # A process that was started exits when its socket is closed.
            control.close()
            with contextlib.suppress(OSError):
                os.rmdir(folder)
            raise
        self._last += 1
        self._live[process.pid] = _Zygote(self._last, process, folder, isolation not in WITH_NAMESPACES)
        return self._last, control, pidfd

    def pid(self, number: int) -> int | None:
        """The process of a zygote; None once it has exited. Raises BadOrder for a number that was never assigned."""
        if number > self._last:
            raise BadOrder(f"zygote {number}")
        return next((pid for pid, zygote in self._live.items() if zygote.number == number), None)

    def kill(self, number: int) -> None:
        """Kills a zygote, which may have exited; its children die with it. Raises BadOrder."""
        pid = self.pid(number)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)  # It has not been waited for, so the id is still its own.

    def kill_all(self) -> None:
        """Kills every zygote."""
        for pid in self._live:
            os.kill(pid, signal.SIGKILL)

    def reaped(self, pid: int, code: int) -> None:
        """To be called for every child of this process that was waited for. The folder of a zygote is removed when
        everything that the zygote started has exited, so that no process writes there at the same time."""
        zygote = self._live.pop(pid, None)
        if zygote is not None:
            zygote.process.returncode = code
            zygote.left = children_of(os.getpid()) - set(self._live) - self.others
            for left in zygote.left:
                # A guard kills its execution first; anything else may have arranged to survive its zygote.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(left, signal.SIGTERM if zygote.guards else signal.SIGKILL)
            self._ended.append(zygote)
        self.others.discard(pid)
        for ended in self._ended:
            ended.left.discard(pid)
        for ended in [one for one in self._ended if not one.left]:
            self._ended.remove(ended)
            self._remove(ended.folder)

    def _check(self, isolation: Isolation) -> None:
        if isolation not in self._missing:
            try:
                check_expected(isolation)
                self._missing[isolation] = ""
            except SandboxFault as error:
                self._missing[isolation] = str(error)
        if self._missing[isolation]:
            raise SandboxFault(self._missing[isolation])

    def _remove(self, folder: str) -> None:
        """Removes a folder; a folder with content in a process of its own, since that can take long."""
        try:
            os.rmdir(folder)
            return
        except OSError:
            pass
        with contextlib.suppress(OSError):
            pid = os.fork()
            if pid == 0:
                _remove_and_exit(folder)
            self.others.add(pid)


def _remove_and_exit(folder: str) -> None:
    try:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        die_with_parent()
        remove_tree(folder, REMOVE_SECONDS)
    finally:
        os._exit(0)
