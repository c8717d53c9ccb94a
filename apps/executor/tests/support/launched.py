"""A launcher without a shell: the test holds the socket on which its shell would give orders."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from qjs_executor.launcher.client import LauncherClient
from qjs_executor.launcher.handover import Handover, receive_handover

from .executor import FOLDER, TOKEN

_LAUNCHER = """
import os, socket, sys
from qjs_executor.launcher.launcher import Launcher
from qjs_executor.settings import read_settings
sys.exit(Launcher(read_settings(os.environ), socket.socket(fileno=int(sys.argv[1]))).run())
"""


@contextmanager
def orders_to_launcher(
    *, before: Sequence[str] = (), **environment: str
) -> Iterator[tuple[subprocess.Popen[str], socket.socket, Handover]]:
    """A launcher's process, the socket to it, and what it handed over. It is gone afterwards, and all it started.
    `before` stands before its command, to start it as another user."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(120)
    with theirs:
        process = subprocess.Popen(
            [*before, sys.executable, "-B", "-c", _LAUNCHER, str(theirs.fileno())],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(FOLDER), "EXECUTOR_TOKEN": TOKEN, **environment},
            pass_fds=(theirs.fileno(),),
            stderr=subprocess.PIPE,
            text=True,
        )
    try:
        with ours:
            handover, _ = receive_handover(ours)
            yield process, ours, handover
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait(5)
        assert process.stderr is not None
        process.stderr.close()


@asynccontextmanager
async def launched(**environment: str) -> AsyncIterator[LauncherClient]:
    """The client of a launcher, for a sandbox in the test's own process."""
    with orders_to_launcher(**environment) as (_, orders, handover):
        client = LauncherClient(handover, orders)
        try:
            yield client
        finally:
            client.close()
