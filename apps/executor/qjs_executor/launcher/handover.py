"""The handover from the launcher to the shell before the first order: the settings with the secret, the listening
addresses, and the findings about the machine."""

from __future__ import annotations

import json
import socket
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..isolation import cgroups
from ..job import Isolation
from ..settings import Settings

_BYTES_MAX = 64 * 1024
LISTENERS_MAX = 16
"""Addresses that a host name can have."""


@dataclass(frozen=True)
class Handover:
    """`user` is the launcher's own; `users` is the first user of executions and the one after the last."""

    settings: Settings
    launcher: int
    """The launcher's process id: killing it kills the executor."""
    isolations: list[Isolation]
    """The kinds of isolation to try, strongest first. A kind that would let root's executions be root is never among
    them."""
    user: int
    users: tuple[int, int]
    shell_user: int | None
    """The user that the shell has to become; None where it has no choice."""
    shell_folder: str
    """An empty folder for the shell's root, where it has a user of its own."""
    cgroup: cgroups.Kind
    how_to_fix: str
    """Advice for the operator where no isolation works."""


def send_handover(handover: Handover, listeners: Sequence[socket.socket], shell: socket.socket) -> None:
    """Sends the handover; `shell` is the socket on which the orders will come. Raises OSError."""
    data = json.dumps(asdict(handover)).encode()
    socket.send_fds(shell, [data], [listener.fileno() for listener in listeners])


def receive_handover(launcher: socket.socket) -> tuple[Handover, list[socket.socket]]:
    """Waits for the handover and the bound sockets, which do not listen yet. Raises OSError."""
    data, descriptors, _, _ = socket.recv_fds(launcher, _BYTES_MAX, LISTENERS_MAX)
    if not data:
        raise ConnectionError("the launcher has exited")
    fields: dict[str, Any] = json.loads(data)
    listeners = [socket.socket(fileno=fd) for fd in descriptors]
    settings = Settings(**{**fields["settings"], "engines": tuple(fields["settings"]["engines"])})
    return Handover(**{**fields, "settings": settings, "users": tuple(fields["users"])}), listeners
