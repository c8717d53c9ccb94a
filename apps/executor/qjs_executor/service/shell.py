"""The shell: the process of an executor that speaks to the network. It gives up every right before it loads the server,
so no code that reads a request has ever had one."""

from __future__ import annotations

import contextlib
import os
import resource
import socket
import sys

from ..isolation import linux
from ..isolation.confinement import limit
from ..isolation.private_root import build_shared_root
from ..job import KEPT_SLOTS, SLOTS_MAX
from ..launcher.handover import Handover, receive_handover
from ..logs import log, set_up_logs

DESCRIPTORS_MAX = 4096
"""Five for each execution and one for each connection."""
TASKS_MAX = 16 + SLOTS_MAX + KEPT_SLOTS
"""Threads and processes of the shell's user: libraries start some, and each execution may have one that reads its
result."""


def main() -> int:
    """Runs the shell; the only argument is the number of its socket to the launcher, which first delivers the handover.
    Returns the exit code: 0 after a signal, 1 when it cannot serve."""
    orders = socket.socket(fileno=int(sys.argv[1]))
    handover, listeners = receive_handover(orders)
    set_up_logs(handover.settings.log_level)
    try:
        _confine(handover)
    except OSError as error:
        log.error("cannot serve: the shell cannot give up its rights: %s", error)
        return 1
    try:
        from .serving import serve
    except (ImportError, OSError) as error:
        log.error(
            "cannot serve: user %d, which the shell has become, cannot load the server (%s);"
            " let all users enter and read Python's folder, %s",
            os.getuid(),
            error,
            sys.prefix,
        )
        return 1
    return serve(handover, orders, listeners)


def _confine(handover: Handover) -> None:
    user = handover.shell_user
    if user is not None:
        # Python may lie below a folder that only root can enter. Where mounts are not allowed, it has to be readable.
        with contextlib.suppress(OSError):
            linux.unshare(linux.CLONE_NEWNS)
            build_shared_root(handover.shell_folder)
        os.chdir("/")
        # In a container without CAP_SETPCAP the set stays; a process that cannot gain privileges gains nothing from it.
        with contextlib.suppress(PermissionError):
            linux.forbid_capabilities()
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        limit(resource.RLIMIT_NPROC, TASKS_MAX)
    linux.drop_capabilities()
    limit(resource.RLIMIT_NOFILE, DESCRIPTORS_MAX)
    limit(resource.RLIMIT_CORE, 0)
    linux.forbid_new_privileges()
    linux.hide_memory()
    linux.die_with_parent()
    if os.getppid() != handover.launcher:
        raise OSError("the launcher has exited")
