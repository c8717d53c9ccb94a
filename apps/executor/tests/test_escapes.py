"""What system calls, files and other runs offer to an attacker: every attempt fails, and the executor stays well.

Each attempt runs in a child and prints its name when it worked; those of a group share one run.
"""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from .conftest import BELL, FOLDER, Executor, eventually, python, qasm

_PRELUDE = """
import ctypes, errno, os, signal, socket, mmap, resource, fcntl, threading, time
from qiskit import QuantumCircuit
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def attempt(name, attack):
    try:
        attack()
        print("WORKED", name)
    except (OSError, ProcessLookupError, PermissionError) as error:
        if error.errno not in (1, 2, 3, 9, 13, 18, 22, 30, 38, 111):
            print("ODD", name, error)
"""

GROUPS: dict[str, dict[str, str]] = {
    "network": {
        "TCP to a live port": "socket.create_connection(('127.0.0.1', params['port']), 1)",
        "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "metadata service": "socket.create_connection(('169.254.169.254', 80), 1)",
        "IPv6": "socket.socket(socket.AF_INET6)",
        "vsock": "socket.socket(40)",
        "netlink": "socket.socket(16, socket.SOCK_RAW, 0)",
        "packet": "socket.socket(17, socket.SOCK_RAW)",
        "AF_ALG": "socket.socket(38, socket.SOCK_SEQPACKET)",
        "abstract socket of the machine": "socket.socket(socket.AF_UNIX).connect('\\0' + params['abstract'])",
    },
    "files": {
        "password file": "open('/etc/passwd')",
        "homes": "os.listdir('/root')",
        "/var": "os.listdir('/var')",
        "/run": "os.listdir('/run')",
        "/sys": "os.listdir('/sys')",
        "settings": "open(params['project'])",
        "write to /dev": "open('/dev/owned', 'w')",
        "write to /etc": "open('/etc/owned', 'w')",
        "device node": "os.mknod('/tmp/null', 0o020666, os.makedev(1, 3))",
        "symlink through init": "os.symlink('/proc/1/root/etc/shadow', 's') or open('s')",
        "above the working directory": "open('/proc/self/cwd/../../etc/shadow')",
        "hard link out": "open('f', 'w').close() or os.link('f', '/dev/shm/f') or 1 / 0",
    },
    "proc": {
        "core_pattern": "open('/proc/sys/kernel/core_pattern', 'w')",
        "swappiness": "open('/proc/sys/vm/swappiness', 'w')",
        "sysrq": "os.write(os.open('/proc/sysrq-trigger', os.O_WRONLY), b'h') and open('/proc/sysrq-trigger').read()[0]",
        "oom score": "open('/proc/self/oom_score_adj', 'w').write('-1000') and None",
        "kernel memory map": "open('/proc/kcore', 'rb').read(1)",
    },
    "system calls": {
        "ptrace": "call(101, 0, 0, 0, 0)",
        "process_vm_readv": "call(310, 1, 0, 0, 0, 0, 0)",
        "mount": "call(165, b'none', b'/tmp', b'tmpfs', 0, 0)",
        "unshare user": "call(272, 0x10000000)",
        "clone into a user namespace": "call(56, 0x10000011, 0, 0, 0, 0) or os._exit(0)",
        "clone3": "call(435, 0, 0)",
        "setns": "call(308, 0, 0)",
        "keyctl": "call(250, 0, -3, 1)",
        "bpf": "call(321, 0, 0, 0)",
        "io_uring": "call(425, 1, 0)",
        "userfaultfd": "call(323, 0)",
        "perf": "call(298, 0, 0, -1, -1, 0)",
        "clock": "time.clock_settime(time.CLOCK_REALTIME, 0)",
        "host name": "socket.sethostname('owned')",
        "chroot": "os.chroot('/tmp')",
        "handles": "call(304, -100, 0, 0)",
        "terminal input": "fcntl.ioctl(0, 0x5412, b'x')",
        "personality": "call(135, 0x0040000)",
        "x32": "call(0x40000000 + 39)",
        "memfd": "os.memfd_create('x')",
        "shared memory of System V": "call(29, 0, 4096, 0o1600)",
        "become root": "os.setuid(0)",
        "gain a capability": "libc.prctl(47, 2, 7, 0, 0) == 0 or call(-1)",
    },
    "signals": {
        "everybody": "os.kill(-1, 0)",
        "the executor": "os.kill(params['executor'], 0)",
    },
}  # fmt: skip


