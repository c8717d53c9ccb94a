"""The frameworks are imported when a program first needs one: the executor is ready without them, no program pays for
the import with its own time, and one that fails is tried again."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pytest

from ..support.executor import BELL, CIRQ_BELL, IMPORT_SECONDS, Executor, eventually, qasm

WALL_SECONDS = 8.0
"""Of a program. The import is held up for longer, since a busy machine may give the program itself little time."""


@pytest.fixture(scope="module")
def cold() -> Iterator[Executor]:
    """An executor that has imported no framework yet. The tests below follow one another."""
    started = Executor(EXECUTOR_SLOTS="2")
    yield started
    started.close()


def test_a_ready_executor_offers_frameworks_that_it_has_not_imported(cold: Executor) -> None:
    assert {"qiskit", "cirq", "pennylane", "openqasm"} <= cold.health()["frameworks"].keys()
    assert cold.run(qasm(BELL)).outcome["status"] == "completed"
    assert (cold.zygote("circuits")["state"], cold.zygote("frameworks")["state"]) == ("up", "cold")
    assert cold.zygote("frameworks")["up"] is False


def test_a_failed_import_loses_the_requests_that_wait_for_it_and_is_logged(cold: Executor) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(cold.http.post, "/run", json=cold.request(CIRQ_BELL))
        eventually(lambda: cold.zygote("frameworks")["pids"] != [], 60, "the import has begun")
        assert cold.zygote("frameworks")["state"] == "starting"
        os.kill(cold.zygote("frameworks")["pids"][0], signal.SIGKILL)
        answer = waiting.result()
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "execution_service_lost"
    assert "the frameworks could not be imported" in answer.json()["error"]["message"]
    assert "the frameworks could not be imported" in cold.log
    assert cold.zygote("frameworks")["state"] == "down"
    assert cold.run(qasm(BELL)).outcome["status"] == "completed"


def send(number: signal.Signals, pids: list[int]) -> None:
    """Sends a signal to processes, of which some may be gone."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def test_the_first_programs_of_a_framework_wait_for_one_import_without_losing_their_own_time(cold: Executor) -> None:
    began = time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        ends = [pool.submit(cold.run, CIRQ_BELL, wall=WALL_SECONDS) for _ in range(2)]
        eventually(lambda: cold.zygote("frameworks")["pids"] != [], 60, "the import has begun")
        importing = cold.zygote("frameworks")["pids"]
        send(signal.SIGSTOP, importing)
        try:
            eventually(lambda: time.monotonic() - began > WALL_SECONDS, 60, "it takes longer than a program may")
        finally:
            send(signal.SIGCONT, importing)
        answers = [end.result() for end in ends]
    waited = time.monotonic() - began
    assert [answer.outcome["status"] for answer in answers] == ["completed", "completed"]
    assert waited > WALL_SECONDS
    assert all(answer.outcome["execution_time_ms"] < waited * 1000 for answer in answers)
    frameworks = cold.zygote("frameworks")
    assert (frameworks["state"], frameworks["restarts"]) == ("up", 0)
    probes = {finding["probe"]: finding["ok"] for finding in cold.health()["sandbox"]["selftest"]}
    assert probes["bell of another framework"] is True


@pytest.mark.long
def test_by_default_frameworks_are_imported_once_the_executor_is_ready(start: Callable[..., Executor]) -> None:
    executor = start(EXECUTOR_SLOTS="1", EXECUTOR_WARM_FRAMEWORKS="1")
    eventually(lambda: executor.zygote("frameworks")["state"] == "up", IMPORT_SECONDS, "the frameworks are imported")
