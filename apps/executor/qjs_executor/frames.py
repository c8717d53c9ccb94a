"""Messages on the job and result pipes: a length in 4 little-endian bytes, then that many bytes of JSON.

This is the blocking half, for the child; `frame_reader` is the shell's half.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

# Bound now, because an execution's code may replace the originals.
_dumps = json.dumps
_write = os.write


def pack(message: Mapping[str, Any]) -> bytes:
    """One message as bytes. Raises ValueError, TypeError or RecursionError for what JSON cannot express."""
    body = _dumps(message, allow_nan=False, separators=(",", ":")).encode("ascii")
    return len(body).to_bytes(4, "little") + body


def receive(fd: int) -> dict[str, Any] | None:
    """Blocks until the next message on `fd`; None when the other side has closed it. Only for the trusted direction,
    from the executor to the child: the length is not limited."""
    header = _read_exactly(fd, 4)
    if len(header) < 4:
        return None
    size = int.from_bytes(header, "little")
    body = _read_exactly(fd, size)
    if len(body) < size:
        return None
    message: dict[str, Any] = json.loads(body)
    return message


def send(fd: int, data: bytes) -> None:
    """Blocks until all of `data` is in the pipe."""
    view = memoryview(data)
    while view:
        view = view[_write(fd, view) :]


def _read_exactly(fd: int, size: int) -> bytes:
    parts: list[bytes] = []
    while size > 0:
        part = os.read(fd, min(size, 1 << 20))
        if not part:
            break
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
