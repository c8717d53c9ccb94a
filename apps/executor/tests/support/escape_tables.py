"""What an attacker tries, by the case's id: N network, F files, S secrets, P proc and sys, K system calls, G signals,
R resources, C result channel, X between runs, T text.

Every attempt is an expression that has to raise an OSError. `params` holds facts of the executor that is attacked.
"""

from __future__ import annotations

PRELUDE = """
import ctypes, errno, fcntl, mmap, os, resource, signal, socket, struct, subprocess, time
from qiskit import QuantumCircuit
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in arguments])
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def refused(if_true):
    if if_true:
        raise PermissionError(errno.EPERM, "refused")
def status(name):
    return dict(line.split(":", 1) for line in open("/proc/self/status"))[name].split()[0]
EXPECTED = {errno.EPERM, errno.ENOENT, errno.ESRCH, errno.EBADF, errno.EACCES, errno.EXDEV, errno.EINVAL,
            errno.EROFS, errno.ENOSYS, errno.ECONNREFUSED}
def attempt(name, attack):
    try:
        attack()
        print("WORKED", name)
    except OSError as error:
        if error.errno not in EXPECTED and not isinstance(error, socket.gaierror):
            print("ODD", name, error)
"""

GROUPS: dict[str, dict[str, str]] = {
    "network": {
        "N1 TCP to a live port": "socket.create_connection(('127.0.0.1', params['port']), 1)",
        "N2 UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "N2 DNS": "socket.getaddrinfo('example.org', 80)",
        "N3 metadata service": "socket.create_connection(('169.254.169.254', 80), 1)",
        "N4 IPv6": "socket.create_connection(('::1', params['port']), 1)",
        "N5 vsock": "socket.socket(40)",
        "N6 netlink": "socket.socket(16, socket.SOCK_RAW, 0)",
        "N7 packet": "socket.socket(17, socket.SOCK_RAW)",
        "N8 AF_ALG": "socket.socket(38, socket.SOCK_SEQPACKET)",
        "N9 abstract socket of the machine": "socket.socket(socket.AF_UNIX).connect('\\0' + params['abstract'])",
        "N9 abstract socket by datagram": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', '\\0' + params['abstract_datagram'])",
        "N10 pathname socket of the machine": "socket.socket(socket.AF_UNIX).connect(params['pathname'])",
        "N10 pathname socket by a pair": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].connect(params['pathname_datagram'])",
    },
    "files": {
        "F8 another descriptor": "refused(not [fd for fd in range(3, 256) if fd != 4 and os.path.exists(f'/proc/self/fd/{fd}')])",
        "F1 password file": "open('/etc/shadow')",
        "F1 list of users": "open('/etc/passwd')",
        "F2 root's home": "os.listdir('/root')",
        "F2 homes": "os.listdir('/home')",
        "F2 /var": "os.listdir('/var')",
        "F2 /run": "os.listdir('/run')",
        "F2 /sys": "os.listdir('/sys')",
        "F3 folders of other runs": "refused(not [name for name in os.listdir('/tmp') if name.startswith('qjs')])",
        "F4 settings": "open(params['project'])",
        "F4 tests": "open(params['tests'])",
        "F5 write to the root": "open('/owned', 'w')",
        "F5 write to /usr": "open('/usr/owned', 'w')",
        "F5 write to /dev": "open('/dev/owned', 'w')",
        "F5 write to /etc": "open('/etc/owned', 'w')",
        "F5 write to a library": "open(os.__file__, 'a')",
        "F5 mode of a library": "os.chmod(os.__file__, 0o777)",
        "F5 mode of an open library": "os.fchmod(os.open(os.__file__, os.O_RDONLY), 0o777)",
        "F5 mode of somebody's file": "os.chmod(params['victim_file'], 0o777)",
        "F5 owner of somebody's file": "os.chown(params['victim_file'], os.getuid(), os.getgid())",
        "F5 time of somebody's file": "os.utime(params['victim_file'])",
        "F5 attribute of somebody's file": "os.setxattr(params['victim_file'], 'user.owned', b'x')",
        "F5 somebody's file": "open(params['victim_file'], 'a')",
        "F5 end of somebody's file": "os.truncate(params['victim_file'], 0)",
        "F5 end of somebody's file by opening it": "os.open(params['victim_file'], os.O_RDONLY | os.O_TRUNC)",
        "F5 name of somebody's file": "os.unlink(params['victim_file'])",
        "F5 folder in the machine's /tmp": "refused(not os.path.exists(params['victim_file'])) or os.mkdir('/tmp/qjs-owned')",
        "F6 device node": "os.mknod('null', 0o020666, os.makedev(1, 3))",
        "F7 symlink through init": "os.symlink('/proc/1/root/etc/shadow', 's') or open('s')",
        "F7 above the working directory": "open('/proc/self/cwd/../../etc/shadow')",
        "F9 new privileges": "refused(status('NoNewPrivs') == '1')",
        "F10 hard link out": "open('f', 'w').close() or os.link('f', '/dev/shm/f')",
        "F10 hard link in": "os.link(params['victim_file'], 'linked')",
        "F10 rename out": "open('g', 'w').close() or os.rename('g', '/dev/shm/g')",
    },
    "secrets": {
        "S1 environment of init": "refused(params['secret'][::-1].encode() not in open('/proc/1/environ', 'rb').read())",
        "S1 own environment": "refused(params['secret'][::-1] not in str(os.environ) + open('/proc/self/environ').read())",
        "S1 environment of the executor": "open(f\"/proc/{params['executor']}/environ\", 'rb').read()",
        "S1 environment of the parent": "open(f'/proc/{os.getppid()}/environ', 'rb').read()",
        "S3 processes of others": "refused([p for p in os.listdir('/proc') if p.isdigit()] == ['1'])",
        "S3 command lines of others": "open(f\"/proc/{params['executor']}/cmdline\").read()",
        "S4 secrets in a command line": "refused(params['secret'][::-1] not in open('/proc/self/cmdline').read())",
    },
    "proc": {
        "P1 core_pattern": "open('/proc/sys/kernel/core_pattern', 'w')",
        "P1 swappiness": "open('/proc/sys/vm/swappiness', 'w')",
        "P2 sysrq": "refused(os.stat('/proc/sysrq-trigger').st_rdev == os.makedev(1, 3)) or open('/proc/sysrq-trigger', 'w').write('h')",
        "P3 kernel addresses": "refused(not any(int(line.split()[0], 16) for line in open('/proc/kallsyms')))",
        "P3 keys": "refused(not open('/proc/keys').read())",
        "P3 the kernel's command line": "refused(not open('/proc/cmdline').read())",
        "P3 load of others": "refused(not any(os.path.exists('/proc/' + name) and open('/proc/' + name).read() for name in ('loadavg', 'stat', 'interrupts', 'softirqs', 'vmstat', 'diskstats', 'zoneinfo', 'locks', 'schedstat')))",
        "P3 kernel memory": "open('/proc/kcore', 'rb').read(1)",
        "P4 oom score": "os.write(os.open('/proc/self/oom_score_adj', os.O_WRONLY), b'-1000')",
        "P5 memory of the executor": "open(f\"/proc/{params['executor']}/mem\", 'rb').read(1)",
        "P5 memory of the parent": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
        "P5 files of the executor": "os.listdir(f\"/proc/{params['executor']}/fd\")",
        "P5 root of the executor": "os.listdir(f\"/proc/{params['executor']}/root\")",
    },
    "system calls": {
        "K1 ptrace": "call(101, 0, 0, 0, 0)",
        "K2 process_vm_readv": "call(310, 1, 0, 0, 0, 0, 0)",
        "K3 mount": "call(165, b'none', b'/tmp', b'tmpfs', 0, 0)",
        "K4 unshare user": "call(272, 0x10000000)",
        "K4 clone into a user namespace": "call(56, 0x10000011, 0, 0, 0, 0) or os._exit(0)",
        "K4 clone3": "call(435, 0, 0)",
        "K5 setns": "call(308, 0, 0)",
        "K6 keyctl": "call(250, 0, -3, 1)",
        "K6 add_key": "call(248, b'user', b'x', b'x', 1, -3)",
        "K7 bpf": "call(321, 0, 0, 0)",
        "K8 io_uring": "call(425, 1, 0)",
        "K9 userfaultfd": "call(323, 0)",
        "K10 perf": "call(298, 0, 0, -1, -1, 0)",
        "K11 clock": "time.clock_settime(time.CLOCK_REALTIME, 0)",
        "K12 host name": "socket.sethostname('owned')",
        "K13 chroot": "os.chroot('/tmp')",
        "K14 become root": "refused(os.getuid() == 0) or os.setuid(0)",
        "K14 any capability": "refused(status('CapEff') == status('CapPrm') == status('CapAmb') == '0' * 16)",
        "K14 gain a capability": "libc.prctl(47, 2, 7, 0, 0) == 0 or call(-1)",
        "K15 handles": "call(304, -100, 0, 0)",
        "K16 terminal input": "fcntl.ioctl(0, 0x5412, b'x')",
        "K17 personality": "call(135, 0x0040000)",
        "K18 x32": "call(0x40000000 + 39)",
        "K19 memfd": "os.memfd_create('x')",
        "K19 shared memory of System V": "call(29, 0, 4096, 0o1600)",
        "K19 message queue": "call(240, b'owned', 0o102, 0o600, 0)",
        "K19 news of files": "call(294, 0)",
        "K19 news of files, the older call": "call(253)",
        "K19 news of a folder": "fcntl.fcntl(os.open('/usr', os.O_RDONLY), fcntl.F_NOTIFY, fcntl.DN_ACCESS)",
        "K lock of a library": "fcntl.flock(os.open(os.__file__, os.O_RDONLY), fcntl.LOCK_SH)",
        "K lock of an open library": "fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), 37, struct.pack('hhqqi4x', 0, 0, 0, 0, 0))",
        "K lease of a library": "fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK)",
        "K signal at the zygote's death": "call(157, 1, 0, 0, 0, 0)",
        "K memory of a socket": "socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)",
        "K priority of its own files": "call(251, 1, 0, 2 << 13 | 7)",
        "K limits of the executor": "resource.prlimit(params['executor'], resource.RLIMIT_NOFILE, (0, 0))",
        "K limits of the parent": "refused(os.getppid() == 0) or resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))",
        "K priority of the executor": "os.setpriority(os.PRIO_PROCESS, params['executor'], 19)",
        "K processors of the executor": "os.sched_setaffinity(params['executor'], {0})",
        "K scheduling of the executor": "os.sched_setscheduler(params['executor'], os.SCHED_IDLE, os.sched_param(0))",
    },
    "signals": {
        "G1 everybody": "os.kill(-1, signal.SIGTERM) or refused(True)",
        "G1 the executor": "os.kill(params['executor'], 0)",
        "G1 somebody else": "os.kill(params['victim'], signal.SIGKILL)",
        "G1 somebody else by a descriptor": "signal.pidfd_send_signal(os.pidfd_open(params['victim']), signal.SIGKILL)",
        "G1 somebody else, queued": "call(129, params['victim'], 9, bytes([9, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]) + bytes(116))",
        "G1 somebody else by ownership": "(lambda a: fcntl.fcntl(a, fcntl.F_SETOWN, params['victim']))(os.open('/dev/null', os.O_RDONLY)) or refused(True)",
        "G2 the parent": "refused(os.getppid() == 0) or os.kill(os.getppid(), signal.SIGKILL)",
    },
}  # fmt: skip

