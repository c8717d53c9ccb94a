"""A zygote, seen from the HTTP process: started, told to fork and to kill, noticed when it dies."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from ..service.logs import log
from .pooled_child import PooledChild, pid_of
from .seam import SandboxFault, ZygoteSet
from .work_folder import make_work_folder, remove_tree
from .zygote_child import Plan

UP_SECONDS = 120.0
"""The imports take 2 to 15 s; a cold and busy machine gets much more."""
END_SECONDS = 2.0
REMOVE_SECONDS = 10.0
"""For what runs have left on the disk; the next executor removes what remains."""
MESSAGE_BYTES_MAX = 64 * 1024
DESCRIPTORS = 5

_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_BOOT = f"import sys; sys.path.append({_PACKAGE_FOLDER!r}); from qjs_executor.sandbox.zygote import main; main()"
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "Agg",
    "QISKIT_PARALLEL": "FALSE",
    "QISKIT_NUM_PROCS": "1",
    **{
        f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "RAYON")
    },  # One slot is one core, and a zygote with threads cannot fork.
}


class ZygoteProcess:
    """One zygote and its live children. `lost` is done when it has ended, by our will or not."""

    def __init__(
        self, zygote_set: ZygoteSet, plan: Plan, on_child: Callable[[ZygoteProcess, PooledChild], None]
    ) -> None:
        self.versions: dict[str, str] = {}
        self.own_bytes = 0
        """Memory that each child copies before it has a job."""
        self.started = time.monotonic()
        self.children: dict[int, PooledChild] = {}
        self.forking: dict[int, int] = {}
        self.fault = ""
        loop = asyncio.get_running_loop()
        self.lost: asyncio.Future[None] = loop.create_future()
        self._up: asyncio.Future[None] = loop.create_future()
        self._on_child = on_child
        self._slots = 0
        self._folder = make_work_folder()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.setblocking(False)
        with theirs:
            try:
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-B", "-c", _BOOT, str(theirs.fileno())],
                    env={**_ENVIRONMENT, "HOME": self._folder, "NUMBA_CACHE_DIR": self._folder},
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )
            except OSError:
                self._control.close()
                os.rmdir(self._folder)
                raise
        self.pid = self.inner_pid = self._process.pid
        self._control.send(json.dumps({"set": zygote_set, "folder": self._folder, "plan": asdict(plan)}).encode())
        self._pidfd = os.pidfd_open(self.pid)
        loop.add_reader(self._control.fileno(), self._receive)
        loop.add_reader(self._pidfd, self._ended)

    async def up(self) -> None:
        """Waits until the imports are done. Raises SandboxFault."""
        await asyncio.wait([self._up, self.lost], timeout=UP_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not self._up.done():
            self.kill()
            raise SandboxFault(f"a zygote did not start: {self.fault or 'it ended or took too long'}")

    def fork(self, uid: int) -> None:
        """Asks for one more child, which arrives at `on_child`."""
        slot = self._slots
        self._slots += 1
        self.forking[slot] = uid
        self._order({"fork": slot, "uid": uid})

    def kill(self) -> None:
        """Kills the zygote; its children die with it. Idempotent."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)

    async def close(self) -> None:
        """Lets the zygote end its children and itself; returns when all of them are dead."""
        self._order(None)
        timer = asyncio.get_running_loop().call_later(END_SECONDS, self.kill)
        await asyncio.shield(self.lost)
        timer.cancel()
        if self.children:
            await asyncio.wait([asyncio.ensure_future(child.ended) for child in self.children.values()])
        with contextlib.suppress(OSError):
            await asyncio.to_thread(remove_tree, self._folder, REMOVE_SECONDS)

    def _order(self, order: dict[str, Any] | None) -> None:
        # A zygote that does not read its orders, or has ended, is noticed by its end.
        try:
            if order is None:
                self._control.shutdown(socket.SHUT_WR)
            else:
                self._control.send(json.dumps(order).encode())
        except BlockingIOError:
            self.fault = "it does not read its orders"
            self.kill()
        except OSError:
            pass

    def _receive(self) -> None:
        """Everything that the zygote has said so far."""
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES_MAX, DESCRIPTORS)
            except BlockingIOError:
                return
            except OSError:
                data, descriptors = b"", []
            if not data:
                asyncio.get_running_loop().remove_reader(self._control.fileno())
                return
            self._heard(json.loads(data), list(descriptors))

    def _heard(self, message: dict[str, Any], descriptors: list[int]) -> None:
        if "up" in message:
            self.versions = message["up"]["versions"]
            self.own_bytes = message["up"]["own_bytes"]
            self.inner_pid = pid_of(descriptors[0])
            os.close(descriptors[0])
            self._up.set_result(None)
        elif "child" in message:
            slot = message["child"]
            uid = self.forking.pop(slot)
            child = PooledChild(slot, uid, descriptors, lambda: self._order({"kill": slot}), self.kill)
            self.children[slot] = child
            self._on_child(self, child)
        elif "ended" in message:
            kind, number = message["status"]
            self._settle(self.children.pop(message["ended"]), (kind, number))
        else:
            self.fault = str(message.get("fault") or message.get("reason"))
            log.error("a zygote cannot go on: %s", self.fault)
            self.kill()

    def _ended(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._pidfd)
        self._receive()
        loop.remove_reader(self._control.fileno())
        os.close(self._pidfd)
        self._process.wait()
        self._control.close()
        for child in self.children.values():
            self._settle(child, None)
        self.lost.set_result(None)

    @staticmethod
    def _settle(child: PooledChild, status: tuple[str, int] | None) -> None:
        if not child.status.done():
            child.status.set_result(status)
