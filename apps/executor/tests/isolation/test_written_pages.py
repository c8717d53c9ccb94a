"""The pages that runs write are found out and copied early, and nothing but the time of the copy changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_PREPARED = """
import ctypes, mmap, os, resource, sys
sys.path.insert(0, {folder!r})
from qjs_executor.isolation import written_pages

PAGE = resource.getpagesize()
PAGES = 64
memory = mmap.mmap(-1, PAGES * PAGE, flags=mmap.MAP_PRIVATE)
memory[:] = bytes([7]) * len(memory)
start = ctypes.addressof(ctypes.c_char.from_buffer(memory))

def write(pages):
    for page in pages:
        memory[page * PAGE] = 9

def covered(ranges):
    return [n for n in range(PAGES) if any(a <= start + n * PAGE < a + length for a, length in ranges)]

def faults(work):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    work()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def in_a_fork(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException as error:
            print(repr(error), flush=True)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
{test}
"""


def _run(test: str) -> None:
    folder = str(Path(__file__).parents[2])
    done = subprocess.run(
        [sys.executable, "-I", "-c", _PREPARED.format(folder=folder, test=test)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_rehearsal_dies_with_its_zygote() -> None:
    _run("""
import signal
from qjs_executor.isolation import linux
linux.adopt_orphans()
told, tell = os.pipe()

def rehearse():
    os.write(tell, str(os.getpid()).encode())
    signal.pause()

zygote = os.fork()
if zygote == 0:
    written_pages.learn([rehearse])
    os._exit(0)
rehearsal = int(os.read(told, 20))
os.kill(zygote, signal.SIGKILL)
os.waitpid(zygote, 0)
signal.alarm(60)
assert os.WTERMSIG(os.waitpid(rehearsal, 0)[1]) == signal.SIGKILL
""")


def test_the_pages_that_a_rehearsal_writes_are_found_and_its_writes_stay_private() -> None:
    _run("""
ranges = written_pages.learn([lambda: write([3, 4, 40])])
assert covered(ranges) == [3, 4, 40], covered(ranges)
assert memory[3 * PAGE] == memory[40 * PAGE] == 7
""")


def test_copied_pages_keep_their_content_and_are_written_without_another_copy() -> None:
    _run("""
def child():
    written_pages.own([(start, PAGES * PAGE)])
    assert memory[:] == bytes([7]) * len(memory)
    assert faults(lambda: write(range(PAGES))) < PAGES // 4
in_a_fork(child)
def unprepared():
    assert faults(lambda: write(range(PAGES))) >= PAGES
in_a_fork(unprepared)
""")


def test_the_pages_of_most_rehearsals_come_first_when_not_all_fit() -> None:
    _run("""
written_pages.OWN_BYTES_MAX = 2 * PAGE
both = written_pages.learn([lambda: write(range(0, 30)), lambda: write([5, 6, 50]), lambda: write([5, 6, 51])])
assert sum(length for _, length in both) <= 2 * PAGE
""")


def test_a_rehearsal_that_raises_dies_or_never_ends_counts_for_nothing() -> None:
    _run("""
written_pages.REHEARSAL_SECONDS = 5
def fail():
    raise RuntimeError
def loop():
    while True:
        pass
ranges = written_pages.learn([fail, lambda: os._exit(3), lambda: os.kill(os.getpid(), 9), loop, lambda: write([8])])
assert covered(ranges) == [8]
try:
    os.waitpid(-1, os.WNOHANG)
    raise AssertionError("a rehearsal was left")
except ChildProcessError:
    pass
""")


def test_ranges_that_are_no_longer_mapped_are_skipped() -> None:
    _run("""
gone = mmap.mmap(-1, PAGE)
address = ctypes.addressof(ctypes.c_char.from_buffer(gone))
def child():
    written_pages.own([(8 * PAGE, PAGE), (start, PAGES * PAGE)])
    assert faults(lambda: write(range(PAGES))) < PAGES // 4
in_a_fork(child)
""")
