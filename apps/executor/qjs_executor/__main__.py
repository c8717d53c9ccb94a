"""`python -m qjs_executor`: starts the executor described by the environment and serves until SIGTERM or SIGINT."""

from __future__ import annotations

import os
import sys

from .job import SandboxFault
from .launcher.launcher import launch
from .logs import log, set_up_logs
from .settings import SettingsError, read_settings


def main() -> int:
    """Returns the process's exit code: 0 after a signal, 1 when it cannot serve, 2 when the environment is unusable."""
    try:
        settings = read_settings(os.environ)
    except SettingsError as error:
        print(str(error), file=sys.stderr)
        return 2
    set_up_logs(settings.log_level)
    if sys.platform != "linux":
        log.error("cannot serve: runs can be isolated on Linux only, and this is %s; use the container", sys.platform)
        return 1
    try:
        return launch(settings)
    except (SandboxFault, OSError) as error:
        log.error("cannot serve: %s", error)
        return 1


if __name__ == "__main__":
    sys.exit(main())
