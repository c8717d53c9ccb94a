"""The users of executions, and of the shell when root starts the executor: a range of numbers that no other executor on
this machine has at the same time.

The processes of a user share one limit, and an execution that detaches processes is stopped by killing all of its
user's, so two executors must never give out the same user. A name in the kernel's list of abstract sockets is the
claim: the kernel releases it when its holder exits for any reason.
"""

from __future__ import annotations

import os
import socket

from ..job import SLOTS_MAX, SandboxFault

_FIRST = 60_000
_SIZE = 2 * SLOTS_MAX
_RANGES = 43
"""Below 65536, which is all that a container may have, and above the numbers that systems give to people and
services."""


class UserRange:
    """A claimed range; `users` are its numbers."""

    def __init__(self) -> None:
        """Claims a range. Raises SandboxFault when all are taken."""
        for place in range(_RANGES):
            number = (os.getpid() + place) % _RANGES
            claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
            try:
                claim.bind(f"\0qjs-executor-users-{number}")
            except OSError:
                claim.close()
                continue
            self._claim = claim
            self.users = range(_FIRST + number * _SIZE, _FIRST + (number + 1) * _SIZE)
            return
        raise SandboxFault(f"{_RANGES} executors on this machine have taken every range of users")

    def close(self) -> None:
        """Releases the range."""
        self._claim.close()
