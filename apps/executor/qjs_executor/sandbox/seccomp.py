"""A filter on system calls, assembled by hand and loaded last: what no circuit needs and an attack does is refused.

Everything is allowed but the calls named here. They fail with EPERM, as an ordinary lack of rights would; only a call
in the form of another machine ends the process. `clone3` hides its flags behind a pointer that a filter cannot read, so
it is said not to exist and the C library falls back to `clone`. Without this filter vsock sockets open (network
namespaces do not cover them) and a run can make namespaces of its own, in which it holds every right.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

from .linux import load_seccomp_filter

_DENIED: dict[str, tuple[int | None, int | None]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mknod": (133, None),
    "mknodat": (259, 33),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "fanotify_init": (300, 262),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "clock_settime": (227, 112),
    "settimeofday": (164, 170),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "iopl": (172, None),
    "ioperm": (173, None),
    "modify_ldt": (154, None),
    "personality": (135, 92),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "mbind": (237, 235),
    "set_mempolicy": (238, 237),
    "vmsplice": (278, 75),
}
"""Numbers on x86-64 and on aarch64; None where the machine has no such call."""

_CLONE, _CLONE3, _IOCTL = (56, 220), (435, 435), (16, 29)
_SOCKETS = ((41, 198), (53, 199))
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Column of the tables and the kernel's AUDIT_ARCH of a machine."""

_CLONE_NEW_ANY = 0x7E020000
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_AF_UNIX = 1
_X32 = 0x40000000

_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_LOAD, _EQUALS, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_AT, _ARCH_AT, _FIRST_AT, _SECOND_AT = 0, 4, 16, 24
"""Offsets in seccomp_data: the call's number, the architecture, the low halves of its first two arguments."""


def apply_seccomp() -> None:
    """Loads the filter for this process and all that it starts, for good. Needs no_new_privs. Raises OSError, also on a
    machine whose call numbers are not known."""
    load_seccomp_filter(_program(platform.machine()))


def _program(machine: str) -> bytes:
    if machine not in _MACHINES or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise OSError(errno.ENOSYS, f"seccomp: no call numbers known for {machine}")
    column, arch = _MACHINES[machine]
    denied = [number[column] for number in _DENIED.values() if number[column] is not None]
    lines = [
        _line(_LOAD, _ARCH_AT),
        _line(_EQUALS, arch, 1, 0),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER_AT),
    ]
    if machine == "x86_64":
        lines += [_line(_AT_LEAST, _X32, 0, 1), _line(_RETURN, _ERRNO | errno.ENOSYS)]
    lines += [_line(_EQUALS, _CLONE3[column], 0, 1), _line(_RETURN, _ERRNO | errno.ENOSYS)]
    for number in denied:
        assert number is not None
        lines += [_line(_EQUALS, number, 0, 1), _line(_RETURN, _ERRNO | errno.EPERM)]
    # Each block below ends the program, so it may overwrite the loaded number.
    lines += [
        _line(_EQUALS, _CLONE[column], 0, 4),
        _line(_LOAD, _FIRST_AT),
        _line(_ANY_BIT, _CLONE_NEW_ANY, 0, 1),
        _line(_RETURN, _ERRNO | errno.EPERM),
        _line(_RETURN, _ALLOW),
        _line(_EQUALS, _IOCTL[column], 0, 5),
        _line(_LOAD, _SECOND_AT),
        _line(_EQUALS, _TIOCSTI, 1, 0),
        _line(_EQUALS, _TIOCLINUX, 0, 1),
        _line(_RETURN, _ERRNO | errno.EPERM),
        _line(_RETURN, _ALLOW),
    ]
    for call in _SOCKETS:
        lines += [
            _line(_EQUALS, call[column], 0, 4),
            _line(_LOAD, _FIRST_AT),
            _line(_EQUALS, _AF_UNIX, 1, 0),
            _line(_RETURN, _ERRNO | errno.EPERM),
            _line(_RETURN, _ALLOW),
        ]
    lines.append(_line(_RETURN, _ALLOW))
    return b"".join(lines)


def _line(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    """One struct sock_filter: operation, jumps counted from the next line, operand."""
    return struct.pack("=HBBI", code, when_true, when_false, value)
