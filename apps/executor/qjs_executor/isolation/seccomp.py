"""A filter on system calls, assembled by hand and loaded last: it refuses calls that attacks need and circuits do not.

All calls are allowed except those named here. They fail with EPERM, as for missing rights; only a call in the form of
another machine kills the process. `clone3` hides its flags behind a pointer that a filter cannot read, so it is
reported as missing and the C library falls back to `clone`. Without this filter vsock sockets open (network namespaces
do not cover them) and an execution can create namespaces of its own, in which it has every right.
"""

from __future__ import annotations

import ctypes
import errno
import os
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
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    # By inode, so they would show which library files other executions open.
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    # On a library file, which executions share, two of them could signal each other.
    "flock": (73, 32),
    # A host of tasks would pass it on to the next task.
    "ioprio_set": (251, 30),
}
"""Numbers on x86-64 and on aarch64; None where the machine has no such call."""

_DENIED_TO_SHARED_USER: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
}
"""Calls that reach files and processes of the same user without opening them, so that Landlock does not see it."""

_FIRST_IS_ITSELF_FOR_SHARED_USER: dict[str, tuple[int, int]] = {
    "prlimit64": (302, 261),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
}
"""Calls whose first argument is a process; only 0 and the filtered process itself are allowed."""

_SIGNALS: dict[str, tuple[int, int]] = {
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
}
"""The same for signals, where Landlock does not bound them."""

_DENIED_WHERE_TRUNCATION_IS_NOT_JUDGED: dict[str, tuple[int | None, int | None]] = {
    "truncate": (76, 45),
    # Its flags are behind a pointer; the C library does not use it.
    "openat2": (437, 437),
}
"""Before version 3 Landlock does not see that a file is truncated."""

_OPENS: dict[str, tuple[tuple[int | None, int | None], int]] = {
    "open": ((2, None), 1),
    "openat": ((257, 56), 2),
}
"""The calls that can truncate while they open for reading, and the place of their flags among the arguments."""

_PIDFD_SEND_SIGNAL = (424, 424)
_CLONE, _CLONE3, _IOCTL, _FCNTL, _SETPRIORITY = (56, 220), (435, 435), (16, 29), (72, 25), (141, 140)
_SOCKET, _SOCKETPAIR, _SETSOCKOPT, _PRCTL = (41, 198), (53, 199), (54, 208), (157, 167)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""The column in the tables and the kernel's AUDIT_ARCH for each machine."""

_CLONE_NEW_ANY = 0x7E020000
_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP, _FS_IOC_SETFLAGS, _FS_IOC_FSSETXATTR = (
    0x5412,
    0x541C,
    0x8901,
    0x8902,
    0x40086602,
    0x401C5820,
)
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX = 8, 10, 15
"""Commands that make the kernel signal another process when something happens to a file."""
_ON_SHARED_FILES = [36, 37, 38, 1024, 1026]
"""Commands that reach other executions through a library file: locks of an open file (F_OFD_GETLK, F_OFD_SETLK,
F_OFD_SETLKW), a lease, which delays every other process that opens the file (F_SETLEASE), and the news of who reads a
folder (F_NOTIFY)."""
_PR_SET_PDEATHSIG = 1
_SO_SNDBUF = 7
"""Raises what a socket can hold, which the count of an execution's memory relies on."""
_O_ACCMODE, _O_TRUNC = 3, 0o1000
_AF_UNIX, _SOCK_STREAM, _SOCK_SEQPACKET, _SOCK_TYPE_MASK = 1, 1, 5, 0xF
_X32 = 0x40000000

_KILL, _ALLOW, _ERRNO = 0x80000000, 0x7FFF0000, 0x00050000
_LOAD, _EQUALS, _AT_LEAST, _ANY_BIT, _RETURN, _AND = 0x20, 0x15, 0x35, 0x45, 0x06, 0x54
_NUMBER_AT, _ARCH_AT, _FIRST_AT, _SECOND_AT, _THIRD_AT = 0, 4, 16, 24, 32
"""Offsets in seccomp_data: the call's number, the architecture, the low halves of its first three arguments."""


def apply_seccomp(
    without_namespaces: bool = False,
    shared_user: bool = False,
    signal_only_itself: bool = False,
    truncation_unjudged: bool = False,
) -> None:
    """Loads the filter for this process and its descendants, permanently. Needs no_new_privs. `without_namespaces` also
    refuses sockets that could reach another process, `shared_user` what reaches files and processes of the same user,
    `signal_only_itself` every signal to another process, `truncation_unjudged` what truncates a file without a right to
    write that Landlock could judge. Raises OSError, also on a machine whose call numbers are unknown."""
    machine = platform.machine()
    load_seccomp_filter(_program(machine, without_namespaces, shared_user, signal_only_itself, truncation_unjudged))


