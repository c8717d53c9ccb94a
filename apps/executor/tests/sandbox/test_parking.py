"""Runs that wait for an answer: without a slot, without the processor, and not for ever."""

from __future__ import annotations

import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from qjs_executor.job import PARKED_MAX

from ..support.asking import ANSWER, ASK, ASKING, FRAMES, ONCE, SPINNING, TELL, begin, marqov, resume_run
from ..support.executor import BELL, Executor, eventually, qasm
from ..support.processes import LOOP, hold, stocked, taken, ticks

# The signal needs a handler: since Linux 6.13, a timer whose signal is ignored fires only once.
WOKEN = FRAMES + (
    "import ctypes, signal, threading\nsignal.signal(signal.SIGCONT, lambda *_: None)\nlibc = ctypes.CDLL(None)\n"
    "event = (ctypes.c_char * 64)()\nctypes.c_int.from_buffer(event, 8).value = signal.SIGCONT\n"
    "for half in range(1, 61):\n    timer, when = ctypes.c_void_p(), (ctypes.c_long * 4)(0, 0, half // 2, half % 2 * 500_000_000)\n"
    "    assert libc.timer_create(0, event, ctypes.byref(timer)) == 0\n"
    "    assert libc.timer_settime(timer, 0, when, None) == 0\n"
    "def spin():\n    while True: pass\nthreading.Thread(target=spin, daemon=True).start()\n"
)
"""A timer for each half second, since one that repeats ends for good when its signal is pending as the run is stopped."""


def parked(executor: Executor) -> int:
    """How many runs wait."""
    count: int = executor.health()["slots"]["parked"]
    return count


def displaced(executor: Executor) -> int:
    """How many runs have lost their place to others so far."""
    [count] = re.findall(r'^qjs_executor_parkings_total\{end="displaced"\} (\S+)$', page(executor), re.MULTILINE)
    return int(float(count))


def page(executor: Executor) -> str:
    """The executor's metrics."""
    return str(executor.http.get("/metrics").text)


def test_a_parked_run_uses_no_processor_time_whatever_it_has_started(attacked: Executor) -> None:
    eventually(lambda: stocked(attacked), 60, "no child is on its way")
    before = set(attacked.descendants())
    assert begin(attacked, SPINNING, "spinning").outcome["parked"] is True
    eventually(lambda: attacked.health()["slots"]["running"] == 0, 60, "its slot is free")
    eventually(lambda: stocked(attacked), 60, "no child is on its way")
    run = [pid for pid in attacked.descendants() if pid not in before]
    assert len(run) >= 4, "the first process and what it has started"
    used = ticks(run)
    time.sleep(1.5)
    assert ticks(run) - used <= 1
    assert "heard" in resume_run(attacked, SPINNING, "spinning", ANSWER).error["message"]
    eventually(lambda: attacked.descendants() == [], 60, "nothing of it is left")


def test_a_run_that_wakes_itself_loses_its_place(attacked: Executor) -> None:
    assert begin(attacked, WOKEN + ASK + TELL, "woken").outcome["parked"] is True
    eventually(lambda: parked(attacked) == 0, 40, "it is found out, before its time is over")
    eventually(lambda: attacked.descendants() == [], 60, "nothing of it is left")
    assert resume_run(attacked, ONCE, "woken", ANSWER).status == 409


def test_parked_runs_hold_no_slot_and_the_ninth_takes_the_place_of_the_oldest(executor: Executor) -> None:
    before = displaced(executor)
    for number in range(PARKED_MAX + 1):
        assert begin(executor, ONCE, f"run {number}").outcome["parked"] is True
    assert executor.health()["slots"] == {"total": 3, "running": 0, "parked": PARKED_MAX}
    assert executor.run(qasm(BELL)).outcome["status"] == "completed"
    assert resume_run(executor, ONCE, "run 0", ANSWER).status == 409
    for number in range(1, PARKED_MAX + 1):
        assert "heard" in resume_run(executor, ONCE, f"run {number}", ANSWER).error["message"]
    assert displaced(executor) == before + 1


@pytest.mark.long
def test_parked_runs_displace_each_other_when_they_hold_too_much_memory_together(executor: Executor) -> None:
    large = FRAMES + "kept = b'x' * 1_300_000_000\n" + ASK + TELL
    for name in ("large", "as large"):
        assert begin(executor, large, name).outcome["parked"] is True
    assert parked(executor) == 1
    assert resume_run(executor, ONCE, "large", ANSWER).status == 409
    assert "heard" in resume_run(executor, ONCE, "as large", ANSWER).error["message"]


