"""The addresses on which the shell will listen, bound while the process can still take a port below 1024."""

from __future__ import annotations

import contextlib
import socket

from .handover import LISTENERS_MAX


def bind(host: str, port: int) -> list[socket.socket]:
    """A bound socket for every address of the host. None listens yet: until the shell does, connections are refused
    rather than left waiting. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    bound: list[socket.socket] = []
    try:
        for family, kind, protocol, _, address in dict.fromkeys(found):
            if len(bound) == LISTENERS_MAX:
                break
            listener = socket.socket(family, kind, protocol)
            bound.append(listener)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                listener.bind(address)
            except OSError as error:
                raise OSError(error.errno, f"{host} port {port}: {error.strerror}") from None
    except BaseException:
        for listener in bound:
            with contextlib.suppress(OSError):
                listener.close()
        raise
    return bound
