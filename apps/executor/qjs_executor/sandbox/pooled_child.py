"""One pre-forked child, seen from the shell: prepared, given one job, read from, killed, cleaned up."""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
from collections.abc import Callable
from typing import Any, Literal

from .. import frames
from ..execution_request import ExecutionRequest
from ..isolation.linux import pid_of
from ..isolation.memory_watch import held_bytes, idle_bytes, watch_memory
from ..isolation.output import Output, OutputReader
from ..job import Limits, SandboxFault
from ..launcher.client import ExecutionGroup
from ..logs import facts, log
from ..zygote.zygote_child import CPU_SECONDS_MAX

DRAIN_SECONDS = 1.0
"""Output pipes close at once after an execution's death; this bounds the wait should one stay open."""
KILL_SECONDS = 2.0
"""An execution normally dies within milliseconds; after this time its control group is killed too."""
OBEY_SECONDS = 10.0
"""A zygote that has not obeyed the order to kill by then no longer works, and is killed with its children. One that has
not answered the order to stop is taken for one."""
GIVE_UP_SECONDS = 30.0
"""An execution with many processes and much memory takes the kernel seconds to kill. That must not cost the other
executions of its zygote, so what is still alive by then is left to the kernel."""
STOP_SECONDS = 10.0
"""Processes normally stop at the first pass; this bounds the attempts at those that wake each other up. It is longer
than a busy machine lets a process stand still, because a process stops only once it gets the processor."""
PASS_SECONDS = 0.005
"""Between two passes that found a process running. Passes that follow at once would use the processor that it needs."""

_Order = Literal["kill", "stop", "continue"]


