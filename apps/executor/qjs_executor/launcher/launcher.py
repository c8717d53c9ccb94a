"""The launcher: the one process of an executor that keeps its user's rights. It starts the shell, which speaks to the
network, and, at the shell's order, zygotes. It creates what only it can create, and cleans up what they leave.

It has one thread, listens on nothing, and reads orders of a fixed size from the shell only (`orders.py`). Jobs and
results bypass it: they go from the shell to a child. A shell that sends an invalid order is killed, and the executor
stops.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..isolation import linux
from ..isolation.cgroups import find_hierarchy, remove_leftover_groups
from ..isolation.machine import how_to_fix
from ..isolation.users import UserRange
from ..isolation.work_folder import make_work_folder, remove_leftovers
from ..job import Isolation, SandboxFault
from ..logs import log
from ..settings import Settings
from .groups import Groups
from .handover import Handover, send_handover
from .listeners import bind
from .orders import ORDER_BYTES, BadOrder, Kind, Order, unpack
from .processes import start_process
from .zygotes import REMOVE_SECONDS, Zygotes

STOP_SECONDS = 8.0
"""How long the shell may take to kill its executions and finish its responses; supervisors wait 10 s or more."""
LEAVE_SECONDS = 2.0
"""How long the shell may take to exit after it has closed its socket, and zygotes after the shell."""
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD)
_DESCRIPTORS_MAX = 4
"""An order has at most one; more are read only to be refused, and beyond these the kernel closes them."""


def launch(settings: Settings) -> int:
    """Runs an executor until it stops; returns its exit code. Raises SandboxFault or OSError when it cannot start."""
    listeners = bind(settings.host, settings.port)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    launcher = Launcher(settings, ours)
    with theirs:
        shell = start_process("qjs_executor.service.shell", theirs, "/", {}, logs=True)
    return launcher.run(shell, listeners)


class Launcher:
    """One launcher. `orders` is its end of the socket to the shell."""

    def __init__(self, settings: Settings, orders: socket.socket) -> None:
        """Checks what the machine offers and removes what dead executors left. Raises SandboxFault."""
        linux.hide_memory()
        linux.adopt_orphans()
        self._settings = settings
        self._orders: socket.socket | None = orders
        orders.setblocking(False)
        self._stopping = False
        self._deadline: float | None = None
        self._shell: subprocess.Popen[bytes] | None = None
        self._woken, waker = socket.socketpair()
        for end in (self._woken, waker):
            end.setblocking(False)
        self._waker = waker
        signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, lambda *_: None)
        root = os.getuid() == 0
        self._range = UserRange() if root else None
        self._isolations = _candidates(settings, root)
        remove_leftovers()
        # Before anything is started: with version 2 this process first moves to a group of its own.
        hierarchy = find_hierarchy()
        remove_leftover_groups(hierarchy)
        self._cgroup = hierarchy.kind
        self._groups = Groups(hierarchy, max(settings.memory_bytes, settings.engine_memory_bytes))
        users = self._range.users if self._range else range(0)
        # The last one is the shell's.
        self._users = (users[0], users[-1]) if users else (0, 0)
        allowed: list[Isolation] = [*self._isolations]
        if settings.allow_insecure:
            allowed.append("process")
        self._zygotes = Zygotes(settings, allowed, self._users, grouped=hierarchy.kind != "none")

    def run(self, shell: subprocess.Popen[bytes] | None = None, listeners: Sequence[socket.socket] = ()) -> int:
        """Hands over and obeys until the shell has exited; then stops everything else, and returns the shell's exit
        code. Without a `shell` of its own it obeys the holder of the socket until the socket is closed."""
        self._shell = shell
        folder = ""
        try:
            if shell is not None:
                self._zygotes.others.add(shell.pid)
                folder = make_work_folder()
            self._hand_over(folder, listeners)
            while self._served():
                self._turn()
        finally:
            self._kill_shell()
            self._end(folder)
        return 0 if shell is None else self._exit_code(shell.returncode)

    def _hand_over(self, folder: str, listeners: Sequence[socket.socket]) -> None:
        handover = Handover(
            settings=self._settings,
            launcher=os.getpid(),
            isolations=self._isolations,
            user=os.getuid(),
            users=self._users,
            shell_user=self._users[1] if self._range else None,
            shell_folder=folder,
            cgroup=self._cgroup,
            how_to_fix=how_to_fix(),
        )
        assert self._orders is not None
        try:
            send_handover(handover, listeners, self._orders)
        except OSError:
            self._refuse("it exited before the handover")
        for listener in listeners:
            listener.close()

    def _served(self) -> bool:
        return self._orders is not None if self._shell is None else self._shell.returncode is None

    def _turn(self) -> None:
        """Waits for one event: an order, a signal or the exit of a child."""
        poll = select.poll()
        poll.register(self._woken, select.POLLIN)
        if self._orders is not None:
            poll.register(self._orders, select.POLLIN)
        left = None if self._deadline is None else max(0.0, self._deadline - time.monotonic())
        ready = {fd for fd, _ in poll.poll(None if left is None else left * 1000)}
        if self._woken.fileno() in ready:
            self._wake()
        if self._orders is not None and self._orders.fileno() in ready:
            self._hear(self._orders)
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self._deadline = None
            if self._kill_shell():
                log.error("the shell did not exit in time and was killed")

    def _wake(self) -> None:
        """Handles the signals that arrived since the last call, and waits for every child that has exited."""
        received: set[int] = set()
        with contextlib.suppress(BlockingIOError):
            while numbers := self._woken.recv(4096):
                received.update(numbers)
        if received & {signal.SIGTERM, signal.SIGINT}:
            self._stop()
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                code = os.waitstatus_to_exitcode(status)
                if self._shell is not None and pid == self._shell.pid:
                    self._shell.returncode = code
                self._zygotes.reaped(pid, code)

    def _stop(self) -> None:
        if self._shell is None:
            self._close()
        elif self._shell.returncode is None:
            # After the first signal executions are finished, after the second they are killed.
            drain = 0 if self._stopping else self._settings.drain_seconds
            self._stopping = True
            self._deadline = time.monotonic() + drain + STOP_SECONDS
            os.kill(self._shell.pid, signal.SIGTERM)

    def _hear(self, orders: socket.socket) -> None:
        try:
            data, descriptors, flags, _ = socket.recv_fds(orders, ORDER_BYTES + 1, _DESCRIPTORS_MAX)
        except BlockingIOError:
            return
        except OSError:
            data, descriptors, flags = b"", [], 0
        try:
            if not data and not descriptors:
                self._close()
            elif flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
                self._refuse("a record that is too large")
            else:
                self._obey(unpack(data, len(descriptors)), descriptors)
        except BadOrder as error:
            self._refuse(str(error))
        finally:
            for fd in descriptors:
                os.close(fd)

    def _obey(self, order: Order, descriptors: list[int]) -> None:
        try:
            match order.kind:
                case Kind.START_ZYGOTE:
                    number, control, pidfd = self._zygotes.start(order.zygote_set, order.isolation)
                    try:
                        self._answer({"zygote": number}, [control.fileno(), pidfd])
                    finally:
                        control.close()
                        os.close(pidfd)
                case Kind.KILL_ZYGOTE:
                    self._zygotes.kill(order.number)
                case Kind.MAKE_GROUP:
                    zygote = self._zygotes.pid(order.number)
                    if zygote is None:
                        raise SandboxFault("its zygote has exited")
                    self._answer({"group": self._groups.make(zygote, descriptors[0])})
                case Kind.ASK_GROUP:
                    self._answer({"out_of_memory": self._groups.out_of_memory(order.number)})
                case Kind.KILL_GROUP:
                    self._groups.kill(order.number)
                case Kind.REMOVE_GROUP:
                    self._groups.remove(order.number)
        except (OSError, SandboxFault) as error:
            self._answer({"failed": str(error)[:2000]})

    def _answer(self, answer: dict[str, Any], descriptors: Sequence[int] = ()) -> None:
        if self._orders is None:
            return
        try:
            socket.send_fds(self._orders, [json.dumps(answer).encode()], descriptors)
        except BlockingIOError:
            self._refuse("it does not read its answers")
        except OSError:
            self._close()

    def _refuse(self, reason: str) -> None:
        """Stops reading from the shell, and kills it."""
        log.error("the shell sent an invalid order and is killed: %s", reason)
        self._close()
        self._kill_shell()

    def _kill_shell(self) -> bool:
        """Kills the shell if it is alive; returns whether it was. It has not been waited for, so its id is still its
        own."""
        if self._shell is None or self._shell.returncode is not None:
            return False
        os.kill(self._shell.pid, signal.SIGKILL)
        return True

    def _close(self) -> None:
        if self._orders is not None:
            self._orders.close()
            self._orders = None
            self._deadline = min(self._deadline or float("inf"), time.monotonic() + LEAVE_SECONDS)

    def _end(self, folder: str) -> None:
        """Stops whatever is left of the executor, and removes its groups and folders."""
        self._close()
        # Zygotes exit when the shell does, and kill their children.
        self._wait(lambda: not self._zygotes.live, LEAVE_SECONDS)
        self._zygotes.kill_all()
        self._wait(lambda: not linux.children_of(os.getpid()), REMOVE_SECONDS)
        self._wait(self._kill_the_rest, LEAVE_SECONDS)
        self._groups.remove_all()
        if folder:
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        if self._range is not None:
            self._range.close()

    @staticmethod
    def _kill_the_rest() -> bool:
        """Kills what should have exited by itself; returns whether there is none. What such a process started becomes
        our child when it dies."""
        left = linux.children_of(os.getpid())
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return not left

    def _wait(self, over: Callable[[], bool], seconds: float) -> None:
        self._deadline = time.monotonic() + seconds
        while True:
            self._wake()
            if over() or self._deadline is None:
                return
            self._turn()

    def _exit_code(self, code: int | None) -> int:
        if code is None:
            return 1
        if self._stopping and code == -signal.SIGTERM:
            return 0  # A stop was requested before the shell could listen for the signal.
        return code if code >= 0 else 128 - code


def _candidates(settings: Settings, root: bool) -> list[Isolation]:
    """Strongest first."""
    if settings.isolation:
        return [settings.isolation]
    return ["namespaces", "uid"] if root else ["rootless", "landlock"]
