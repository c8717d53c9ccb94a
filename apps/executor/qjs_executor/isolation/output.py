"""Reads the output of an execution, stream by stream."""

from __future__ import annotations

import asyncio
import fcntl
import os
import struct
import termios
from collections.abc import Callable
from dataclasses import dataclass

from ..job import Limits


@dataclass
class Output:
    """The output of one stream: its first bytes, and whether there were more."""

    kept: bytes = b""
    total: int = 0

    @property
    def truncated(self) -> bool:
        """Whether more was printed than is kept."""
        return self.total > len(self.kept)


class OutputReader(asyncio.Protocol):
    """Reads one stream up to its flood limit. `limits` are those of the current execution, and `follower` gets all that
    it prints; `closed` is done when no process can print any more, `flooded` when the limit is exceeded."""

    def __init__(self) -> None:
        self.output = Output()
        self.limits = Limits()
        self.follower: Callable[[bytes], None] | None = None
        loop = asyncio.get_running_loop()
        self.closed: asyncio.Future[None] = loop.create_future()
        self.flooded: asyncio.Future[None] = loop.create_future()
        self._transport: asyncio.ReadTransport | None = None

    async def connect(self, fd: int) -> asyncio.BaseTransport:
        """Starts to read; the transport owns the descriptor from now on."""
        file = os.fdopen(fd, "rb", buffering=0)
        self._transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: self, file)
        return self._transport

    @property
    def is_reading(self) -> bool:
        """Whether the stream is still open."""
        return self._transport is not None and not self.closed.done() and not self.flooded.done()

    def data_received(self, data: bytes) -> None:
        """See `asyncio.Protocol`."""
        output, limits = self.output, self.limits
        output.total += len(data)
        output.kept += data[: limits.output_bytes - len(output.kept)]
        if self.follower is not None:
            self.follower(data)
        if output.total > limits.flood_bytes and not self.flooded.done():
            self.flooded.set_result(None)
            if self._transport is not None:
                self._transport.pause_reading()

    def connection_lost(self, _: Exception | None) -> None:
        """See `asyncio.Protocol`."""
        if not self.closed.done():
            self.closed.set_result(None)

    async def read_up(self) -> None:
        """Returns when everything printed so far has been read, or the limit is exceeded."""
        while not self.flooded.done() and self._waiting() > 0:
            await asyncio.sleep(0)

    def _waiting(self) -> int:
        """The number of bytes in the pipe."""
        if self._transport is None or self._transport.is_closing():
            return 0
        buffer = fcntl.ioctl(self._transport.get_extra_info("pipe").fileno(), termios.FIONREAD, bytes(4))
        count: int = struct.unpack("i", buffer)[0]
        return count
