"""Tests which isolation the machine offers, by real executions that also attack the executor.

A probe that fails lowers the level or refuses jobs; it never only warns.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from ..job import (
    OUTCOME_NAMES,
    WITH_NAMESPACES,
    CircuitLeft,
    Completed,
    Failed,
    Isolation,
    Job,
    JobParams,
    Limits,
    Outcome,
)
from ..logs import facts, log

LEVELS: dict[Isolation, str] = {
    "namespaces": "L3",
    "rootless": "L3-rootless",
    "uid": "L2",
    "landlock": "L2",
    "process": "none",
}

NOTES: dict[Isolation, str] = {
    "namespaces": "Each run is a single-use process with a user, process list, network and read-only root of its own,"
    " filtered system calls, and limits on memory, time, processes and output.",
    "rootless": "Each run is a single-use process with a process list, network and read-only root of its own, filtered"
    " system calls, and limits on memory, time, processes and output; all runs share one user of the machine.",
    "uid": "Each run is a single-use process with a user of its own, an allow-list of files, filtered system calls, and"
    " limits on memory, time, processes and output. It sees the machine's process list.",
    "landlock": "Each run is a single-use process of the executor's own user with an allow-list of files, filtered"
    " system calls, and limits on memory, time, processes and output. It sees the machine's process list, and what it"
    " writes lies on the machine's disk.",
    "process": "Each run is a process of the executor's own user with limits. IT CAN DO ANYTHING THAT USER CAN: for"
    " code that you trust only.",
}

_SECONDS = 30.0
_MEMORY_SECONDS = 180.0
"""Until 4 GiB are full, where only the control group bounds them: a virtual machine can hand memory out slowly."""
_CANARY = "EXECUTOR_SELFTEST_CANARY"

# Executed in the child, with the process ids of shell and launcher and a port on which the shell listens; prints each
# attack that worked.
_ATTACKS = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    if libc.syscall(number, *arguments) < 0:
        raise OSError
def status(name):
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return lines[name].split()
def unlike(name, value):
    if status(name)[0] == value:
        raise OSError
attacks = {
    "shadow": lambda: open("/etc/shadow"),
    "shell's environment": lambda: open(f"/proc/{params['shell']}/environ", "rb").read(),
    "launcher's environment": lambda: open(f"/proc/{params['launcher']}/environ", "rb").read(),
    "executor's home": lambda: os.listdir("/home"),
    "signal to the shell": lambda: os.kill(params["shell"], 0),
    "signal to the launcher": lambda: os.kill(params["launcher"], 0),
    "network": lambda: socket.create_connection(("127.0.0.1", params["port"]), 1),
    "vsock": lambda: socket.socket(40, socket.SOCK_STREAM),
    "user namespace": lambda: libc.unshare(0x10000000) == 0 or call(-1),
    "ptrace": lambda: libc.ptrace(0, 0, 0, 0) == 0 or call(-1),
    "write to a library": lambda: open(os.__file__, "a"),
    "truncation of a file": lambda: os.truncate(params["file"], 0),
    "truncation by opening": lambda: os.open(params["file"], os.O_RDONLY | os.O_TRUNC),
    "write to /usr": lambda: open("/usr/owned", "w"),
    "core_pattern": lambda: open("/proc/sys/kernel/core_pattern", "w"),
    "user 0": lambda: os.setuid(0),
    "no seccomp": lambda: unlike("Seccomp", "2"),
    "no no_new_privs": lambda: unlike("NoNewPrivs", "1"),
    "bounding capabilities": lambda: params["bounding"] and unlike("CapBnd", "0" * 16) or call(-1),
    "capabilities": lambda: unlike("CapEff", "0" * 16),
    "descriptors": lambda: os.fstat(3),
    "inherited secret": lambda: params["canary"] in open("/proc/self/environ").read() + str(os.environ) or call(-1),
}
for name, attack in attacks.items():
    try:
        attack()
        print("WORKED", name)
    except OSError:
        pass
import stringprep, colorsys, importlib.metadata
assert importlib.metadata.entry_points(group="qiskit.transpiler.init"), "no entry points"
"""
_BELL = """
from qiskit import QuantumCircuit
circuit = QuantumCircuit(2)
circuit.h(0)
circuit.cx(0, 1)
"""
_POISON = "import json, os, numpy\njson.dumps = os.write = numpy.zeros = None\nopen('left', 'w').close()\n"
_CLEAN = "import json, os, numpy\nassert json.dumps and os.write and numpy.zeros\nassert not os.path.exists('left')\n"
_DRAW = "import numpy\nprint(numpy.random.randint(1 << 60))\n"
_FILL = (
    "for i in range(9):\n  with open(f'fill{i}', 'wb') as f: f.write(b'x' * 16_000_000)\nimport time\ntime.sleep(9)\n"
)
_FORKS = "import os, signal\nfor i in range(999):\n  if os.fork() == 0: signal.pause()\n"

