// The hostile programs. Each runs on Linux with Python's standard library and stops only at its limits.

/** Clears the signal that kills it with its parent, blocks all others, and leaves its session. */
export const outliving = `import ctypes, os, signal, time
ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
if os.fork() == 0:
    os.setsid()
    ctypes.CDLL(None).prctl(1, 0, 0, 0, 0)
time.sleep(900)
`

/** 60 processes that each map one file 120 times: the kernel needs seconds to unmap 57 million pages. */
export const slowDeath = `import mmap, os, tempfile, time
SIZE = 31 << 20
for folder in ("/dev/shm", tempfile.gettempdir()):
    try:
        path = os.path.join(folder, "mapped")
        with open(path, "wb") as file:
            file.write(bytes(SIZE))
        break
    except OSError:
        continue
descriptor = os.open(path, os.O_RDWR)
def mappings():
    maps = []
    try:
        for _ in range(120):
            maps.append(mmap.mmap(descriptor, SIZE, flags=mmap.MAP_SHARED | 0x8000))
    except (OSError, ValueError):
        pass
    time.sleep(900)
for _ in range(60):
    try:
        if os.fork() == 0:
            mappings()
    except OSError:
        break
mappings()
`

/** Signals every process that it can name: its parent, its zygote, the launcher. */
export const kills = `import os, resource, signal, time
until = time.time() + 20
while time.time() < until:
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        for pid in (os.getppid(), 1, *range(2, 2000), -1):
            if pid == os.getpid():
                continue
            try:
                os.kill(pid, number)
            except OSError:
                pass
    for pid in (1, os.getppid()):
        for change in (lambda: os.setpriority(os.PRIO_PROCESS, pid, 19), lambda: os.sched_setaffinity(pid, {0}),
                       lambda: resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, 3))):
            try:
                change()
            except (OSError, ValueError):
                pass
`

/** Its own result of 22 MiB of nested lists, on the pipe of results. */
export const hostileFrame = `import os
item = b"[],"
body = b'{"ok":true,"warnings":[],"value":1,"workflow_metadata":{"a":[' + item * (22 * 1024 * 1024 // 3 - 100) + b'[]]}}'
view = memoryview(len(body).to_bytes(4, "little") + body)
while view:
    view = view[os.write(4, view):]
os._exit(0)
`

export const forkBomb = `import os, threading, time
def more():
    while True:
        try:
            threading.Thread(target=time.sleep, args=(900,)).start()
        except (RuntimeError, MemoryError):
            return
while True:
    try:
        if os.fork() == 0:
            more()
    except OSError:
        more()
`

/** Private memory in several processes, memory files, full pipes and sockets. */
export const memoryBomb = `import os, socket, time
for _ in range(8):
    try:
        if os.fork() == 0:
            break
    except OSError:
        break
kept = []
while True:
    try:
        kept.append(bytearray(os.urandom(1 << 12) * (1 << 10)))
    except MemoryError:
        try:
            pair = socket.socketpair()
            pair[0].setblocking(False)
            kept.append(pair)
            while True:
                pair[0].send(bytes(1 << 16))
        except (OSError, MemoryError):
            time.sleep(0.1)
`

/** Files until the disk, then empty files until the inodes are used up, and holds them. */
export const diskBomb = `import itertools, os, tempfile, time
for folder in (tempfile.gettempdir(), os.getcwd(), "/dev/shm"):
    for number in itertools.count():
        try:
            with open(os.path.join(folder, f"f{number}"), "wb", buffering=0) as file:
                while file.write(bytes(1 << 20)):
                    pass
        except OSError:
            if number > 3:
                break
    for number in itertools.count():
        try:
            os.close(os.open(os.path.join(folder, f"e{number}"), os.O_CREAT | os.O_WRONLY))
        except OSError:
            break
time.sleep(900)
`

export const printing = `import sys
line = "x" * 65_000
while True:
    print(line)
    print(line, file=sys.stderr)
`

export const loop = 'while True:\n    pass\n'

/** Tasks that each sleep. */
export const wideGraph = (tasks: number, seconds: number) => `import time
from marqov import task, workflow

@task
def wait(place):
    time.sleep(${seconds})
    return place

@task
def total(values):
    return {"counts": {"0": len(values)}}

@workflow
def wide():
    return total([wait(place) for place in range(${tasks})])
`

/** Tasks with values of almost the largest size, and one that takes all of them. */
export const largeValues = (tasks: number) => `from marqov import task, workflow

@task
def large(place):
    return "x" * (15 << 20)

@task
def total(values):
    return {"counts": {"0": len(values)}}

@workflow
def heavy():
    return total([large(place) for place in range(${tasks})])
`

/** A result of almost the largest size that does not compress well. */
export const largeResult = `import base64, os

def main():
    return {"counts": {"0": 10}, "text": base64.b64encode(os.urandom(11 << 20)).decode()}
`

/** A point of a sweep: every third kills its process, every third outlives its time limit, the others return 1 MiB. */
export const hostilePoints = `import os, time
def main(n):
    if n % 3 == 0:
        os.abort()
    if n % 3 == 1:
        time.sleep(60)
    return "x" * (1 << 20)
`