@pytest.mark.parametrize("group", GROUPS)
def test_no_attempt_works(executor: Executor, group: str) -> None:
    if executor.health()["sandbox"]["level"] == "L2" and group in ("files", "proc", "network"):
        pytest.skip("these need namespaces")
    attempts = "".join(f"attempt({name!r}, lambda: {attack})\n" for name, attack in GROUPS[group].items())
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("\0qjs-test-escape")
        listener.listen()
        params = {
            "executor": executor.process.pid,
            "port": executor.http.base_url.port,
            "abstract": "qjs-test-escape",
            "project": str(FOLDER / "pyproject.toml"),
        }
        result = executor.run(python(_PRELUDE + attempts + "circuit = QuantumCircuit(1)"), params=params).result
    assert result.get("stdout", "") == ""
    assert executor.health()["status"] == "ok"
    assert set(executor.run(qasm(BELL)).result["counts"]) <= {"00", "11"}


BOUNDED: dict[str, tuple[str, str]] = {
    "shared memory bomb": (
        "import mmap\nm = []\nfor i in range(30):\n  m.append(mmap.mmap(-1, 1 << 28))\n  m[-1].write(b'x' * (1 << 28))",
        "mem",
    ),
    "/dev/shm fill": ("for i in range(5):\n  with open(f'/dev/shm/{i}', 'wb') as f: f.write(b'x' * 16_000_000)", "No space left"),
    "inode bomb": ("for i in range(20_000): open(str(i), 'w').close()", "No space left"),
    "descriptors": ("x = [open('/dev/null') for _ in range(999)]", "Too many open files"),
    "file of 33 MiB": ("with open('f', 'wb') as f: f.write(b'x' * (33 << 20))", "File too large"),
    "raised limit": ("import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (4096, 4096))", "not allowed to raise"),
    "result of 64 MiB": ("import os\nos.write(4, (64 << 20).to_bytes(4, 'little'))\nwhile True: pass", "bad result"),
    "catastrophic regular expression": ("import re\nre.match('(a+)+$', 'a' * 40 + 'b')", "time limit"),
}  # fmt: skip


@pytest.mark.parametrize("name", BOUNDED)
def test_a_bomb_is_bounded(executor: Executor, name: str) -> None:
    code, message = BOUNDED[name]
    error = executor.run(python(code), wall=20 if message != "time limit" else 2).error
    assert message in error["message"].lower() or message in error["message"]
    assert executor.health()["status"] == "ok"
    assert set(executor.run(qasm(BELL)).result["counts"]) <= {"00", "11"}


def test_two_runs_at_once_neither_see_nor_meet_each_other(executor: Executor) -> None:
    if executor.health()["sandbox"]["level"] == "L2":
        pytest.skip("these need namespaces")
    host = "import os, socket, time\ns = socket.socket(socket.AF_UNIX)\ns.bind('\\0meet')\ns.listen()\nopen('/tmp/here', 'w').close()\nopen('/dev/shm/here', 'w').close()\nwhile True: time.sleep(1)"
    guest = (
        "import os, socket\nfrom qiskit import QuantumCircuit\n"
        "try:\n  socket.socket(socket.AF_UNIX).connect('\\0meet')\n  print('MET')\nexcept OSError: pass\n"
        "print([p for p in os.listdir('/proc') if p.isdigit()], os.path.exists('/tmp/here'), os.path.exists('/dev/shm/here'))\n"
        "circuit = QuantumCircuit(1)"
    )
    with ThreadPoolExecutor(1) as pool:
        hosting = pool.submit(executor.run, python(host), wall=3)
        eventually(lambda: len(executor.descendants()) == 1, 10, "the first run is alive")
        assert executor.run(python(guest)).result["stdout"].strip() == "['1'] False False"
        assert "time limit" in hosting.result().error["message"]


def test_locks_and_loops_of_the_standard_library_still_work(executor: Executor) -> None:
    code = (
        "import asyncio, multiprocessing, subprocess, sys, tempfile, threading\nfrom qiskit import QuantumCircuit\n"
        "async def main(): await asyncio.sleep(0)\nasyncio.run(main())\n"
        "with multiprocessing.Lock(): pass\nthread = threading.Thread(target=print, args=('thread',))\nthread.start()\nthread.join()\n"
        "with tempfile.TemporaryFile() as f: f.write(b'x')\ncircuit = QuantumCircuit(1)"
    )
    assert executor.run(python(code)).result["stdout"].strip() == "thread"