_OTHER_BELL = """
import cirq
a, b = cirq.LineQubit.range(2)
circuit = cirq.Circuit(cirq.H(a), cirq.CNOT(a, b), cirq.measure(a, b))
"""

RunWith = Callable[[Job, Limits, Callable[[], None]], Awaitable[Outcome]]


async def self_test(run: RunWith, isolation: Isolation, launcher: int) -> list[dict[str, Any]]:
    """The finding of every probe: {probe, ok, detail}. `launcher` is its process id. Without isolation ("process") the
    only probe is that an execution works. Raises SandboxFault when no child takes a job."""
    if isolation == "process":
        outcome = await _try(run, _BELL, {})
        return [{"probe": "bell", "ok": isinstance(outcome, Completed), "detail": _said(outcome)}]
    os.environ[_CANARY] = canary = os.urandom(16).hex()
    findings: list[dict[str, Any]] = []

    def found(probe: str, ok: bool, detail: str) -> None:
        findings.append({"probe": probe, "ok": ok, "detail": detail})
        if not ok:
            log.error("a probe failed: %s: %s", probe, detail, extra=facts(isolation=isolation))

    try:
        with socket.create_server(("127.0.0.1", 0)) as listener, _file_of_everybody() as file:
            params = {
                "shell": os.getpid(),
                "launcher": launcher,
                "port": listener.getsockname()[1],
                "canary": canary,
                "file": file,
                # An ordinary user cannot empty the set; without new privileges nothing can be gained from it.
                "bounding": isolation not in ("landlock", "process"),
            }
            outcome = await _try(run, _ATTACKS + _BELL, params)
        printed = _printed(outcome)
        found("attacks", "WORKED" not in printed and isinstance(outcome, Completed), printed or _said(outcome))
        counts = json.loads(outcome.result)["counts"] if isinstance(outcome, Completed) else {}
        found("bell", bool(counts) and not set(counts) - {"00", "11"}, f"counts {counts}")
    finally:
        del os.environ[_CANARY]
    draws = [_printed(await _try(run, _DRAW + _BELL, {})).strip() for _ in range(2)]
    found("two children draw differently", len(set(draws)) == 2 and all(draws), " and ".join(draws))
    await _try(run, _POISON + _BELL, {})
    clean = await _try(run, _CLEAN + _BELL, {})
    found("poisoned, then clean", isinstance(clean, Completed), _said(clean))
    for probe, code, expected, wall in (
        ("memory", "x = bytearray(20 * 1000**3)", "memory limit", _MEMORY_SECONDS),
        ("disk", _FILL, "No space left" if isolation in WITH_NAMESPACES else "disk limit", _SECONDS),
        ("processes", _FORKS, "BlockingIOError", _SECONDS),
        ("time", "while True: pass", "time limit", 0.5),
    ):
        outcome = await _try(run, code, {}, wall)
        found(probe, isinstance(outcome, Failed) and expected in outcome.message, _said(outcome))
    return findings


@contextlib.contextmanager
def _file_of_everybody() -> Iterator[str]:
    """A file that every user may write, as far as its mode decides. Where the executor's root is read-only there is
    none, and the run's root has no folder for one either."""
    try:
        fd, path = tempfile.mkstemp(prefix="qjs-selftest-")
    except OSError:
        yield "/qjs-selftest"
        return
    try:
        os.fchmod(fd, 0o666)
        os.write(fd, b"whole")
        yield path
    finally:
        os.close(fd)
        os.unlink(path)


async def frameworks_test(run: RunWith) -> dict[str, Any]:
    """The finding for a child with every framework, which is forked and confined like those of `self_test`."""
    outcome = await _try(run, _OTHER_BELL, {}, framework="cirq")
    return {"probe": "bell of another framework", "ok": isinstance(outcome, CircuitLeft), "detail": _said(outcome)}


async def _try(
    run: RunWith, code: str, params: dict[str, Any], wall: float = _SECONDS, framework: str = "qiskit"
) -> Outcome:
    job = Job(
        run_id="selftest",
        source={"kind": "code", "framework": framework, "code": code},
        backend="selftest",
        engine="statevector",
        max_qubits=2,
        params=JobParams(shots=100, given={"shots": 100, **params}),
    )
    return await run(job, Limits(wall_seconds=wall), lambda: None)


def _printed(outcome: Outcome) -> str:
    if isinstance(outcome, Completed):
        return str(json.loads(outcome.result).get("stdout", ""))
    return outcome.stdout if isinstance(outcome, Failed) else ""


def _said(outcome: Outcome) -> str:
    return outcome.message[:300] if isinstance(outcome, Failed) else OUTCOME_NAMES[type(outcome)]
