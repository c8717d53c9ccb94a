"""Finds out, by trying it, what isolation the machine gives: a real run that also attacks the executor."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Any

from ..service.logs import facts, log
from .seam import Completed, Isolation, Job, Limits, Outcome, SandboxFault

NOTES: dict[Isolation, str] = {
    "namespaces": "Each run is a child process with a user, process list, network and read-only root of its own, and"
    " limits on memory, time, processes and output. System calls are not filtered.",
    "uid": "Each run is a child process with a user of its own and limits on memory, time, processes and output. It"
    " shares the network and whatever every user of the machine may read.",
    "process": "Each run is a child process with limits on memory, time and output, under the executor's own user: its"
    " code may read that user's files, signal the executor and use the network. Run trusted code only, or"
    " start the executor as root.",
}

FORBIDDEN: dict[Isolation, tuple[str, ...]] = {
    "namespaces": ("signal", "environment", "network", "files"),
    "uid": ("signal", "environment"),
    "process": (),
}
"""Which attacks have to fail for a kind of isolation to count."""

_SECONDS = 30.0

# The code runs in the child with the executor's process id, a port it listens on and a file only it may read.
_PROBE = """
import json, os, socket
def works(attack):
    try:
        attack()
        return True
    except OSError:
        return False
print(json.dumps({
    "signal": works(lambda: os.kill(params["executor"], 0)),
    "environment": works(lambda: open(f"/proc/{params['executor']}/environ", "rb").read()),
    "network": works(lambda: socket.create_connection(("127.0.0.1", params["port"]), 1)),
    "files": works(lambda: os.listdir("/home")),
}))
import stringprep  # A module that nothing has imported yet: the library folder is reachable.
from qiskit import QuantumCircuit
circuit = QuantumCircuit(2)
circuit.h(0)
circuit.cx(0, 1)
"""

RunWith = Callable[[Job, Limits, Callable[[], None], Isolation], Awaitable[Outcome]]


async def choose_isolation(run: RunWith, wanted: Isolation | None) -> tuple[Isolation, list[dict[str, Any]]]:
    """The strongest isolation whose self-test passes (only `wanted`, if given), and every probe's finding. Raises
    SandboxFault when none passes."""
    candidates: list[Isolation] = ["process"]
    if wanted:
        candidates = [wanted]
    elif os.getuid() == 0:
        # Without a user of its own a run would be root on the whole machine; that is never fallen back to.
        candidates = ["namespaces", "uid"]
    findings: list[dict[str, Any]] = []
    for isolation in candidates:
        problem = await _problem(run, isolation)
        findings.append({"probe": isolation, "ok": problem is None, "detail": problem or NOTES[isolation]})
        if problem is None:
            return isolation, findings
        log.warning("isolation '%s' does not work here: %s", isolation, problem, extra=facts(isolation=isolation))
    mend = "; put Python where every user may enter, allow namespaces, or start the executor as an ordinary user"
    raise SandboxFault(f"no isolation works: {findings[-1]['detail']}{mend if os.getuid() == 0 else ''}")


async def _problem(run: RunWith, isolation: Isolation) -> str | None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        job = Job(
            run_id=f"selftest-{isolation}",
            source={"kind": "code", "framework": "qiskit", "code": _PROBE},
            backend="selftest",
            engine="statevector",
            max_qubits=2,
            params={"shots": 100, "executor": os.getpid(), "port": listener.getsockname()[1]},
        )
        try:
            outcome = await run(job, Limits(wall_seconds=_SECONDS), lambda: None, isolation)
        except SandboxFault as error:
            return str(error)
    if not isinstance(outcome, Completed):
        return f"a Bell pair did not run: {outcome.message}"
    result = json.loads(outcome.result)
    if set(result["counts"]) - {"00", "11"}:
        return f"a Bell pair gave {result['counts']}"
    worked = json.loads(result["stdout"])
    broken = [attack for attack in FORBIDDEN[isolation] if worked[attack]]
    return f"user code could reach: {', '.join(broken)}" if broken else None
