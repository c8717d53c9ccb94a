"""Starts Python processes of this package: fresh, with a fixed environment and one inherited socket."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping

_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def start_process(
    module: str,
    control: socket.socket,
    folder: str,
    environment: Mapping[str, str],
    *,
    logs: bool = False,
    own_session: bool = False,
    fixed_hashes: bool = False,
) -> subprocess.Popen[bytes]:
    """Runs `main()` of a module of this package in `folder`, with the number of its socket as the argument. It does not
    receive our own environment, which contains secrets. `logs`: it writes to our standard error; `own_session`: signals
    to our group do not reach it; `fixed_hashes`: it and its forks iterate over a set of texts in the same order as
    every other such process. Raises OSError."""
    boot = f"import sys; sys.path.append({_PACKAGE_FOLDER!r}); from {module} import main; sys.exit(main())"
    # `-I` would ignore the variable that fixes hashes; `-s -P` is the rest of it, and the environment contains nothing
    # else.
    apart = ["-s", "-P"] if fixed_hashes else ["-I"]
    hashes = {"PYTHONHASHSEED": "0"} if fixed_hashes else {}
    return subprocess.Popen(
        [sys.executable, *apart, "-B", "-c", boot, str(control.fileno())],
        env={**_ENVIRONMENT, **hashes, **environment},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=None if logs else subprocess.DEVNULL,
        pass_fds=(control.fileno(),),
        start_new_session=own_session,
        umask=0o022,  # It builds roots that other users have to enter.
    )
