"""Runs that wait for an answer: without a slot, without the processor, and not for ever."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from qjs_executor.sandbox.seam import PARKED_MAX, Asked, Job, Limits, NotParked, Script
from qjs_executor.sandbox.warm_sandbox import WarmSandbox

from .asking import FRAMES, TWICE, answer_to, asked, begin, circuit_ask, go_on, marqov
from .conftest import BELL, Executor, descendants, eventually, qasm
from .launched import launched

ASK = f"say({{'ask': {circuit_ask()!r}}})\n"
TELL = "heard = hear()['answer']\nsay({'ok': False, 'code': 'execution_error', 'message': 'heard ' + heard['counts']})"
ONCE = FRAMES + ASK + TELL
ANSWER = {"digest": "1" * 64, "counts": '{"1": 10}'}
SPINNING = FRAMES + (
    "import threading, signal\nfor _ in range(2):\n    if os.fork() == 0:\n        if os.fork() == 0: os.setsid()\n"
    "        while True: pass\ndef spin():\n    while True: pass\nthreading.Thread(target=spin, daemon=True).start()\n"
)
WOKEN = FRAMES + (
    "import ctypes, signal, threading\nlibc = ctypes.CDLL(None)\n"
    "event = (ctypes.c_char * 64)()\nctypes.c_int.from_buffer(event, 8).value = signal.SIGCONT\n"
    "timer, when = ctypes.c_void_p(), (ctypes.c_long * 4)(0, 0, 0, 300_000_000)\n"
    "assert libc.timer_create(0, event, ctypes.byref(timer)) == 0\nassert libc.timer_settime(timer, 0, when, None) == 0\n"
    "def spin():\n    while True: pass\nthreading.Thread(target=spin, daemon=True).start()\n"
)


def parked(executor: Executor) -> int:
    """How many runs wait."""
    count: int = executor.health()["slots"]["parked"]
    return count


def zygotes(executor: Executor) -> list[dict[str, Any]]:
    """The zygotes of the health answer."""
    found: list[dict[str, Any]] = executor.health()["sandbox"]["zygotes"]
    return found


def ticks(pids: list[int]) -> int:
    """Processor time of processes, in clock ticks."""
    total = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total


def test_a_parked_run_uses_no_processor_whatever_it_has_started(attacked: Executor) -> None:
    code = SPINNING + ASK + TELL
    before = set(attacked.descendants())
    assert begin(attacked, code, "spinning").outcome["parked"] is True
    eventually(lambda: attacked.health()["slots"]["running"] == 0, 5, "its slot is free")
    run = [pid for pid in attacked.descendants() if pid not in before]
    assert len(run) >= 4, "the first process and what it has started"
    used = ticks(run)
    time.sleep(1.5)
    assert ticks(run) - used <= 1
    assert "heard" in go_on(attacked, code, "spinning", ANSWER).error["message"]
    eventually(lambda: attacked.descendants() == [], 10, "nothing of it is left")


def test_a_run_that_wakes_itself_loses_its_place(attacked: Executor) -> None:
    assert begin(attacked, WOKEN + ASK + TELL, "woken").outcome["parked"] is True
    eventually(lambda: parked(attacked) == 0, 5, "it is found out")
    eventually(lambda: attacked.descendants() == [], 10, "nothing of it is left")
    assert go_on(attacked, ONCE, "woken", ANSWER).status == 409


def test_parked_runs_hold_no_slot_and_the_ninth_takes_the_place_of_the_oldest(executor: Executor) -> None:
    for number in range(PARKED_MAX + 1):
        assert begin(executor, ONCE, f"run {number}").outcome["parked"] is True
    assert executor.health()["slots"] == {"total": 3, "running": 0, "parked": PARKED_MAX}
    assert executor.run(qasm(BELL)).outcome["status"] == "completed"
    assert go_on(executor, ONCE, "run 0", ANSWER).status == 409
    for number in range(1, PARKED_MAX + 1):
        assert "heard" in go_on(executor, ONCE, f"run {number}", ANSWER).error["message"]
    assert 'qjs_executor_parkings_total{end="displaced"} 1' in executor.http.get("/metrics").text


def test_of_two_answers_at_once_one_wins(executor: Executor) -> None:
    begin(
        executor,
        FRAMES
        + ASK
        + "heard = hear()\nimport time\ntime.sleep(0.5)\n"
        + "say({'ok': False, 'code': 'execution_error', 'message': 'told'})",
        "two",
    )
    with ThreadPoolExecutor(2) as pool:
        ends = [pool.submit(go_on, executor, ONCE, "two", ANSWER) for _ in range(2)]
        assert sorted(end.result().status for end in ends) == [200, 409]


def test_a_stretch_has_the_whole_wall_time_and_no_more(executor: Executor) -> None:
    code = (
        FRAMES
        + "import time\ntime.sleep(0.7)\n"
        + ASK
        + "hear()\ntime.sleep(0.7)\n"
        + "say({'ok': False, 'code': 'execution_error', 'message': 'in time'})"
    )
    begin(executor, code, "slow", limits={"wall_seconds": 1})
    assert go_on(executor, code, "slow", ANSWER, limits={"wall_seconds": 1}).error["message"] == "in time"
    code = FRAMES + ASK + "hear()\nwhile True: pass"
    begin(executor, code, "endless")
    assert (
        go_on(executor, code, "endless", ANSWER, limits={"wall_seconds": 0.5}).error["message"] == "time limit of 0.5 s"
    )


def test_hanging_up_in_a_later_stretch_ends_the_run(executor: Executor) -> None:
    code = FRAMES + ASK + "hear()\nwhile True: pass"
    begin(executor, code, "left")
    with pytest.raises(httpx.ReadTimeout):
        executor.http.post(
            "/run",
            json=executor.request(
                marqov(code),
                run_id="left",
                circuits="ask",
                script={"seed": 1, "now": 0},
                resume={"run_id": "left"},
                answers=[ANSWER],
            ),
            timeout=1,
        )
    eventually(lambda: executor.health()["slots"]["running"] == 0, 5, "the slot is free")
    eventually(lambda: executor.descendants() == [], 5, "nothing of it is left")


def test_a_run_goes_on_before_any_new_job_when_a_slot_is_free_again(start: Callable[..., Executor]) -> None:
    executor = start(EXECUTOR_SLOTS="1")
    begin(executor, ONCE, "waits")
    busy = (
        FRAMES + "import time\ntime.sleep(1.5)\n" + "say({'ok': False, 'code': 'execution_error', 'message': 'over'})"
    )
    with ThreadPoolExecutor(3) as pool:
        running = pool.submit(executor.run, marqov(busy))
        eventually(lambda: executor.health()["slots"]["running"] == 1, 5, "the only slot is taken")
        going_on = pool.submit(go_on, executor, ONCE, "waits", ANSWER)
        eventually(lambda: go_on(executor, ONCE, "waits", ANSWER).status == 409, 5, "it is held for its turn")
        assert executor.run(qasm(BELL)).status == 503, "new jobs are refused as ever"
        assert running.result().error["message"] == "over"
        assert "heard" in going_on.result().error["message"]


def test_the_end_of_a_zygote_ends_its_parked_runs_and_no_more(start: Callable[..., Executor]) -> None:
    executor = start(EXECUTOR_SLOTS="1")
    begin(executor, ONCE, "orphan")
    for pid in descendants(executor.process.pid):
        if b"sandbox.zygote" in Path(f"/proc/{pid}/cmdline").read_bytes() and os.getpgid(pid) == pid:
            os.kill(pid, signal.SIGKILL)
    eventually(lambda: parked(executor) == 0, 10, "it is gone")
    assert go_on(executor, ONCE, "orphan", ANSWER).status == 409
    eventually(lambda: all(one["restarts"] and one["ready"] for one in zygotes(executor)), 60, "others are there")
    ask = asked(begin(executor, TWICE, "next"))
    assert asked(go_on(executor, TWICE, "next", answer_to(executor, TWICE, ask)))["number"] == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_of_a_parked_run_outlives_its_executor(start: Callable[..., Executor], number: int) -> None:
    executor = start(EXECUTOR_SLOTS="1")
    begin(executor, SPINNING + ASK + TELL, "left behind")
    children = descendants(executor.process.pid)
    executor.process.send_signal(number)
    assert executor.process.wait(10) == (0 if number == signal.SIGTERM else -number)
    eventually(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in children), 5, "all of it is gone")


def test_a_run_waits_no_longer_than_its_time() -> None:
    async def scenario() -> None:
        async with launched(EXECUTOR_SLOTS="1") as launcher:
            sandbox = WarmSandbox(launcher, 2, parked_seconds=0.3)
            await sandbox.start()
            job = Job(
                "late",
                marqov(ONCE),
                "local",
                "statevector",
                4,
                {"shots": 1},
                script=Script(circuits="ask", seed=1, now=0.0),
            )
            outcome = await sandbox.run(job, Limits(wall_seconds=20), lambda: None)
            assert isinstance(outcome, Asked)
            assert outcome.parked
            with sandbox.hold("late"):
                await asyncio.sleep(0.5)
                assert sandbox.facts().parked == 1, "who is about to go on is not ended"
            deadline = time.monotonic() + 5
            while sandbox.facts().parked:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.01)
            assert sandbox.facts().parkings == {"expired": 1}
            with pytest.raises(NotParked), sandbox.hold("late"):
                pass
            await sandbox.close()

    asyncio.run(scenario())
