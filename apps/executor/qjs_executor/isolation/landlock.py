"""Landlock: an allow-list of paths that works without namespaces and is a second wall with them."""

from __future__ import annotations

import os
import stat
import struct

from .linux import raw_call

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_FILES_ONLY = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
TRUNCATION_ABI = 3
"""The first version that can refuse to truncate a file outside (Linux 6.2)."""
_ACCESS_BITS = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many kinds of file access an ABI version has; from version 5 on there are 16."""
_TCP_BIND_AND_CONNECT = 3
_SIGNALS = 2
_ABSTRACT_SOCKETS_AND_SIGNALS = 1 | _SIGNALS


def landlock_abi() -> int:
    """The kernel's version of Landlock; 0 when it has none or Landlock is switched off."""
    try:
        return raw_call(_CREATE, None, 0, _VERSION_FLAG)
    except OSError:
        return 0


def apply_landlock(readable: list[str], writable: list[str]) -> int:
    """Limits this process permanently to reading and executing below `readable` and to full access below `writable`;
    refuses TCP (ABI 4) and, from ABI 6, abstract sockets and signals to processes outside. Paths that do not exist are
    skipped. Needs no_new_privs. Returns the ABI used. Raises OSError."""
    abi = landlock_abi()
    if abi == 0:
        raise OSError("landlock: this kernel does not offer it")
    everything = (1 << _ACCESS_BITS.get(abi, 16)) - 1
    network = _TCP_BIND_AND_CONNECT if abi >= 4 else 0
    scope = _ABSTRACT_SOCKETS_AND_SIGNALS if abi >= 6 else 0
    attributes = struct.pack("=QQQ", everything, network, scope)[: 8 if abi < 4 else 16 if abi < 6 else 24]
    rules = raw_call(_CREATE, attributes, len(attributes), 0)
    try:
        for path in readable:
            _allow(rules, path, _EXECUTE | _READ_FILE | _READ_DIR)
        for path in writable:
            _allow(rules, path, everything)
        raw_call(_RESTRICT, rules, 0)
    finally:
        os.close(rules)
    return abi


def scope_signals() -> None:
    """Limits this process and its descendants to signalling each other. Needs no_new_privs and ABI 6. Raises
    OSError."""
    attributes = struct.pack("=QQQ", 0, 0, _SIGNALS)
    rules = raw_call(_CREATE, attributes, len(attributes), 0)
    try:
        raw_call(_RESTRICT, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, access: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            access &= _FILES_ONLY
        raw_call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", access, fd), 0)
    finally:
        os.close(fd)
