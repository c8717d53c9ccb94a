"""Checks, before anything is loaded, what isolation this machine and this user can offer, and describes how to fix it
if it is too little."""

from __future__ import annotations

import os
import subprocess
import sys

from ..job import SandboxFault
from .landlock import TRUNCATION_ABI, landlock_abi

PROBE_SECONDS = 10.0

_NAMESPACES = """
import os, sys
sys.path.append(sys.argv[1])
from qjs_executor.isolation import linux
if os.getuid() != 0:
    linux.enter_user_namespace(linux.CLONE_NEWPID)
linux.unshare(linux.CLONE_NEWNS | linux.CLONE_NEWNET | linux.CLONE_NEWIPC | linux.CLONE_NEWUTS)
linux.mount("none", "/", "none", linux.MS_REC | linux.MS_PRIVATE)
"""
_PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def check_expected(isolation: str) -> None:
    """Tries quickly what a kind of isolation depends on. Raises SandboxFault with what is missing."""
    root = os.getuid() == 0
    if isolation == "landlock" and root:
        raise SandboxFault("landlock is for an ordinary user; a run would be root here")
    if isolation == "uid" and not root:
        raise SandboxFault("uid gives each run a user of its own, for which the executor has to be root")
    if isolation == "namespaces" and not root:
        raise SandboxFault("namespaces with a user for each run need root; rootless is the kind for an ordinary user")
    if isolation == "rootless" and root:
        raise SandboxFault("rootless is for an ordinary user; root takes namespaces")
    if isolation in ("landlock", "uid") and landlock_abi() == 0:
        raise SandboxFault("this kernel does not offer Landlock (Linux 5.13 or later, with landlock among its lsm=)")
    if isolation == "landlock" and landlock_abi() < TRUNCATION_ABI:
        # Executions have the executor's user here: what Landlock does not refuse, its files allow.
        raise SandboxFault("this kernel's Landlock cannot refuse to truncate files (Linux 6.2 or later can)")
    if isolation in ("namespaces", "rootless"):
        probe = [sys.executable, "-I", "-B", "-c", _NAMESPACES, _PACKAGE_FOLDER]
        try:
            ended = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=PROBE_SECONDS, env={})
        except (OSError, subprocess.SubprocessError) as error:
            raise SandboxFault(f"namespaces could not be tried: {error}") from error
        if ended.returncode != 0:
            reason = (ended.stderr.strip().splitlines() or ["it ended"])[-1]
            raise SandboxFault(f"this machine does not give namespaces: {reason[:200]}")


def how_to_fix() -> str:
    """Advice for the operator of a machine that offers no adequate isolation."""
    ways = []
    if os.getuid() != 0:
        if _reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"):
            ways.append(
                "allow user namespaces to ordinary users: sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0,"
                " or an AppArmor profile for this Python with the rule 'userns,'"
            )
        if _reads("/proc/sys/kernel/unprivileged_userns_clone", "0"):
            ways.append("allow user namespaces to ordinary users: sudo sysctl kernel.unprivileged_userns_clone=1")
        if _reads("/proc/sys/user/max_user_namespaces", "0"):
            ways.append("allow user namespaces: sudo sysctl user.max_user_namespaces=15000")
    else:
        ways.append("start the executor with CAP_SYS_ADMIN, or as an ordinary user")
    if landlock_abi() < TRUNCATION_ABI:
        ways.append("boot a kernel with Landlock (6.2 or later, landlock among its lsm=)")
    ways.append("use the container of this project")
    return "; or ".join(ways) + ". For your own code only, SANDBOX_ALLOW_INSECURE=1 runs it without isolation."


def _reads(path: str, value: str) -> bool:
    try:
        with open(path, encoding="ascii") as file:
            return file.read().strip() == value
    except OSError:
        return False
