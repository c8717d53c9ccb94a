"""Reads messages from a child that may be hostile: the declared length is checked before a byte of the body is read."""

from __future__ import annotations

import asyncio
from typing import Any

from .strict_json import NotStrictJson, parse_object


class BadFrame(Exception):
    """The bytes are not an acceptable message; nothing more is read from that side."""


async def read_frame(reader: asyncio.StreamReader, bytes_max: int) -> dict[str, Any] | None:
    """The next message of at most `bytes_max` bytes, or None at the end of the stream; only for small messages, because
    nothing else happens while it is parsed. Raises BadFrame."""
    body = await read_body(reader, bytes_max)
    if body is None:
        return None
    try:
        return parse_object(body)
    except NotStrictJson as error:
        raise BadFrame(f"it is not acceptable JSON: {error}") from None


async def read_body(reader: asyncio.StreamReader, bytes_max: int) -> bytes | None:
    """The bytes of the next message, unparsed, or None at the end of the stream. Raises BadFrame."""
    try:
        size = int.from_bytes(await reader.readexactly(4), "little")
    except asyncio.IncompleteReadError as error:
        if error.partial:
            raise BadFrame("it ends inside a length") from None
        return None
    if size > bytes_max:
        raise BadFrame(f"it declares {size} bytes, the limit is {bytes_max}")
    try:
        return await reader.readexactly(size)
    except asyncio.IncompleteReadError:
        raise BadFrame(f"it ends before the {size} bytes that it declares") from None
