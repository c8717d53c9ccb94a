"""Executors as the tests start them: processes of their own, reached over HTTP."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from .lanes import long
from .ordinary_user import as_ordinary_user, needs_user_namespaces

FOLDER = Path(__file__).resolve().parents[2]
TOKEN = "a-token-for-tests-only"
BELL = 'OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; bit[2] c; h q[0]; cx q[0], q[1]; c = measure q;'
START_SECONDS = 300.0
"""Of an executor: it imports, and attacks itself, beside everything else that the machine does."""

LEVELS: list[Any] = ["this user", long("ordinary user")]
"""Whose executor is attacked; the levels without namespaces have a script of their own, `scripts/attack-every-level`."""
if os.environ.get("EVERY_LEVEL"):
    LEVELS += ["ordinary user, landlock", "root, uid"]


def qasm(code: str) -> dict[str, str]:
    """A source in OpenQASM."""
    return {"kind": "code", "framework": "openqasm", "code": code}


def python(code: str) -> dict[str, str]:
    """A source in Python with qiskit."""
    return {"kind": "code", "framework": "qiskit", "code": code}


IMPORT_SECONDS = 300
"""More than the import of the frameworks takes on any machine."""

CIRQ_BELL = {
    "kind": "code",
    "framework": "cirq",
    "code": "import cirq\na, b = cirq.LineQubit.range(2)\n"
    "circuit = cirq.Circuit(cirq.H(a), cirq.CNOT(a, b), cirq.measure(a, b, key='m'))\n",
}
"""A program that needs a framework other than qiskit."""


def eventually(holds: Callable[[], bool], seconds: float, what: str) -> None:
    """Waits for a state, not for a moment; fails after the deadline."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.01)


@dataclass
class Answer:
    """One answered run: the HTTP status, its lines, and the parsed result of a completed one."""

    status: int
    lines: list[dict[str, Any]]

    @property
    def outcome(self) -> dict[str, Any]:
        """The last line's outcome."""
        outcome: dict[str, Any] = self.lines[-1]["outcome"]
        return outcome

    @property
    def result(self) -> dict[str, Any]:
        """The result of a completed run."""
        assert self.outcome["status"] == "completed", self.outcome
        result: dict[str, Any] = json.loads(self.outcome["result"])
        return result

    @property
    def error(self) -> dict[str, Any]:
        """The error of a failed run."""
        assert self.outcome["status"] == "failed", self.outcome
        error: dict[str, Any] = self.outcome["error"]
        return error


class Executor:
    """One running executor. `before` stands before its command, to start it as another user. It
    imports the frameworks when a test first needs them, which most tests never do."""

    def __init__(self, *, before: Sequence[str] = (), **environment: str) -> None:
        self.environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(FOLDER),
            "EXECUTOR_TOKEN": TOKEN,
            # One that is free now can be taken before the executor binds it.
            "EXECUTOR_PORT": "0",
            "EXECUTOR_WARM_FRAMEWORKS": "0",
            "EXECUTOR_DRAIN_SECONDS": "0",
            **environment,
        }
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            [*before, sys.executable, "-B", "-m", "qjs_executor"],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self.http = httpx.Client(base_url="http://127.0.0.1", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=150)
        try:
            eventually(self._answers, START_SECONDS, "the executor answers")
        except BaseException:
            self.process.kill()
            raise

    def _answers(self) -> bool:
        assert self.process.poll() is None, f"the executor ended while it started: {self.log[-2000:]}"
        found = re.search(r'"port": ([0-9]+)[^\n]*"msg": "ready"', self.log)
        if found is None:
            return False
        self.http.base_url = httpx.URL(f"http://127.0.0.1:{found[1]}")
        try:
            return self.http.get("/health").status_code == 200
        except httpx.TransportError:
            return False

    @property
    def log(self) -> str:
        """What it has logged so far."""
        return os.pread(self._log.fileno(), 1 << 24, 0).decode()

    def health(self) -> dict[str, Any]:
        """The health answer."""
        answer = self.http.get("/health")
        assert answer.status_code == 200
        health: dict[str, Any] = answer.json()
        return health

    def zygote(self, packages: str) -> dict[str, Any]:
        """What the health answer says of the zygote of a set of packages."""
        return next(zygote for zygote in self.health()["sandbox"]["zygotes"] if zygote["set"] == packages)

    def import_frameworks(self) -> None:
        """Has every framework imported, as the first program that needs one does."""
        assert self.run(CIRQ_BELL).outcome["status"] == "completed"

    def request(self, source: dict[str, str], shots: int = 100, wall: float = 120, **fields: Any) -> dict[str, Any]:
        """The body of a run; `fields` replace those of the same name, `params` is added to."""
        params = {"shots": shots, **fields.pop("params", {})}
        return {
            "run_id": "test",
            "source": source,
            "backend": "aer-statevector",
            "engine": "statevector",
            "max_qubits": 28,
            "params": params,
            "limits": {"wall_seconds": wall},
            **fields,
        }

    def run(self, source: dict[str, str], shots: int = 100, wall: float = 120, **fields: Any) -> Answer:
        """Runs a source to its end. Like the service, it sends the request again while the frameworks are imported, or
        while a run that was killed before still holds a slot."""
        deadline = time.monotonic() + IMPORT_SECONDS
        while True:
            answer = self.http.post("/run", json=self.request(source, shots, wall, **fields))
            later = answer.status_code == 503 and any(
                reason in answer.text for reason in ("still being imported", "every slot is taken")
            )
            if not later or time.monotonic() > deadline:
                return Answer(answer.status_code, [json.loads(line) for line in answer.text.splitlines()])
            time.sleep(0.05)

    @property
    def shell(self) -> int:
        """The process that answers, whose parent, the launcher, is the one that was started."""
        shell: int = next(pid for pid in descendants(self.process.pid) if "service.shell" in command_of(pid))
        return shell

    def descendants(self) -> list[int]:
        """Process ids of everything that the executor started for a run and that is alive; not of its stock."""
        alive = descendants(self.process.pid)
        stock = {pid for zygote in self.health()["sandbox"]["zygotes"] for pid in zygote["pids"]} | {self.shell}
        return [pid for pid in alive if pid not in stock and os.path.exists(f"/proc/{pid}")]

    def close(self) -> None:
        """Ends it and what it started."""
        self.http.close()
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(60)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._log.close()


def command_of(pid: int) -> str:
    """The command line of a process; empty once it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


def descendants(root: int) -> list[int]:
    """Live descendants of a process, from the kernel's list."""
    parents: dict[int, int] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = Path(entry.path, "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry.name)] = int(fields[1])
    found = [root]
    for pid in found:
        found.extend(child for child, parent in parents.items() if parent == pid)
    return found[1:]


def ordinary_executor(landlock: bool, **environment: str) -> Executor:
    """An executor of an ordinary user, without namespaces if `landlock`. Skips the test where there can be none."""
    if landlock:
        before = as_ordinary_user() if os.getuid() == 0 else []
        return Executor(before=before, **{"EXECUTOR_SLOTS": "3", "EXECUTOR_ISOLATION": "landlock", **environment})
    needs_user_namespaces()
    return Executor(before=as_ordinary_user(), **{"EXECUTOR_SLOTS": "3", **environment})
