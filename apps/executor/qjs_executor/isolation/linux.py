"""The few Linux calls that Python 3.11 does not offer, through the C library. All raise OSError."""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import struct

CLONE_NEWNS = 0x00020000
CLONE_NEWCGROUP = 0x02000000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000

_MNT_DETACH = 2
_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_SECUREBITS = 28
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}

_MADV_POPULATE_WRITE, _MADV_COLLAPSE = 23, 25
_SECCOMP_MODE_FILTER = 2
_SECUREBITS_LOCKED = 0x2F
"""These bits remove root's rights by user id, the setuid fix-up and the keeping of capabilities, and lock each of
them."""
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    """Moves this process into new namespaces (CLONE_NEWPID: its next child)."""
    _check(_libc.unshare(flags), "unshare")


def enter_user_namespace(also: int = 0) -> None:
    """Moves this process into a user namespace of its own, in which it has every right and only its user and group
    exist, and into the namespaces in `also`."""
    user, group = os.getuid(), os.getgid()
    unshare(CLONE_NEWUSER | also)
    for file, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{file}", "w", encoding="ascii") as settings:
            settings.write(text)


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """mount(2)."""
    result = _libc.mount(source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), data.encode())
    _check(result, f"mount {target}")


def pivot_root(new_root: str) -> None:
    """Makes `new_root` (a mount point) the root and detaches the old one."""
    number = _PIVOT_ROOT.get(platform.machine())
    if number is None:
        raise OSError(f"pivot_root: no call number known for {platform.machine()}")
    os.chdir(new_root)
    _check(_libc.syscall(ctypes.c_long(number), b".", b"."), "pivot_root")
    _check(_libc.umount2(b".", _MNT_DETACH), "umount2")
    os.chdir("/")


def die_with_parent(number: int = 9) -> None:
    """Delivers a signal, SIGKILL by default, when the thread that forked this process exits. A change of user clears
    it."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0), "prctl")


def children_of(pid: int) -> set[int]:
    """Live and exited children that a process has not waited for, whichever of its threads started them; none once the
    process is gone."""
    found: set[int] = set()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found.update(int(child) for child in file.read().split())
    return found


def parent_of(pid: int) -> int:
    """The parent of a process; -1 once it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return -1


def pid_of(pidfd: int) -> int:
    """The process id as this process sees it, since a number from inside a process namespace would mean another
    process; -1 once the process is gone, and for a descriptor that is not a pidfd."""
    with contextlib.suppress(OSError), open(f"/proc/self/fdinfo/{pidfd}", encoding="ascii", errors="replace") as file:
        for line in file:
            if line.startswith("Pid:"):
                return int(line.split()[1])
    return -1


def hide_memory() -> None:
    """Prevents other processes of the same user from reading this process's memory and environment."""
    _check(_libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0), "prctl")


def adopt_orphans() -> None:
    """Makes this process the parent of descendants whose own parent has died."""
    _check(_libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), "prctl")


def forbid_new_privileges() -> None:
    """Prevents programs that are executed from here on from gaining rights by their file's mode."""
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")


def join_namespace(fd: int, kind: int) -> None:
    """Moves this process into the namespace behind `fd` (CLONE_NEWPID: its next child)."""
    _check(_libc.setns(fd, kind), "setns")


def set_host_name(name: str) -> None:
    """Sets the name of this machine as seen from the caller's UTS namespace."""
    _check(_libc.sethostname(name.encode(), len(name.encode())), "sethostname")


def forbid_capabilities() -> None:
    """Empties the bounding set: no program started from here on can gain a capability. Needs CAP_SETPCAP."""
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _check(_libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0), "prctl PR_CAPBSET_DROP")


def lock_capabilities() -> None:
    """Makes user 0 an ordinary user, permanently. Needs CAP_SETPCAP."""
    _check(_libc.prctl(_PR_SET_SECUREBITS, _SECUREBITS_LOCKED, 0, 0, 0), "prctl PR_SET_SECUREBITS")


def drop_capabilities() -> None:
    """Gives up every capability of this thread."""
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _check(_libc.capset(header, bytes(24)), "capset")


class _FilterProgram(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("lines", ctypes.c_char_p)]


def load_seccomp_filter(program: bytes) -> None:
    """Loads a filter, given as its lines (struct sock_filter) one after another."""
    holder = _FilterProgram(len(program) // 8, program)
    _check(_libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(holder), 0, 0), "seccomp")


def populate_for_writing(address: int, length: int) -> None:
    """Makes the kernel do now what it would do at the first write to each page of a mapping. The content stays the
    same. EINVAL before Linux 5.14."""
    _check(_libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(length), _MADV_POPULATE_WRITE), "madvise")


def collapse(address: int, length: int) -> None:
    """Makes the kernel collapse a mapping's pages into huge pages now. EINVAL where there is nothing to collapse, and
    before Linux 6.1."""
    _check(_libc.madvise(ctypes.c_void_p(address), ctypes.c_size_t(length), _MADV_COLLAPSE), "madvise")


def raw_call(number: int, *arguments: int | bytes | None) -> int:
    """Makes a system call that the C library does not wrap, by its number; every integer is passed as a long."""
    plain = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    result: int = _libc.syscall(ctypes.c_long(number), *plain)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"system call {number}: {os.strerror(code)}")
    return result