class PooledChild:
    """A child of a zygote. `kill` has its zygote kill it; `reap` returns once nothing of the execution is alive."""

    def __init__(
        self,
        slot: int,
        uid: int,
        descriptors: list[int],
        order: Callable[[_Order], None],
        kill_zygote: Callable[[], None],
    ) -> None:
        self.slot = slot
        self.uid = uid
        self._outputs = (OutputReader(), OutputReader())
        self.group: ExecutionGroup | None = None
        self.pidfd, self._job_fd, self._result_fd, self._stdout_fd, self._stderr_fd = descriptors
        self._ends = set(descriptors)
        self.pid = pid_of(self.pidfd)
        self.layers: list[str] = []
        self.is_host = False
        """It forks a process for each of its jobs, which are tasks of one job."""
        self.given = False
        """A job is on its way to it, or was sent."""
        self.kill_obeyed = False
        """Its zygote has reported that it kills it."""
        self.over_memory = False
        """It was killed because the execution as a whole exceeded its memory."""
        self._idle_bytes = 0
        self._order = order
        self._kill_zygote = kill_zygote
        self._limits = Limits()
        self._transports: list[asyncio.BaseTransport] = []
        self._writer: asyncio.StreamWriter | None = None
        self._stopped: asyncio.Future[int] | None = None
        loop = asyncio.get_running_loop()
        self.status: asyncio.Future[tuple[str, int] | None] = loop.create_future()
        self.ended: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self.pidfd, self._on_end)

    def _on_end(self) -> None:
        asyncio.get_running_loop().remove_reader(self.pidfd)
        if not self.ended.done():
            self.ended.set_result(None)

    @property
    def stdout(self) -> Output:
        """What the current execution has printed."""
        return self._outputs[0].output

    @property
    def stderr(self) -> Output:
        """What the current execution has printed to standard error."""
        return self._outputs[1].output

    async def listen(self) -> None:
        """Starts to read the child's messages and its output."""
        self._reader = await self._connect(self._result_fd)
        for output, fd in zip(self._outputs, (self._stdout_fd, self._stderr_fd), strict=True):
            self._ends.discard(fd)
            self._transports.append(await output.connect(fd))

    def give(self, limits: Limits) -> None:
        """Sets the limits of the next job."""
        self._limits = limits
        for output in self._outputs:
            output.limits = limits
        self.given = True

    def follow(self, printed: Callable[[bytes], None] | None) -> None:
        """Has `printed` called with all that is printed from now on."""
        self._outputs[0].follower = printed

    async def renew(self) -> None:
        """Prepares a host for its next task: what is printed from now on belongs to that task."""
        for output in self._outputs:
            await output.read_up()
            output.output = Output()

    async def open(self) -> asyncio.StreamReader:
        """The stream of the child's messages."""
        return self._reader

    async def send(self, request: ExecutionRequest, answers_follow: bool) -> None:
        """Sends the request. A child that dies during this is noticed by its exit, not here. The channel stays open
        when answers will follow, or further jobs for a host."""
        if self._writer is None:
            await self._open_channel()
        assert self._writer is not None
        # Every stretch has its own wall time; only the first one's is known now.
        cpu_seconds = CPU_SECONDS_MAX if answers_follow else math.ceil(self._limits.wall_seconds) + 1
        try:
            await self.write({"cpu_seconds": cpu_seconds, "request": request.message()})
        finally:
            if not answers_follow and not self.is_host:
                self._writer.close()

    async def _open_channel(self) -> None:
        loop = asyncio.get_running_loop()
        self._ends.discard(self._job_fd)
        transport, protocol = await loop.connect_write_pipe(
            asyncio.streams.FlowControlMixin, os.fdopen(self._job_fd, "wb", buffering=0)
        )
        # With this, the whole message is in the pipe when `drain` returns.
        transport.set_write_buffer_limits(0)
        self._writer = asyncio.StreamWriter(transport, protocol, None, loop)
        self._transports.append(transport)

    async def write(self, message: dict[str, Any]) -> None:
        """Sends a message after the request; returns when the child has room for all of it, or is dead."""
        assert self._writer is not None
        with contextlib.suppress(ConnectionError):
            self._writer.write(frames.pack(message))
            await self._writer.drain()

    async def stop(self) -> None:
        """Stops all processes of the execution. Raises SandboxFault when they do not stay stopped."""
        deadline = asyncio.get_running_loop().time() + STOP_SECONDS
        # The first pass nearly always finds some, and no pause is owed to that.
        await self.running()
        quiet = 0
        # Twice, because the second pass finds processes that were woken after the first one.
        while quiet < 2:
            quiet = quiet + 1 if await self.running() == 0 else 0
            if quiet == 0:
                if asyncio.get_running_loop().time() > deadline:
                    raise SandboxFault("its processes do not stop")
                await asyncio.sleep(PASS_SECONDS)

    async def running(self) -> int:
        """Stops the processes of the execution; returns how many were running. Raises SandboxFault when it is dead."""
        self._stopped = asyncio.get_running_loop().create_future()
        self._order("stop")
        ends: list[asyncio.Future[Any]] = [self._stopped, self.ended]
        await asyncio.wait(ends, timeout=OBEY_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not self._stopped.done():
            raise SandboxFault("it is dead or its zygote does not answer")
        return self._stopped.result()

    def on_stopped(self, running: int) -> None:
        """Takes the zygote's answer to the order to stop."""
        if self._stopped is not None and not self._stopped.done():
            self._stopped.set_result(running)

    def resume(self) -> None:
        """Continues the stopped processes of the execution."""
        if not self.ended.done():
            self._order("continue")

    async def flooded(self) -> None:
        """Waits until one of the output streams exceeds its limit, which may never happen."""
        await asyncio.wait([output.flooded for output in self._outputs], return_when=asyncio.FIRST_COMPLETED)

    @property
    def is_flooded(self) -> bool:
        """Whether an output stream has exceeded its limit."""
        return any(output.flooded.done() for output in self._outputs)

    async def printed(self) -> None:
        """Waits until everything that the execution printed has been read: its streams are closed, or it is dead."""
        streams = asyncio.gather(*(asyncio.shield(output.closed) for output in self._outputs))
        ends: list[asyncio.Future[Any]] = [streams, self.status]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)

    async def printed_so_far(self) -> None:
        """Waits until everything that the execution has printed so far has been read."""
        for output in self._outputs:
            await output.read_up()

    async def exit_status(self) -> tuple[str, int] | None:
        """Waits until the execution exits: ("exit", code), ("signal", number), ("memory", number) when it was killed
        because of its memory; None when its zygote died."""
        status = await asyncio.shield(self.status)
        return None if status is None else await self.status_with_memory(status)

    async def status_with_memory(self, status: tuple[str, int]) -> tuple[str, int]:
        """The status of a process of the execution, as `exit_status` reports it."""
        if status[0] == "signal" and (self.over_memory or await self._out_of_memory()):
            return "memory", status[1]
        return status

    async def _out_of_memory(self) -> bool:
        try:
            return self.group is not None and await self.group.out_of_memory()
        except OSError:
            return False

    def kill(self) -> None:
        """Asks the zygote to kill the execution; idempotent."""
        if not self.ended.done():
            self._order("kill")

    def measure_idle(self) -> None:
        """Measures what it shares with its zygote; must precede its job."""
        self._idle_bytes = idle_bytes(self.pid)

    def memory_bytes(self) -> int:
        """What the execution holds beyond that, after `measure_idle`."""
        return held_bytes(self.pid, self._idle_bytes)

    async def watch_memory(self, budget_bytes: int, own_network: bool) -> None:
        """Kills the execution when all of it together holds more than this; the caller cancels it when the execution
        finishes. `own_network`: it has a network namespace of its own."""

        def kill() -> None:
            self.over_memory = True
            self.kill()

        await watch_memory(self.pid, budget_bytes, kill, own_network)

    async def reap(self) -> bool:
        """Kills the execution and returns whether it is dead, with its output collected and its group removed. It is
        given up when the kernel does not kill it in time; `ended` then still shows its death."""
        self.kill()
        dead = await self._dies()
        if not dead:
            log.error("an execution does not die and is given up", extra=facts(pid=self.pid, uid=self.uid))
        if open_ends := [output.closed for output in self._outputs if output.is_reading]:
            await asyncio.wait(open_ends, timeout=DRAIN_SECONDS)
        for transport in self._transports:
            transport.close()
        if not dead:
            self._ends.discard(self.pidfd)
            self.ended.add_done_callback(lambda _: os.close(self.pidfd))
        for fd in self._ends:
            os.close(fd)
        self._ends.clear()
        if self.group is not None:
            self.group.remove()
        return dead

    async def _dies(self) -> bool:
        """Waits for the death of a killed execution, and takes further measures when it does not come."""
        ends: list[asyncio.Future[Any]] = [self.ended, self.status]
        waited = 0.0
        for until, measure in (
            (KILL_SECONDS, self._kill_group),
            (OBEY_SECONDS, self._kill_deaf_zygote),
            (GIVE_UP_SECONDS, lambda: None),
        ):
            _, alive = await asyncio.wait(ends, timeout=until - waited)
            if not alive:
                return True
            waited = until
            measure()
        return False

    def _kill_group(self) -> None:
        if self.group is not None:
            self.group.kill()

    def _kill_deaf_zygote(self) -> None:
        if not self.kill_obeyed and not self.status.done():
            log.error("a zygote does not obey", extra=facts(pid=self.pid))
            self._kill_zygote()

    async def _connect(self, fd: int) -> asyncio.StreamReader:
        reader = asyncio.StreamReader()
        self._ends.discard(fd)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(fd, "rb", buffering=0)
        )
        self._transports.append(transport)
        return reader
