"""Runs the web server over one sandbox, from start to shutdown."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections.abc import Iterator
from typing import Any

import uvicorn

from ..isolation.landlock import apply_landlock, landlock_abi
from ..isolation.private_root import python_prefixes
from ..job import KEPT_SLOTS, Limits, SandboxFault
from ..launcher.client import LauncherClient
from ..launcher.handover import Handover
from ..logs import facts, log
from ..sandbox.warm_sandbox import WarmSandbox
from ..zygote.zygote_child import SYSTEM_FOLDERS
from .lanes import Lanes
from .server import build_app

GRACE_SECONDS = 2
"""On shutdown: how long open responses may take to be sent after their executions were killed."""
LOOK_SECONDS = 0.1
"""How often the shell looks whether the last execution has finished, while it drains."""
KEEP_ALIVE_SECONDS = 75
"""Above the idle time of the callers' connection pools, so that the caller closes first."""


class _Server(uvicorn.Server):
    """A web server that leaves signals to us: it would exit by the signal, not with code 0."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def serve(handover: Handover, orders: socket.socket, listeners: list[socket.socket]) -> int:
    """Serves on bound sockets until a signal; returns the exit code."""
    try:
        asyncio.run(_serve(handover, orders, listeners))
    except (SandboxFault, SystemExit, OSError) as error:
        log.error("cannot serve: %s", error)
        return 1
    return 0


async def _serve(handover: Handover, orders: socket.socket, listeners: list[socket.socket]) -> None:
    settings = handover.settings
    limits = Limits(memory_bytes=settings.memory_bytes, engine_memory_bytes=settings.engine_memory_bytes)
    launcher = LauncherClient(handover, orders)
    sandbox = WarmSandbox(launcher, settings.slots + KEPT_SLOTS)
    lanes = Lanes(settings.slots)
    app = build_app(sandbox, lanes, limits, settings.token, handover.launcher, settings.engines)
    server = _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )
    ends: list[asyncio.Future[Any]] = [launcher.lost]
    stop, stop_at_once = asyncio.Event(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, lambda: (stop_at_once if stop.is_set() else stop).set())
    starting = asyncio.create_task(sandbox.start())
    stopping = asyncio.create_task(stop.wait())
    ends.append(stopping)
    await asyncio.wait([starting, *ends], return_when=asyncio.FIRST_COMPLETED)
    if starting.done() and not launcher.lost.done():
        starting.result()
        _give_up_files()
        present = sandbox.facts()
        port = listeners[0].getsockname()[1]
        log.info("ready", extra=facts(isolation=present.isolation, slots=settings.slots, port=port))
        serving = asyncio.create_task(server.serve(sockets=listeners))
        await asyncio.wait([serving, *ends], return_when=asyncio.FIRST_COMPLETED)
        if stop.is_set() and not launcher.lost.done():
            await _drain(
                sandbox, lanes, settings.drain_seconds, [asyncio.create_task(stop_at_once.wait()), launcher.lost]
            )
        await sandbox.close()
        # Only now: on a busy machine the deaths of the executions take longer than the grace of their responses.
        server.should_exit = True
        await serving
    else:
        # Cancelled first: a kind of isolation that fails early would be followed by the next one.
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await sandbox.close()
    stopping.cancel()
    if launcher.lost.done():
        raise SandboxFault("the launcher has exited")


async def _drain(sandbox: WarmSandbox, lanes: Lanes, seconds: float, ends: list[asyncio.Future[Any]]) -> None:
    """Waits until the executions under way have finished, while new ones are refused as `busy`; at most `seconds`, and
    until one of `ends`."""
    sandbox.drain()
    running = lanes.jobs_running + lanes.interactive_running
    log.info("draining", extra=facts(running=running, seconds=seconds))
    deadline = asyncio.get_running_loop().time() + seconds
    # A job holds its slot of a lane through both of its stages.
    while lanes.jobs_running or lanes.interactive_running:
        left = deadline - asyncio.get_running_loop().time()
        if left <= 0:
            return
        done, _ = await asyncio.wait(ends, timeout=min(left, LOOK_SECONDS), return_when=asyncio.FIRST_COMPLETED)
        if done:
            return


def _give_up_files() -> None:
    """Called after the self-test, which listens on a port of its own. From here on, the process cannot write, listen or
    connect, except through what is already open."""
    if landlock_abi() > 0:
        apply_landlock([*SYSTEM_FOLDERS, *python_prefixes()], ["/dev/null"])
