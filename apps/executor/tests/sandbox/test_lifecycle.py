"""Starting, cancelling and sharing slots."""

from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from ..support.executor import BELL, FOLDER, TOKEN, Executor, eventually, python, qasm
from ..support.processes import LOOP, hold

DAEMON = python(
    "import os, time\nfrom qiskit import QuantumCircuit\n"
    "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n    os._exit(0)\n"
    "circuit = QuantumCircuit(1)"
)


def seconds_to_free(executor: Executor) -> float:
    """How long the slot of a run stays taken after its caller hung up."""
    eventually(lambda: executor.health()["slots"]["running"] == 0, 60, "no other run is dying")
    hang_up = hold(executor, LOOP)
    assert executor.health()["slots"]["running"] == 1
    hung_up = time.monotonic()
    hang_up()
    eventually(lambda: executor.health()["slots"]["running"] == 0, 60, "the slot is free")
    return time.monotonic() - hung_up


def test_hanging_up_kills_the_run_and_frees_its_slot_within_100_ms(executor: Executor) -> None:
    # 100 ms are the promise. A busy machine gets five times as long, and keeps even that only now and then.
    eventually(lambda: seconds_to_free(executor) < 0.5, 120, "the slot is free at once")
    eventually(lambda: executor.descendants() == [], 60, "no process of a run is left")


def seconds_to_refuse(executor: Executor) -> float:
    """How long a full executor takes to refuse a run."""
    asked = time.monotonic()
    answer = executor.http.post("/run", json=executor.request(qasm(BELL)))
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "busy"
    return time.monotonic() - asked


def test_a_full_executor_answers_busy_at_once_and_queues_nothing(executor: Executor) -> None:
    hang_ups = [hold(executor, LOOP) for _ in range(3)]
    # A run that waits for a slot is refused after ten seconds.
    assert min(seconds_to_refuse(executor) for _ in range(5)) < 1
    for hang_up in hang_ups:
        hang_up()
    eventually(lambda: executor.health()["slots"]["running"] == 0, 60, "the slots are free")
    assert executor.run(qasm(BELL)).outcome["status"] == "completed"


def test_runs_at_the_same_time_do_not_mix(executor: Executor) -> None:
    def bits(number: int) -> str:
        gates = "".join(f"x q[{place}];" for place in range(4) if number >> place & 1)
        source = qasm(f'OPENQASM 3.0; include "stdgates.inc"; qubit[4] q; {gates}')
        return str(next(iter(executor.run(source).result["counts"])))

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(bits, range(6))) == [f"{number:04b}"[::-1] for number in range(6)]


def test_an_executor_listens_on_the_address_that_it_is_given() -> None:
    executor = Executor(EXECUTOR_HOST="0.0.0.0")
    try:
        answer = httpx.get(f"http://127.0.0.2:{executor.http.base_url.port}/health", headers=executor.http.headers)
        assert answer.status_code == 200
    finally:
        executor.close()


def test_a_daemon_ends_with_its_run(executor: Executor) -> None:
    assert executor.run(DAEMON).result["counts"] == {"0": 100}
    eventually(lambda: executor.descendants() == [], 60, "no process of a run is left")


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"EXECUTOR_TOKEN": ""}, "EXECUTOR_TOKEN: must be a secret of at least 16 characters"),
        ({"EXECUTOR_SLOTS": "0"}, "EXECUTOR_SLOTS: must be an integer from 1 to 63"),
        ({"EXECUTOR_PORT": "http"}, "EXECUTOR_PORT: must be an integer from 0 to 65535"),
        ({"LOG_LEVEL": "loud"}, "LOG_LEVEL: must be"),
        ({"EXECUTOR_ISOLATION": "none"}, "EXECUTOR_ISOLATION: must be auto"),
    ],
)
def test_an_unusable_environment_is_refused_by_name(environment: dict[str, str], message: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-B", "-m", "qjs_executor"],
        env={"PYTHONPATH": str(FOLDER), "EXECUTOR_TOKEN": TOKEN, "EXECUTOR_PORT": "0", **environment},
        capture_output=True,
        timeout=120,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert message in ended.stderr
    assert ended.stdout == ""
