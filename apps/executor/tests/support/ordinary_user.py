"""The executor as an ordinary user, although the tests run as root: uid 65534 without any capability.

Python may lie below a folder that only root may enter. The executor therefore starts in a mount namespace in which each
such folder is an empty one that everybody may enter, with Python at its own place below it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_PACKAGE_FOLDER = str(Path(__file__).resolve().parents[2])

# Arguments: the closed folders, "--", the prefixes below them, "--", the command.
_SCRIPT = r"""
set -eu
mount --make-rprivate /
stash=$(mktemp --directory)
mount -t tmpfs tmpfs "$stash"
closed=()
while [ "$1" != -- ]; do closed+=("$1"); shift; done; shift
prefixes=()
while [ "$1" != -- ]; do
    mkdir "$stash/${#prefixes[@]}"
    mount --bind "$1" "$stash/${#prefixes[@]}"
    prefixes+=("$1"); shift
done; shift
for folder in "${closed[@]}"; do mount -t tmpfs -o mode=755 tmpfs "$folder"; done
for number in "${!prefixes[@]}"; do
    mkdir --parents --mode=755 "${prefixes[$number]}"
    mount --bind "$stash/$number" "${prefixes[$number]}"
done
umount --recursive "$stash"
rmdir "$stash"
cd /
exec "$@"
"""
_SETPRIV = [
    "setpriv",
    "--reuid=65534",
    "--regid=65534",
    "--clear-groups",
    "--bounding-set=-all",
    "--inh-caps=-all",
    "--",
]


def as_ordinary_user() -> list[str]:
    """What to put before a command. Skips the test when this machine cannot do it, with what it lacks."""
    if os.getuid() != 0:
        pytest.skip("the tests themselves run as an ordinary user: the plain executor is this case")
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed (util-linux)")
    return [*with_python_open_to_all(), *_SETPRIV]


def with_python_open_to_all() -> list[str]:
    """The same for root: every user may enter the folders above Python."""
    if os.getuid() != 0:
        pytest.skip("this needs root")
    for program in ("unshare", "bash"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed (util-linux, bash)")
    prefixes = _outermost({sys.prefix, sys.base_prefix, os.path.realpath(sys.prefix), _PACKAGE_FOLDER})
    closed = sorted({folder for prefix in prefixes if (folder := _closed_parent(prefix))})
    hidden = [prefix for prefix in prefixes if _closed_parent(prefix)]
    return ["unshare", "--mount", "--", "bash", "-c", _SCRIPT, "bash", *closed, "--", *hidden, "--"]


def _outermost(folders: set[str]) -> list[str]:
    return [one for one in sorted(folders) if not any(one.startswith(other + "/") for other in folders)]


def _closed_parent(path: str) -> str | None:
    """The outermost folder above `path` that others may not enter."""
    parts = path.strip("/").split("/")
    parents = ["/" + "/".join(parts[:depth]) for depth in range(1, len(parts))]
    return next((parent for parent in parents if not os.stat(parent).st_mode & 0o001), None)


def needs_user_namespaces() -> None:
    """Skips the test where ordinary users get no namespaces."""
    probe = [*as_ordinary_user(), "unshare", "--user", "--map-current-user", "--mount", "true"]
    ended = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=30)
    if ended.returncode != 0:
        pytest.skip(f"this machine gives ordinary users no namespaces: {ended.stderr.strip()[:200]}")