# The executor is two processes: what must not reach the launcher must not reach the shell either, which has the secret.
for _attempts in GROUPS.values():
    for _name, _attack in list(_attempts.items()):
        if "params['executor']" in _attack and not _name.startswith("S3"):
            _attempts[_name.replace("the executor", "the shell")] = _attack.replace(
                "params['executor']", "params['shell']"
            )

NOT_WITHOUT_NAMESPACES: dict[str, str] = {
    "S3 processes of others": "the machine's list of processes is visible",
    "S3 command lines of others": "and so is how they were started: keep secrets out of command lines",
    "P3 the kernel's command line": "/proc is the machine's",
    "P3 keys": "/proc is the machine's; the keys themselves cannot be read",
    "P3 load of others": "/proc is the machine's",
}
"""What a run can do where it has no namespaces of its own (levels L2), and why that is so."""


SOON = 0.5
"""Seconds, for what only its time limit ends."""


class Bomb:
    """Code that wants too much, and what has to stand in its error; `wall` seconds."""

    def __init__(self, code: str, message: str, wall: float = 120) -> None:
        self.code = code
        self.message = message
        self.wall = wall


_FRAME = "import json, os\ndef send(data): os.write(4, len(data).to_bytes(4, 'little') + data)\n"

BOMBS: dict[str, Bomb] = {
    "G2 kills init": Bomb("import os\nos.kill(1, 9)\nwhile True: pass", "", SOON),
    "G3 stops itself": Bomb("import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\nwhile True: pass", "time limit", SOON),
    "G4 ignores every signal": Bomb(
        "import signal\nfor n in (15, 24, 14, 2): signal.signal(n, signal.SIG_IGN)\nwhile True: pass", "time limit", SOON
    ),
    "R1 fork bomb": Bomb("import os\nwhile True:\n  try: os.fork()\n  except OSError: pass", "time limit", SOON),
    "R2 thread bomb": Bomb(
        "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(99,)).start()", "can't start new thread"
    ),
    "R3 6 GiB": Bomb("x = bytearray(6 << 30)", "memory limit of 4 GiB"),
    "R4 shared memory bomb": Bomb(
        "import mmap\nm = []\nfor i in range(30): m.append(mmap.mmap(-1, 1 << 28, flags=mmap.MAP_SHARED | mmap.MAP_POPULATE))",
        "mem",
    ),
    "R5 disk fill": Bomb(
        "for i in range(9):\n  with open(f'f{i}', 'wb') as f: f.write(b'x' * 30_000_000)\nimport time\ntime.sleep(20)", "No space left"
    ),
    "R5 file of 33 MiB": Bomb("with open('f', 'wb') as f: f.write(b'x' * (33 << 20))", "File too large"),
    "R6 /dev/shm fill": Bomb("for i in range(5):\n  with open(f'/dev/shm/{i}', 'wb') as f: f.write(b'x' * 16_000_000)", "No space left"),
    "R7 inode bomb": Bomb("for i in range(20_000): open(str(i), 'w').close()\nimport time\ntime.sleep(20)", "No space left"),
    "R8 descriptors": Bomb("x = [open('/dev/null') for _ in range(999)]", "Too many open files"),
    "R9 raised limit": Bomb("import resource\nresource.setrlimit(resource.RLIMIT_NPROC, (1 << 40, 1 << 40))", "not allowed to raise"),
    "R10 endless loop": Bomb("while True: pass", "time limit of 0.5 s", SOON),
    "R11 ten busy children": Bomb("import os\nfor i in range(4): os.fork()\nwhile True: pass", "time limit", 1),
    "R12 null pointer": Bomb("import ctypes\nctypes.string_at(0)", "crashed: signal 11"),
    "R12 deep recursion": Bomb("import sys\nsys.setrecursionlimit(10**7)\ndef f(x): return f(sorted([x], key=f))\nf(1)", ""),
    "R13 huge integer": Bomb("9 ** 9 ** 9 ** 9", "time limit", SOON),
    "R13 squares": Bomb("a = 7\nwhile True: a = a * a", "time limit", SOON),
    "R13 catastrophic regular expression": Bomb("import re\nre.match('(a+)+$', 'a' * 40 + 'b')", "time limit", SOON),
    "R14 zip bomb": Bomb(
        "import io, zipfile\nb = io.BytesIO()\nwith zipfile.ZipFile(b, 'w', zipfile.ZIP_DEFLATED) as z:\n"
        "  for i in range(9): z.writestr(f'{i}', bytes(30_000_000))\nzipfile.ZipFile(b).extractall('.')\n"
        "import time\ntime.sleep(20)",
        "No space left",
    ),
    "C1 stdout flood": Bomb("line = 'x' * 1_000_000\nfor i in range(1000): print(line)", "output limit of 16 MiB"),
    "C2 stderr flood": Bomb("import os\nfor i in range(1000): os.write(2, b'x' * 1_000_000)", "output limit of 16 MiB"),
    "C3 result of 64 MiB": Bomb("import os\nos.write(4, (64 << 20).to_bytes(4, 'little'))\nwhile True: pass", "bad result"),
    "C4 forged length": Bomb("import os\nos.write(4, b'\\xff\\xff\\xff\\xff')\nwhile True: pass", "bad result"),
    "C5 forged result": Bomb(
        _FRAME + "send(json.dumps({'ok': True, 'counts': {'1': 99}, 'registers': [{'name': 'c', 'size': 1}]}).encode())", "bad result"
    ),
    "C6 closed descriptors": Bomb("import os\nos.closerange(0, 256)\nwhile True: pass", "crashed"),
    "C6 os._exit": Bomb("import os\nos._exit(0)", "crashed: exit code 0"),
    "C7 sys.exit": Bomb("import sys\nsys.exit(3)", "exited with 3"),
    "C8 object()": Bomb("def main(): return object()", "main"),
    "C8 NaN": Bomb("def main(): return {'x': float('nan')}", "nan is not a JSON number"),
    "C8 NaN in a message": Bomb(_FRAME + "send(b'{\"ok\":true,\"warnings\":[],\"value\":NaN}')", "bad result (NaN is not a JSON number)"),
    "C8 deep message": Bomb(_FRAME + "send(b'[' * 100_000 + b']' * 100_000)", "bad result (nested too deeply)"),
    "C8 deep list": Bomb("def main():\n  x = []\n  for _ in range(100_000): x = [x]\n  return x", "nested deeper than 24 levels"),
    "C9 pickle": Bomb(_FRAME + "import pickle\nsend(pickle.dumps([1]))", "bad result"),
    "C9 pickle of code": Bomb(_FRAME + "send(b'cos\\nsystem\\n(S\\'true\\'\\ntR.')", "bad result"),
}  # fmt: skip

WITHOUT_MOUNTS: dict[str, str] = {
    "R5 disk fill": "disk limit",
    "R7 inode bomb": "disk limit",
    "R14 zip bomb": "disk limit",
    "R6 /dev/shm fill": "permission denied",
}
"""Bombs that end otherwise than with a full folder where a run has no mounts of its own (levels L2)."""

ELSEWHERE: dict[str, str] = {
    "N11": "two runs at once",
    "N12": "the standard library",
    "F11": "odd names",
    "S2": "memory",
    "C10": "output that is no text",
    "X1": "what a run leaves in memory and folders",
    "X2": "what a run leaves in memory and folders",
    "X3": "a daemon",
    "X4": "test_warm_pool: samples; what a run leaves",
    "X5": "test_warm_pool: many runs",
    "X6": "test_warm_pool: a killed zygote",
    "X7": "test_launcher_deaths: SIGKILL of the executor",
    "T1": "odd text",
    "T2": "requirements are read by the service in front and never reach the executor",
}
"""Cases that take a test of their own."""
