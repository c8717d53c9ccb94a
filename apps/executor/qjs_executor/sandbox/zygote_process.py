"""A zygote, seen from the shell: started by the launcher, ordered to fork and to kill, watched until it exits."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from collections.abc import Callable
from typing import Any

from ..isolation.linux import pid_of
from ..job import Isolation, SandboxFault, ZygoteSet
from ..launcher.client import LauncherClient
from ..logs import log
from .pooled_child import PooledChild

UP_SECONDS = 120.0
"""The imports take 2 to 15 s; a cold and busy machine gets much more."""
END_SECONDS = 2.0
CHILDREN_SECONDS = 2.0
"""How long the end of a zygote is held up by children that the kernel takes time to kill."""
MESSAGE_BYTES_MAX = 64 * 1024
DESCRIPTORS = 5


class ZygoteProcess:
    """One zygote and its live children. `lost` is done when it has exited, intentionally or not."""

    def __init__(
        self,
        number: int,
        control: socket.socket,
        pidfd: int,
        kill: Callable[[], None],
        on_child: Callable[[ZygoteProcess, PooledChild], None],
        on_unforked: Callable[[ZygoteProcess, int, str], None],
    ) -> None:
        self.number = number
        self.versions: dict[str, str] = {}
        self.own_bytes = 0
        """Memory that each child copies before it has a job."""
        self.started = time.monotonic()
        self.children: dict[int, PooledChild] = {}
        self.forking: dict[int, int] = {}
        """Users of the children on their way, by slot; `hosts` are the slots of those that will host tasks."""
        self.hosts: set[int] = set()
        self.fault = ""
        loop = asyncio.get_running_loop()
        self.lost: asyncio.Future[None] = loop.create_future()
        self._up: asyncio.Future[None] = loop.create_future()
        self._kill = kill
        self._on_child = on_child
        self._on_unforked = on_unforked
        self._slots = 0
        self._control = control
        self._control.setblocking(False)
        self._pidfd = pidfd
        self.pid = self.inner_pid = pid_of(pidfd)
        loop.add_reader(self._control.fileno(), self._receive)
        loop.add_reader(self._pidfd, self._ended)

    @classmethod
    async def start(
        cls,
        launcher: LauncherClient,
        zygote_set: ZygoteSet,
        isolation: Isolation,
        on_child: Callable[[ZygoteProcess, PooledChild], None],
        on_unforked: Callable[[ZygoteProcess, int, str], None],
    ) -> ZygoteProcess:
        """Makes the launcher start a zygote. `on_unforked` gets the user of a child that could not be forked, and the
        reason. Raises SandboxFault."""
        number, control, pidfd = await launcher.start_zygote(zygote_set, isolation)
        return cls(number, control, pidfd, lambda: launcher.kill_zygote(number), on_child, on_unforked)

    @property
    def is_up(self) -> bool:
        """Whether its imports are done."""
        return self._up.done()

    async def up(self) -> None:
        """Waits until the imports are done. Raises SandboxFault."""
        await asyncio.wait([self._up, self.lost], timeout=UP_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not self._up.done():
            self.kill()
            raise SandboxFault(f"a zygote did not start: {self.fault or 'it exited or took too long'}")

    def fork(self, uid: int, host: bool = False) -> None:
        """Orders one more child, or a host of tasks, which arrives at `on_child`."""
        slot = self._slots
        self._slots += 1
        self.forking[slot] = uid
        if host:
            self.hosts.add(slot)
        self._order({"fork": slot, "uid": uid, **({"host": True} if host else {})})

    def kill(self) -> None:
        """Kills the zygote; its children die with it. Idempotent."""
        if not self.lost.done():
            self._kill()

    async def close(self) -> None:
        """Makes the zygote kill its children and exit; returns when all of them are dead, or after a time in which the
        kernel should have killed them."""
        self._order(None)
        timer = asyncio.get_running_loop().call_later(END_SECONDS, self.kill)
        await asyncio.shield(self.lost)
        timer.cancel()
        if self.children:
            await asyncio.wait([child.ended for child in self.children.values()], timeout=CHILDREN_SECONDS)

    def _order(self, order: dict[str, Any] | None) -> None:
        # A zygote that does not read its orders, or has exited, is noticed by its exit.
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
        """Reads everything that the zygote has sent so far."""
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES_MAX, DESCRIPTORS)
            except BlockingIOError:
                return
            except OSError:
                data, descriptors = b"", []
            if not data:
                asyncio.get_running_loop().remove_reader(self._control.fileno())
                # It has died, but the process that waits for it exits only after the last of its children.
                self.kill()
                return
            self._handle(json.loads(data), list(descriptors))

    def _handle(self, message: dict[str, Any], descriptors: list[int]) -> None:
        if "up" in message:
            self.versions = message["up"]["versions"]
            self.own_bytes = message["up"]["own_bytes"]
            self.inner_pid = pid_of(descriptors[0])
            os.close(descriptors[0])
            self._up.set_result(None)
        elif "child" in message:
            slot = message["child"]
            uid = self.forking.pop(slot)
            child = PooledChild(slot, uid, descriptors, lambda order: self._order({order: slot}), self.kill)
            child.is_host = slot in self.hosts
            self.hosts.discard(slot)
            self.children[slot] = child
            self._on_child(self, child)
        elif "stopped" in message:
            if (stopped := self.children.get(message["stopped"])) is not None:
                stopped.on_stopped(message["running"])
        elif "killing" in message:
            if (killed := self.children.get(message["killing"])) is not None:
                killed.kill_obeyed = True
        elif "unforked" in message:
            slot = message["unforked"]
            self.hosts.discard(slot)
            self._on_unforked(self, self.forking.pop(slot), message["reason"])
        elif "ended" in message:
            kind, number = message["status"]
            self._settle(self.children.pop(message["ended"]), (kind, number))
        else:
            self.fault = str(message.get("fault"))
            log.error("a zygote cannot continue: %s", self.fault)
            self.kill()

    def _ended(self) -> None:
        loop = asyncio.get_running_loop()
        loop.remove_reader(self._pidfd)
        self._receive()
        loop.remove_reader(self._control.fileno())
        os.close(self._pidfd)
        self._control.close()
        for child in self.children.values():
            self._settle(child, None)
        self.lost.set_result(None)

    @staticmethod
    def _settle(child: PooledChild, status: tuple[str, int] | None) -> None:
        if not child.status.done():
            child.status.set_result(status)
