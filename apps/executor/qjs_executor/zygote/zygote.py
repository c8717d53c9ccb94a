"""A zygote: imports one set of packages once and forks confined single-use children from that state.

It has one thread, executes no circuit, sees no job, and holds nothing that user code may not read, since a child
inherits all of its memory. It gets its configuration from the launcher and obeys the shell over one socket: {"fork":
slot, "uid": user}, with "host" for a child that hosts tasks, and "kill", "stop" and "continue" with a slot. It reports
"up", each child with its descriptors, how many processes it found running when it stopped a child, and each exit. When
the shell closes the socket or sends any other order, the zygote kills its children and exits.

Where there are namespaces, the zygote is the first process of a process namespace of its own: when it dies for any
reason, the kernel kills everything in that namespace, whatever an execution did to survive.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from dataclasses import dataclass
from typing import Any, NoReturn

from ..isolation import huge_pages, linux, written_pages
from ..isolation.private_root import build_shared_root, gpu_devices
from ..isolation.stopping import continue_run, stop_run
from ..job import SHARED_USER, SLOTS_MAX, WITH_NAMESPACES
from .output_streams import open_output_streams
from .zygote_child import Pipes, Plan, be_child

MESSAGE_BYTES_MAX = 64 * 1024
CHILDREN_MAX = 2 * SLOTS_MAX
"""Live children; the shell never needs more."""


@dataclass
class _Child:
    slot: int
    uid: int
    pid: int
    pidfd: int


def main() -> NoReturn:
    """Runs one zygote; the only argument is the number of its socket, which first delivers its configuration."""
    linux.die_with_parent()
    open_output_streams()
    control = socket.socket(fileno=int(sys.argv[1]))
    _Zygote(control, json.loads(control.recv(MESSAGE_BYTES_MAX))).run()


class _Zygote:
    def __init__(self, control: socket.socket, configuration: dict[str, Any]) -> None:
        self._control = control
        self._set: str = configuration["set"]
        self._folder: str = configuration["folder"]
        self._plan = Plan(**configuration["plan"])
        self._users = range(*configuration["users"])
        self._children: dict[int, _Child] = {}
        self._pid_namespace = -1
        self._written: list[written_pages.Range] = []

    def run(self) -> NoReturn:
        try:
            versions = self._prepare()
        except BaseException as error:
            self._report({"fault": f"{type(error).__name__}: {error}"[:2000]})
            os._exit(1)
        # In a process namespace of its own a zygote does not know the number by which other processes know it.
        itself = os.pidfd_open(os.getpid())
        own_bytes = sum(length for _, length in self._written)
        self._report({"up": {"versions": versions, "own_bytes": own_bytes}}, [itself])
        os.close(itself)
        while True:
            self._turn()

    def _prepare(self) -> dict[str, str]:
        from .preload import preload
        from .warm_up import rehearsals

        if self._plan.isolation in WITH_NAMESPACES:
            _become_first_process(self._control, own_user_namespace=self._plan.isolation == "rootless")
        # Imported modules stay loaded, so a search for garbage would only take time.
        gc.disable()
        versions = preload(self._set)
        gc.enable()
        if self._plan.isolation in WITH_NAMESPACES:
            self._pid_namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)
            linux.unshare(linux.CLONE_NEWNS)
            build_shared_root(self._folder, gpu_devices() if self._plan.gpu else ())
        threads = len(os.listdir("/proc/self/task"))
        if threads != 1:
            raise RuntimeError(f"{threads} threads after the imports: a fork would leave their locks held")
        # A collection in a child would touch, and so copy, everything that was imported.
        gc.collect()
        gc.freeze()
        huge_pages.gather()
        self._written = written_pages.learn(rehearsals(self._set))
        return versions

    def _turn(self) -> None:
        """Waits for one event: an order, or the exit of children."""
        watched = {child.pidfd: child for child in self._children.values()}
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        for pidfd in watched:
            poll.register(pidfd, select.POLLIN)
        for fd, _ in poll.poll():
            if fd in watched:
                self._end(watched[fd])
            else:
                self._obey()

    def _obey(self) -> None:
        order = self._control.recv(MESSAGE_BYTES_MAX)
        if not order:
            self._quit()
        try:
            message = json.loads(order)
        except (ValueError, RecursionError):
            self._quit()
        match message:
            case {"fork": int(slot), "uid": int(uid), **rest} if rest.keys() <= {"host"} and self._may_fork(slot, uid):
                self._fork(slot, uid, rest.get("host") is True)
            case {"kill": int(slot), **rest} if not rest:
                if (child := self._children.get(slot)) is not None:
                    self._kill(child)
                    self._report({"killing": slot})
            case {"stop": int(slot), **rest} if not rest:
                if (child := self._children.get(slot)) is not None:
                    self._report({"stopped": slot, "running": stop_run(child.pid, self._guarded)})
            case {"continue": int(slot), **rest} if not rest:
                if (child := self._children.get(slot)) is not None:
                    continue_run(child.pid, self._guarded)
            case _:
                self._quit()

    def _may_fork(self, slot: int, uid: int) -> bool:
        """The shell can only choose among the users of executions, and must not give one user to two live children."""
        if not 0 <= slot < 1 << 32 or slot in self._children or len(self._children) >= CHILDREN_MAX:
            return False
        own = self._plan.isolation not in SHARED_USER
        return uid in self._users and not (own and any(child.uid == uid for child in self._children.values()))

    def _fork(self, slot: int, uid: int, host: bool) -> None:
        opened: list[int] = []
        folder = ""
        try:
            folder = self._own_folder(slot, uid)
            for _ in range(4):
                opened += os.pipe()
            job_read, job_write, result_read, result_write, out_read, out_write, err_read, err_write = opened
            pid = self._fork_apart()
            if pid == 0:
                theirs = Pipes(job_read, result_write, out_write, err_write)
                be_child(self._plan, uid, folder, theirs, None if host else self._written)
            try:
                child = _Child(slot, uid, pid, os.pidfd_open(pid))
            except OSError:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                raise
        except OSError as error:
            # The machine or its temporary folder is full at the moment. That must not cost the children that live.
            for fd in opened:
                os.close(fd)
            if folder and self._guarded:
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
            self._report({"unforked": slot, "reason": str(error)})
            return
        self._children[slot] = child
        self._report({"child": slot}, [child.pidfd, job_write, result_read, out_read, err_read])
        # The executor holds the only copies now: a later child must not inherit the pipes of this one.
        for fd in opened:
            os.close(fd)

    @property
    def _guarded(self) -> bool:
        """Whether the process that was forked for an execution is its guard."""
        return self._pid_namespace < 0

    def _own_folder(self, slot: int, uid: int) -> str:
        """The child's working directory; a folder is created for it where it has no /tmp of its own."""
        if self._pid_namespace >= 0:
            return "/tmp"
        folder = f"{self._folder}/{slot}"
        os.mkdir(folder, 0o700)
        if self._plan.isolation not in SHARED_USER:
            os.chown(folder, uid, uid)
        return folder

    def _fork_apart(self) -> int:
        """Forks the first process of a new process namespace, where there are namespaces."""
        if self._pid_namespace < 0:
            return os.fork()
        linux.unshare(linux.CLONE_NEWPID)
        pid = -1
        try:
            pid = os.fork()
        finally:
            # Without this every later fork would land in that namespace, and fail once its first process is dead.
            if pid != 0:
                linux.join_namespace(self._pid_namespace, linux.CLONE_NEWPID)
        return pid

    def _kill(self, child: _Child) -> None:
        # Without a process namespace this is the execution's guard, which first kills what the execution started.
        number = signal.SIGKILL if self._pid_namespace >= 0 else signal.SIGTERM
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(child.pidfd, number)

    def _end(self, child: _Child) -> None:
        _, status = os.waitpid(child.pid, 0)
        del self._children[child.slot]
        os.close(child.pidfd)
        code = os.waitstatus_to_exitcode(status)
        self._report({"ended": child.slot, "status": ["signal", -code] if code < 0 else ["exit", code]})

    def _report(self, message: dict[str, Any], descriptors: list[int] | None = None) -> None:
        try:
            socket.send_fds(self._control, [json.dumps(message).encode()], descriptors or [])
        except OSError:
            self._quit()

    def _quit(self) -> NoReturn:
        for child in self._children.values():
            self._kill(child)
        for child in self._children.values():
            os.waitpid(child.pid, 0)
        os._exit(0)


def _become_first_process(control: socket.socket, own_user_namespace: bool) -> None:
    """Continues in a fork that is the first process of a process namespace of its own. The original process only waits
    for the fork, which dies with it. With `own_user_namespace` the fork has every right in that namespace, in which our
    user is the only one: a fork into a new process namespace and back needs rights over both."""
    if own_user_namespace:
        linux.enter_user_namespace(linux.CLONE_NEWPID)
    else:
        linux.unshare(linux.CLONE_NEWPID)
    pid = os.fork()
    if pid != 0:
        # The shell notices the fork's death by the socket, even while the kernel still waits for its children to die.
        control.close()
        os.waitpid(pid, 0)
        os._exit(0)
    linux.die_with_parent()


if __name__ == "__main__":
    main()