@pytest.mark.long
def test_a_run_that_holds_too_much_memory_to_wait_is_not_parked_and_displaces_none(executor: Executor) -> None:
    assert begin(executor, ONCE, "small").outcome["parked"] is True
    large = FRAMES + "kept = b'x' * 2_300_000_000\n" + ASK + TELL
    assert begin(executor, large, "too large").outcome["parked"] is False
    assert parked(executor) == 1
    assert "heard" in resume_run(executor, ONCE, "small", ANSWER).error["message"]


def test_a_team_that_parks_many_runs_displaces_only_its_own(executor: Executor) -> None:
    few, many = {"keys": {"team": "few"}}, {"keys": {"team": "many"}}
    assert begin(executor, ONCE, "few", **few).outcome["parked"] is True
    for number in range(PARKED_MAX + 1):
        assert begin(executor, ONCE, f"many {number}", **many).outcome["parked"] is True
    assert "heard" in resume_run(executor, ONCE, "few", ANSWER, **few).error["message"]
    ends = [resume_run(executor, ONCE, f"many {number}", ANSWER, **many).status for number in range(PARKED_MAX + 1)]
    assert ends == [409] * 2 + [200] * (PARKED_MAX - 1)


def test_only_one_of_two_concurrent_answers_resumes_a_run(executor: Executor) -> None:
    begin(
        executor,
        FRAMES
        + ASK
        + "heard = hear()\nimport time\ntime.sleep(0.5)\n"
        + "say({'ok': False, 'code': 'execution_error', 'message': 'told'})",
        "two",
    )
    with ThreadPoolExecutor(2) as pool:
        ends = [pool.submit(resume_run, executor, ONCE, "two", ANSWER) for _ in range(2)]
        assert sorted(end.result().status for end in ends) == [200, 409]


@pytest.mark.long
def test_a_stretch_has_the_whole_wall_time_and_no_more(executor: Executor) -> None:
    code = (
        FRAMES
        + "import time\ntime.sleep(8)\n"
        + ASK
        + "hear()\ntime.sleep(8)\n"
        + "say({'ok': False, 'code': 'execution_error', 'message': 'in time'})"
    )
    begin(executor, code, "slow", limits={"wall_seconds": 15})
    assert resume_run(executor, code, "slow", ANSWER, limits={"wall_seconds": 15}).error["message"] == "in time"
    code = FRAMES + ASK + "hear()\nwhile True: pass"
    begin(executor, code, "endless")
    assert (
        resume_run(executor, code, "endless", ANSWER, limits={"wall_seconds": 0.5}).error["message"]
        == "time limit of 0.5 s"
    )


def test_hanging_up_in_a_later_stretch_kills_the_run(executor: Executor) -> None:
    code = FRAMES + ASK + "hear()\nwhile True: pass"
    begin(executor, code, "left")
    again = {"resume": {"run_id": "left"}, "answers": [ANSWER]}
    with taken(executor, marqov(code), **{**ASKING, "run_id": "left", **again}) as answer:
        assert "accepted" in next(answer.iter_lines())
    eventually(lambda: executor.health()["slots"]["running"] == 0, 60, "the slot is free")
    eventually(lambda: executor.descendants() == [], 60, "nothing of it is left")


def test_a_resumed_run_gets_a_free_slot_before_any_new_job(executor: Executor) -> None:
    begin(executor, ONCE, "waits")
    hang_ups = [hold(executor, LOOP) for _ in range(3)]
    with ThreadPoolExecutor(2) as pool:
        ends = [pool.submit(resume_run, executor, ONCE, "waits", ANSWER) for _ in range(2)]
        eventually(lambda: any(end.done() for end in ends), 60, "one of them holds the run for its turn")
        refused, going_on = sorted(ends, key=lambda end: not end.done())
        assert refused.result().status == 409
        new = executor.http.post("/run", json=executor.request(qasm(BELL)))
        assert new.status_code == 503, "new jobs are refused as ever"
        assert not going_on.done()
        hang_ups.pop()()
        assert "heard" in going_on.result().error["message"]
    for hang_up in hang_ups:
        hang_up()
    eventually(lambda: executor.health()["slots"]["running"] == 0, 60, "the slots are free")
