"""`python -m qjs_executor`: starts the executor described by the environment and serves until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Iterator

import uvicorn

from .sandbox.linux import hide_memory
from .sandbox.seam import Limits, SandboxFault
from .sandbox.warm_sandbox import WarmSandbox
from .service.lanes import KEPT_SLOTS, Lanes
from .service.logs import facts, log, set_up_logs
from .service.server import build_app
from .service.settings import Settings, SettingsError, read_settings

GRACE_SECONDS = 2
"""On shutdown: how long open answers may take to be sent after their runs were ended."""
KEEP_ALIVE_SECONDS = 75
"""Above the idle time of the callers' connection pools, so that the caller closes first."""


class _Server(uvicorn.Server):
    """A web server that leaves signals to us: it would end the process by the signal, not with code 0."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _serve(settings: Settings) -> None:
    limits = Limits(memory_bytes=settings.memory_bytes, engine_memory_bytes=settings.engine_memory_bytes)
    sandbox = WarmSandbox(
        settings.slots + KEPT_SLOTS,
        settings.memory_bytes,
        settings.engine_memory_bytes,
        settings.isolation,
        allow_insecure=settings.allow_insecure,
    )
    server = _Server(
        uvicorn.Config(
            build_app(sandbox, Lanes(settings.slots), limits, settings.token),
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
    )
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    starting = asyncio.create_task(sandbox.start())
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
    if starting.done():
        starting.result()
        present = sandbox.facts()
        log.info("ready", extra=facts(isolation=present.isolation, slots=settings.slots, port=settings.port))
        serving = asyncio.create_task(server.serve())
        await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
        server.should_exit = True
        await sandbox.close()
        await serving
    else:
        await sandbox.close()
        await asyncio.gather(starting, return_exceptions=True)
    stopping.cancel()


def main() -> int:
    """The process's exit code: 0 after a signal, 1 when it cannot serve, 2 when the environment is unusable."""
    try:
        settings = read_settings(os.environ)
    except SettingsError as error:
        print(str(error), file=sys.stderr)
        return 2
    set_up_logs(settings.log_level)
    hide_memory()
    try:
        asyncio.run(_serve(settings))
    except (SandboxFault, SystemExit) as error:
        log.error("cannot serve: %s", error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
