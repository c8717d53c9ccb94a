"""The shell's half of the orders: it sends them to the launcher and waits for the answers, which arrive in the same
order."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections import deque
from collections.abc import Callable
from typing import Any

from ..job import Isolation, SandboxFault, ZygoteSet
from .handover import Handover
from .orders import ANSWER_BYTES_MAX, Kind, Order

ANSWER_SECONDS = 30.0
"""An answer takes milliseconds; the first for each isolation up to 10 s, since its requirements are tried first."""
_DESCRIPTORS_MAX = 2

_Answer = tuple[dict[str, Any], list[int]]
_Undo = Callable[[dict[str, Any], list[int]], None]


class LauncherClient:
    """Sends orders on the socket to the launcher. `lost` is done when the launcher has exited."""

    def __init__(self, handover: Handover, orders: socket.socket) -> None:
        self.handover = handover
        self._orders = orders
        self._orders.setblocking(False)
        self._waiting: deque[tuple[asyncio.Future[_Answer], _Undo]] = deque()
        loop = asyncio.get_running_loop()
        self.lost: asyncio.Future[None] = loop.create_future()
        loop.add_reader(orders.fileno(), self._receive)

    async def start_zygote(self, zygote_set: ZygoteSet, isolation: Isolation) -> tuple[int, socket.socket, int]:
        """Starts a zygote. Returns its number, its control socket and its pidfd; the caller owns both. Raises
        SandboxFault."""
        order = Order(Kind.START_ZYGOTE, zygote_set=zygote_set, isolation=isolation)
        try:
            answer, (control, pidfd) = await self._request(order, _close_all)
        except OSError as error:
            raise SandboxFault(str(error)) from error
        return answer["zygote"], socket.socket(fileno=control), pidfd

    def kill_zygote(self, number: int) -> None:
        """Kills a zygote; its children die with it. Its pidfd shows when."""
        self._send_or_lose(Order(Kind.KILL_ZYGOTE, number))

    async def make_group(self, zygote: int, child: int) -> ExecutionGroup:
        """Puts a child of a zygote, identified by its pidfd, into a control group of its own. Raises OSError."""
        order = Order(Kind.MAKE_GROUP, zygote)
        answer, _ = await self._request(order, lambda late, _: ExecutionGroup(late["group"], self).remove(), [child])
        return ExecutionGroup(answer["group"], self)

    async def out_of_memory(self, group: int) -> bool:
        """See `ExecutionGroup`."""
        answer, _ = await self._request(Order(Kind.ASK_GROUP, group), _close_all)
        return bool(answer["out_of_memory"])

    def kill_group(self, group: int) -> None:
        """See `ExecutionGroup`."""
        self._send_or_lose(Order(Kind.KILL_GROUP, group))

    def remove_group(self, group: int) -> None:
        """See `ExecutionGroup`."""
        self._send_or_lose(Order(Kind.REMOVE_GROUP, group))

    def close(self) -> None:
        """Closes the socket: the launcher then stops everything that it has started."""
        self._lose()
        self._orders.close()

    async def _request(self, order: Order, undo: _Undo, descriptors: list[int] | None = None) -> _Answer:
        """Sends an order and returns the answer; raises OSError with the reason when the order failed. What was created
        for a caller that no longer waits is undone."""
        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._send(order, descriptors or [])
        self._waiting.append((answer, undo))
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                message, received = await answer
        except BaseException:
            if answer.done() and not answer.cancelled() and answer.exception() is None:
                _undo_answer(undo, *answer.result())
            raise
        if "failed" in message:
            raise OSError(message["failed"])
        return message, received

    def _send_or_lose(self, order: Order) -> None:
        try:
            self._send(order, [])
        except OSError:
            self._lose()

    def _send(self, order: Order, descriptors: list[int]) -> None:
        if self.lost.done():
            raise ConnectionError("the launcher has exited")
        socket.send_fds(self._orders, [order.pack()], descriptors)

    def _receive(self) -> None:
        while True:
            try:
                data, descriptors, _, _ = socket.recv_fds(self._orders, ANSWER_BYTES_MAX, _DESCRIPTORS_MAX)
            except BlockingIOError:
                return
            except OSError:
                data, descriptors = b"", []
            if not data:
                self._lose()
                return
            message = json.loads(data)
            answer, undo = self._waiting.popleft()
            if answer.done():
                _undo_answer(undo, message, list(descriptors))
            else:
                answer.set_result((message, list(descriptors)))

    def _lose(self) -> None:
        if self.lost.done():
            return
        asyncio.get_running_loop().remove_reader(self._orders.fileno())
        self.lost.set_result(None)
        for answer, _ in self._waiting:
            if not answer.done():
                answer.set_exception(ConnectionError("the launcher has exited"))
        self._waiting.clear()


class ExecutionGroup:
    """The control group of one execution, created and read by the launcher."""

    def __init__(self, number: int, launcher: LauncherClient) -> None:
        self._number: int | None = number
        self._launcher = launcher

    async def out_of_memory(self) -> bool:
        """Whether the kernel has killed a process of this group because it exceeded its memory; False once the group is
        removed. Raises OSError."""
        return self._number is not None and await self._launcher.out_of_memory(self._number)

    def kill(self) -> None:
        """Kills every process of the group."""
        if self._number is not None:
            self._launcher.kill_group(self._number)

    def remove(self) -> None:
        """Removes the group, whose processes have exited. Idempotent."""
        if self._number is not None:
            self._launcher.remove_group(self._number)
            self._number = None


def _undo_answer(undo: _Undo, message: dict[str, Any], descriptors: list[int]) -> None:
    if "failed" not in message:
        undo(message, descriptors)


def _close_all(_: dict[str, Any], descriptors: list[int]) -> None:
    """Undoes a start too: a zygote exits when its socket is closed."""
    for fd in descriptors:
        os.close(fd)
