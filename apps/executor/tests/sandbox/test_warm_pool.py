"""The stock of ready children: used once, replaced, renewed and restarted, and nothing of a run is left."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ..support.asking import ANSWER, ONCE, begin, resume_run
from ..support.executor import BELL, IMPORT_SECONDS, Executor, descendants, eventually, python, qasm
from ..support.processes import accepted, gone, left_by, stocked

RUNS = 200 if os.environ.get("EVERY_LEVEL") else 60
"""Two that are left are allowed for, since the stock changes; what every run leaves is noticed."""
DRAW = python(
    "import numpy, random\nfrom qiskit import QuantumCircuit\nprint(numpy.random.randint(1 << 60), random.random())\ncircuit = QuantumCircuit(1)"
)


def zygotes(executor: Executor) -> dict[str, dict[str, Any]]:
    """The zygotes of the health answer by their set."""
    return {zygote["set"]: zygote for zygote in executor.health()["sandbox"]["zygotes"]}


def parked(executor: Executor) -> int:
    """How many runs wait for an answer."""
    count: int = executor.health()["slots"]["parked"]
    return count


def test_health_shows_the_layers_and_every_probe(executor: Executor) -> None:
    executor.import_frameworks()
    sandbox = executor.health()["sandbox"]
    assert all(finding["ok"] for finding in sandbox["selftest"] if finding["probe"] != "namespaces")
    assert {"attacks", "bell", "bell of another framework", "memory", "disk", "processes", "time"} <= {
        one["probe"] for one in sandbox["selftest"]
    }
    eventually(lambda: stocked(executor), 60, "the stock is full")
    for zygote in zygotes(executor).values():
        assert "seccomp" in zygote["layers"]
        assert zygote["versions"]["qiskit"]
    assert set(zygotes(executor)) == {"circuits", "frameworks"}


def test_a_run_needs_no_import_of_its_own(executor: Executor) -> None:
    loaded = "import qiskit_aer, qiskit_qasm3_import, time\nfrom qiskit import QuantumCircuit\n"
    code = loaded + "print(time.process_time())\ncircuit = QuantumCircuit(1)"
    # A busy machine lengthens the time on the wall, not that on the processor.
    seconds = sorted(float(executor.run(python(code)).result["stdout"]) for _ in range(9))
    assert seconds[4] < 0.5, "15 to 40 ms alone; importing qiskit takes over a second"


@pytest.mark.long
def test_a_waiting_child_already_owns_what_a_small_run_writes(attacked: Executor) -> None:
    attacked.import_frameworks()
    for zygote in zygotes(attacked).values():
        assert 1024 * 1024 < zygote["own_bytes"] <= 7 * 1024 * 1024


def test_runs_draw_samples_of_their_own_and_the_same_ones_from_the_same_seed(executor: Executor) -> None:
    draws = [executor.run(DRAW).result["stdout"] for _ in range(4)]
    assert len(set(draws)) == 4
    plus = qasm('OPENQASM 3.0; include "stdgates.inc"; qubit[8] q; h q;')
    assert executor.run(plus).result["counts"] != executor.run(plus).result["counts"]
    seeded = [executor.run(plus, params={"seed": 11}).result["counts"] for _ in range(2)]
    assert seeded[0] == seeded[1]


def test_no_child_serves_twice(executor: Executor) -> None:
    code = "import os\nfrom qiskit import QuantumCircuit\nprint(os.getuid(), getattr(os, 'seen', 0))\nos.seen = 1\ncircuit = QuantumCircuit(1)"
    assert all(executor.run(python(code)).result["stdout"].split()[1] == "0" for _ in range(6))


@pytest.mark.long
def test_many_runs_leave_nothing(attacked: Executor) -> None:
    executor = attacked

    def count() -> tuple[int, ...]:
        pid = executor.process.pid
        fds = [len(os.listdir(f"/proc/{one}/fd")) for one in (pid, executor.shell)]
        groups = sum(
            1 for _, folders, _ in os.walk("/sys/fs/cgroup") for name in folders if name.startswith(_groups(executor))
        )
        zygote_fds = sum(len(os.listdir(f"/proc/{child}/fd")) for child in _zygote_pids(executor))
        return *fds, zygote_fds, groups, len(descendants(pid))

    executor.import_frameworks()
    eventually(lambda: stocked(executor), 60, "the stock is full")
    for _ in range(4):
        executor.run(qasm(BELL))
    eventually(lambda: stocked(executor), 60, "the stock is full")
    before = count()
    with ThreadPoolExecutor(2) as pool:
        ends = list(pool.map(lambda _: executor.run(qasm(BELL)).outcome["status"], range(RUNS)))
    assert ends == ["completed"] * RUNS
    eventually(lambda: stocked(executor) and count() <= tuple(n + 2 for n in before), 60, f"no growth over {before}")
    eventually(lambda: not _zombies(executor), 60, "every ended child is reaped")


def test_a_killed_zygote_loses_its_runs_and_no_others_and_is_replaced(executor: Executor) -> None:
    executor.import_frameworks()

    def restarts() -> dict[str, int]:
        return {name: zygote["restarts"] for name, zygote in zygotes(executor).items()}

    def folders() -> set[str]:
        return {one for one in left_by(executor.process.pid) if "qjs-pool" in one}

    eventually(lambda: stocked(executor), 60, "the stock is full")
    before, old = restarts(), folders()
    assert begin(executor, ONCE, "orphan").outcome["parked"] is True
    eventually(lambda: stocked(executor), 60, "no child is on its way")
    waiting = executor.descendants()
    sources = [
        {"kind": "code", "framework": framework, "code": f"import {framework}\nwhile True: pass"}
        for framework in ("qiskit", "cirq")
    ]
    with accepted(executor, *sources) as ends_of_both:
        ends = dict(zip(("circuits", "frameworks"), ends_of_both, strict=True))
        eventually(lambda: len(executor.descendants()) == len(waiting) + 2, 60, "both runs are alive")
        runs = executor.descendants()
        for zygote_set in ("circuits", "frameworks"):
            victim = next(pid for pid in _zygote_pids(executor) if pid in zygotes(executor)[zygote_set]["pids"])
            os.kill(victim, signal.SIGKILL)
            assert ends[zygote_set].result().outcome["error"]["code"] == "execution_service_lost"
            if zygote_set == "circuits":
                eventually(lambda: parked(executor) == 0, 40, "its run that waited for an answer is gone too")
                assert resume_run(executor, ONCE, "orphan", ANSWER).status == 409
                assert not ends["frameworks"].done()
    eventually(lambda: gone(runs), 60, "the runs are dead")
    eventually(lambda: stocked(executor), IMPORT_SECONDS, "new zygotes have children ready")
    assert restarts() == {name: count + 1 for name, count in before.items()}
    eventually(lambda: len(folders() & old) <= len(old) - 2, 60, "the folders of the old ones are removed")
    assert set(executor.run(qasm(BELL)).result["counts"]) <= {"00", "11"}
    assert begin(executor, ONCE, "next").outcome["parked"] is True
    assert "heard" in resume_run(executor, ONCE, "next", ANSWER).error["message"]


def _zygote_pids(executor: Executor) -> list[int]:
    """Children of the launcher but the shell; what they started are runs and ready children."""
    children = [pid for pid in descendants(executor.process.pid) if _parent(pid) == executor.process.pid]
    return [pid for pid in children if pid != executor.shell]


def _groups(executor: Executor) -> str:
    return f"qjs-{executor.process.pid}-"


def _stat(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return ["", "0"]


def _parent(pid: int) -> int:
    return int(_stat(pid)[1])


def _zombies(executor: Executor) -> list[int]:
    owners = {executor.process.pid, *_zygote_pids(executor)}
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    return [pid for pid in pids if _stat(pid)[0] == "Z" and _parent(pid) in owners]