def _program(
    machine: str, without_namespaces: bool, shared_user: bool, signal_only_itself: bool, truncation_unjudged: bool
) -> bytes:
    if machine not in _MACHINES or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise OSError(errno.ENOSYS, f"seccomp: no call numbers known for {machine}")
    column, arch = _MACHINES[machine]
    denied = [numbers[column] for numbers in _DENIED.values()]
    if shared_user:
        denied += [numbers[column] for numbers in _DENIED_TO_SHARED_USER.values()]
    if signal_only_itself:
        denied.append(_PIDFD_SEND_SIGNAL[column])
    if truncation_unjudged:
        denied += [numbers[column] for numbers in _DENIED_WHERE_TRUNCATION_IS_NOT_JUDGED.values()]
    lines = [
        _line(_LOAD, _ARCH_AT),
        _line(_EQUALS, arch, 1, 0),
        _line(_RETURN, _KILL),
        _line(_LOAD, _NUMBER_AT),
    ]
    if machine == "x86_64":
        lines += [_line(_AT_LEAST, _X32, 0, 1), _line(_RETURN, _ERRNO | errno.ENOSYS)]
    lines += _on(_CLONE3[column], [_line(_RETURN, _ERRNO | errno.ENOSYS)])
    for number in denied:
        if number is not None:
            lines += _on(number, [_REFUSE])
    lines += _on(
        _CLONE[column],
        [_line(_LOAD, _FIRST_AT), _line(_ANY_BIT, _CLONE_NEW_ANY, 0, 1), _REFUSE, _line(_RETURN, _ALLOW)],
    )
    lines += _on(_SETSOCKOPT[column], _unless_at(_THIRD_AT, [_SO_SNDBUF]))
    # An execution keeps the signal that kills it with its zygote.
    lines += _on(_PRCTL[column], _unless_at(_FIRST_AT, [_PR_SET_PDEATHSIG]))
    if truncation_unjudged:
        for numbers, place in _OPENS.values():
            if (number := numbers[column]) is not None:
                lines += _on(number, _unless_read_only_truncation(_FIRST_AT + 8 * place))
    requests = [_TIOCSTI, _TIOCLINUX, _FIOSETOWN, _SIOCSPGRP, _FS_IOC_SETFLAGS, _FS_IOC_FSSETXATTR]
    lines += _on(_IOCTL[column], _unless_second_is(requests))
    lines += _on(_SOCKET[column], [_REFUSE] if without_namespaces else _if_first_is([_AF_UNIX]))
    lines += _on(_SOCKETPAIR[column], _socketpair(without_namespaces))
    itself = [0, os.getpid()]
    signalling = [_F_SETOWN, _F_SETSIG, _F_SETOWN_EX] if shared_user else []
    lines += _on(_FCNTL[column], _unless_second_is([*_ON_SHARED_FILES, *signalling]))
    if shared_user:
        # setpriority(which, who): `which` 0 means a process.
        priority = [_line(_LOAD, _FIRST_AT), _line(_EQUALS, 0, 1, 0), _REFUSE, *_if_is(_SECOND_AT, itself)]
        lines += _on(_SETPRIORITY[column], priority)
        for numbers in _FIRST_IS_ITSELF_FOR_SHARED_USER.values():
            lines += _on(numbers[column], _if_first_is(itself))
    if signal_only_itself:
        for numbers in _SIGNALS.values():
            lines += _on(numbers[column], _if_first_is(itself))
    lines.append(_line(_RETURN, _ALLOW))
    return b"".join(lines)


def _on(number: int, body: list[bytes]) -> list[bytes]:
    """Applies `body` to the call with this number. It finishes the program, so it can overwrite the loaded number."""
    return [_line(_EQUALS, number, 0, len(body)), *body]


def _if_is(offset: int, values: list[int]) -> list[bytes]:
    """Allows the call when the value at `offset` is one of these."""
    tests = [_line(_EQUALS, value, len(values) - place, 0) for place, value in enumerate(values)]
    return [_line(_LOAD, offset), *tests, _REFUSE, _line(_RETURN, _ALLOW)]


def _if_first_is(values: list[int]) -> list[bytes]:
    return _if_is(_FIRST_AT, values)


def _unless_at(offset: int, values: list[int]) -> list[bytes]:
    """Refuses the call when the value at `offset` is one of these."""
    tests = [_line(_EQUALS, value, len(values) - place, 0) for place, value in enumerate(values)]
    return [_line(_LOAD, offset), *tests, _line(_RETURN, _ALLOW), _REFUSE]


def _unless_second_is(values: list[int]) -> list[bytes]:
    return _unless_at(_SECOND_AT, values)


def _unless_read_only_truncation(flags_at: int) -> list[bytes]:
    """Refuses to truncate a file while it is opened without the right to write, which would have been judged."""
    return [
        _line(_LOAD, flags_at),
        _line(_AND, _O_ACCMODE | _O_TRUNC),
        _line(_EQUALS, _O_TRUNC, 2, 0),
        # The mode in which a file can be neither read nor written.
        _line(_EQUALS, _O_ACCMODE | _O_TRUNC, 1, 0),
        _line(_RETURN, _ALLOW),
        _REFUSE,
    ]


def _socketpair(without_namespaces: bool) -> list[bytes]:
    """A pair of the family AF_UNIX; without namespaces only of the types that cannot be redirected to another
    address."""
    if not without_namespaces:
        return _if_first_is([_AF_UNIX])
    return [
        _line(_LOAD, _FIRST_AT),
        _line(_EQUALS, _AF_UNIX, 1, 0),
        _REFUSE,
        _line(_LOAD, _SECOND_AT),
        _line(_AND, _SOCK_TYPE_MASK),
        _line(_EQUALS, _SOCK_STREAM, 2, 0),
        _line(_EQUALS, _SOCK_SEQPACKET, 1, 0),
        _REFUSE,
        _line(_RETURN, _ALLOW),
    ]


def _line(code: int, value: int, when_true: int = 0, when_false: int = 0) -> bytes:
    """One struct sock_filter: operation, jumps counted from the next line, operand."""
    return struct.pack("=HBBI", code, when_true, when_false, value)


_REFUSE = _line(_RETURN, _ERRNO | errno.EPERM)
