"""What a child reports is judged within bounds, whatever it is, and never where it would hold up others."""

from __future__ import annotations

import asyncio
import json
import os
import time
from dataclasses import replace
from typing import Any

import pytest

from qjs_executor.isolation.linux import children_of
from qjs_executor.job import Job, JobParams, Script
from qjs_executor.protocol import bounded_process
from qjs_executor.protocol.answer import LAYOUT_BYTES_MAX, METADATA_BYTES_MAX
from qjs_executor.protocol.judgement import AT_ONCE_BYTES_MAX, Judgement, judge
from qjs_executor.protocol.reports import CircuitReport, TaskReport, UserError, ValueReport
from qjs_executor.protocol.result import value_text

INFO = {
    "num_qubits": 1,
    "num_clbits": 1,
    "depth": 1,
    "size": 1,
    "gate_counts": {},
    "two_qubit_gates": 0,
    "num_measurements": 1,
    "has_mid_circuit_measurement": False,
    "diagram": "",
}
REGISTERS = [{"name": "c", "size": 1}]
COUNTED = {"ok": True, "counts": {"0": 10}, "registers": REGISTERS, "circuit_info": INFO, "warnings": []}
FILLER = " " * AT_ONCE_BYTES_MAX
"""Makes any message too long to be read at once."""


def job(script: Script | None = None, kind: str = "code") -> Job:
    """A job whose message is judged."""
    code = {"kind": "code", "framework": "qiskit", "code": "x = 1"}
    circuit = {"kind": "circuit", "format": "qasm3", "payload": "x"}
    source = code if kind == "code" else circuit
    return Job("job", source, "local", "statevector", 28, JobParams(shots=10), script=script or Script())


def judged(message: dict[str, Any] | bytes, of: Job | None = None) -> Judgement:
    """The judgement of a message, which is the same whether it is read at once or apart."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    asked = of or job()
    here = asyncio.run(judge(body, asked))
    assert asyncio.run(judge(body + FILLER.encode(), asked)) == here
    return here


def value(message: dict[str, Any], stdout: str = "") -> dict[str, Any]:
    """The result of a job whose `main` returned a value."""
    report = judged(message).report
    assert isinstance(report, ValueReport)
    result: dict[str, Any] = json.loads(value_text(job(), report, 1.0, stdout, ["ours"]))
    return result


@pytest.mark.parametrize(
    "number", [True, False, "1", None, [], 10**400, 10**4000], ids=lambda number: f"{str(number)[:8]}"
)
def test_an_expectation_value_that_no_double_holds_is_refused(number: Any) -> None:
    item = {"name": "Z", "kind": "expval", "value": number}
    assert judged({**COUNTED, "expectation_values": [item]}).problem == "expectation_values: value"


def test_expectation_values_are_doubles() -> None:
    item = {"name": "Z", "kind": "expval", "value": 1}
    report = judged({**COUNTED, "expectation_values": [item]}).report
    assert isinstance(report, CircuitReport)
    assert report.expectation_values is not None
    assert [type(one["value"]) for one in report.expectation_values] == [float]


def observed(*items: Any, groups: Any = None) -> Judgement:
    """The judgement of the values of two observables."""
    asked = replace(job(), params=JobParams(shots=10, observables=["Z", "X"]))
    return judged({**COUNTED, "expectation_values": [*items], "observable_groups": groups}, asked)


def test_the_values_of_a_jobs_observables_are_checked_and_stand_under_the_jobs_own_texts() -> None:
    exact = {"observable": "forged", "value": 1, "standard_error": 0.0, "method": "exact", "more": 1}
    report = observed(exact, {**exact, "standard_error": None, "method": "sampled"}, groups=1).report
    assert isinstance(report, CircuitReport)
    assert report.observable_groups == 1
    assert report.expectation_values == [
        {"observable": "Z", "value": 1.0, "standard_error": 0.0, "method": "exact"},
        {"observable": "X", "value": 1.0, "standard_error": None, "method": "sampled"},
    ]
    for wrong in ({}, {"value": 10**400}, {"standard_error": "0"}, {"method": "guessed"}):
        assert "expectation_values" in observed(exact, {**exact, **wrong} if wrong else {}).problem
    assert observed(exact).problem == observed(exact, exact, exact).problem == "expectation_values"
    for groups in (-1, 1_001, "1", True):
        assert observed(exact, exact, groups=groups).problem == "observable_groups"


@pytest.mark.parametrize("text", [b"1e999", b"NaN", b"-Infinity"])
def test_a_number_that_is_not_finite_is_refused_wherever_it_stands(text: bytes) -> None:
    message = json.dumps({**COUNTED, "expectation_values": [{"value": 0.125}]}).encode()
    assert "number" in judged(message.replace(b"0.125", text)).problem
    assert "number" in judged(b'{"ok": true, "warnings": [], "value": [%s]}' % text).problem


def test_text_that_a_database_cannot_hold_never_leaves_the_executor() -> None:
    result = value({"ok": True, "warnings": ["a\0b", "\ud800"], "value": {"a\0": "b\0\\u0000\\\0", "shots": "\0"}})
    assert result["a\ufffd"] == "b\ufffd\\u0000\\\ufffd"
    assert result["shots"] == "\ufffd"
    assert result["warnings"] == ["ours", "a\ufffdb", "?"]
    assert judged({"ok": True, "warnings": [], "value": "\ud800"}).problem == "a lone surrogate"
    report = judged({**COUNTED, "workflow_metadata": {"\ud800": "\0"}, "registers": [{"name": "\0", "size": 1}]}).report
    assert isinstance(report, CircuitReport)
    assert (report.workflow_metadata, report.registers) == ({"?": "\ufffd"}, [{"name": "\ufffd", "size": 1}])
    error = judged({"ok": False, "code": "execution_error", "message": "\ud800\0", "line": None}).report
    assert error == UserError("execution_error", "?\ufffd", None)


def test_a_returned_value_becomes_the_result_unread() -> None:
    big = 10**4000
    message = {
        "ok": True,
        "warnings": ["its own"],
        "device_shots": [10],
        "value": {"n": big, "e": {}, "stdout": 1, "metadata": "mine"},
    }
    result = value(message, stdout="printed")
    assert (result["n"], result["e"], result["stdout"]) == (big, {}, 1)
    assert (result["shots"], result["backend"], result["warnings"]) == (10, "local", ["ours", "its own"])
    assert result["metadata"]["count_source"] is None
    assert value({"ok": True, "warnings": [], "value": [1, 2]}, stdout="x")["result"] == [1, 2]
    assert value({"ok": True, "warnings": [], "value": {}}, stdout="x")["stdout"] == "x"


DEEP = b'{"ok":true,"warnings":[],"value":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
MANY = b"[" + b"[]," * 300_000 + b"0]"
LONG = b'{"a":"%s"}' % (b"x" * METADATA_BYTES_MAX)
"""Few values, and more text than any part of a message besides the result may have."""


@pytest.mark.parametrize(
    ("message", "problem", "of"),
    [
        (DEEP, "nested too deeply", job()),
        (DEEP[:33] + b"[" * 40 + b"]" * 40 + b"}", "nested deeper than 32 levels", job()),
        (b"\x80\x04N.", "can't decode byte 0x80", job()),
        (b'{"ok":true,"value":\x80', "can't decode byte 0x80", job()),
        (b'{"ok":true,"warnings":%s}' % MANY, "more than 200000 values", job(kind="circuit")),
        (b'{"ok":true,"result":%s}' % MANY, "more than 200000 values", job(Script(task={"name": "f"}))),
        (b'{"ok":true,"warnings":[],"value":1,"workflow_metadata":{"a":%s}}' % MANY, "workflow_metadata", job()),
        (b'{"ok":true,"found":{"openqasm3":"","warnings":[],"observables":%s}}' % MANY, "found: observables", job()),
        (b'{"ok":true,"warnings":%s,"value":1}' % MANY, "warnings", job()),
        (b'{"ok":true,"warnings":[],"value":1,"workflow_metadata":%s}' % LONG, "workflow_metadata", job()),
        (b'{"ok":true,"found":{"openqasm3":"","warnings":[],"observables":[%s]}}' % LONG, "found: observables", job()),
    ],
    ids=[
        "deep",
        "33 levels",
        "a pickle",
        "bytes in JSON",
        "a circuit",
        "a task",
        "metadata",
        "observables",
        "warnings",
        "long metadata",
        "long observables",
    ],
)
def test_a_message_out_of_bounds_is_refused(message: bytes, problem: str, of: Job) -> None:
    assert problem in asyncio.run(judge(message, of)).problem


def test_a_layout_has_a_limit_of_bytes() -> None:
    compiled = {
        "ok": True,
        "format": "qasm3",
        "program": "",
        "media_type": "text/plain",
        "qubits": 1,
        "readout": None,
        "openqasm3": None,
        "registers": REGISTERS,
        "circuit_info": INFO,
        "warnings": [],
    }
    asked = replace(job(kind="circuit"), kind="compile")
    fits = LAYOUT_BYTES_MAX - len('{"layout":""}')
    assert judged({**compiled, "layout": "x" * fits}, asked).problem == ""
    assert judged({**compiled, "layout": "x" * (fits + 1)}, asked).problem == "layout"


def test_a_large_task_value_is_passed_on_as_text() -> None:
    text = json.dumps([[]] * 300_000)
    report = asyncio.run(
        judge(json.dumps({"ok": True, "result": text}).encode(), job(Script(task={"name": "f"})))
    ).report
    assert report == TaskReport(text, None, None)


def test_a_message_that_needs_too_much_memory_is_refused_while_the_event_loop_continues() -> None:
    body = b'{"ok":true,"warnings":[],"value":[%s0]}' % (b"[]," * 21_000_000)

    async def watched() -> tuple[Judgement, float, float]:
        judging = asyncio.create_task(judge(body, job()))
        longest = busiest = 0.0
        while not judging.done():
            began, used = time.monotonic(), time.process_time()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - began)
            busiest = max(busiest, time.process_time() - used)
        return judging.result(), longest, busiest

    judgement, longest, busiest = asyncio.run(watched())
    assert judgement.problem == f"it takes more than 1024 MiB of memory to read its {len(body)} bytes"
    # A busy machine lengthens the time on the wall, not that on the processor.
    assert busiest < 1.0
    assert longest < 7.0


def test_a_computation_apart_is_killed_with_its_time_and_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_process, "SECONDS", 1)
    # On a busy machine it takes long to get a second of the processor.
    monkeypatch.setattr(bounded_process, "WALL_SECONDS", 120)

    def endless() -> bytes:
        while True:
            pass

    def idle() -> bytes:
        time.sleep(60)
        return b""

    async def bounded() -> None:
        with pytest.raises(bounded_process.OutOfBounds, match="more than 1 s of processor time"):
            await bounded_process.compute_apart(endless, 1 << 20)
        monkeypatch.setattr(bounded_process, "WALL_SECONDS", 0.2)
        with pytest.raises(bounded_process.OutOfBounds, match=r"more than 0\.2 s$"):
            await bounded_process.compute_apart(idle, 1 << 20)
        monkeypatch.setattr(bounded_process, "WALL_SECONDS", 60)
        before = children_of(os.getpid())
        given_up = asyncio.create_task(bounded_process.compute_apart(idle, 1 << 20))
        await asyncio.sleep(0)
        given_up.cancel()
        await asyncio.gather(given_up, return_exceptions=True)
        while children_of(os.getpid()) - before:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(bounded(), 180))


def test_a_computation_apart_holds_none_of_the_descriptors_of_its_parent() -> None:
    source, target = os.pipe()

    def inherited() -> bytes:
        return b"".join(b"%d " % fd for fd in (source, target) if os.path.exists(f"/proc/self/fd/{fd}"))

    try:
        assert asyncio.run(bounded_process.compute_apart(inherited, 64 << 20)) == b""
    finally:
        os.close(source)
        os.close(target)
