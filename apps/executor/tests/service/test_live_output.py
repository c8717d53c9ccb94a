"""What a run prints arrives while it runs, whatever it does to its output, and agrees with what its end reports."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ..support.asking import ASKING, TWICE, answer_to, asked, begin, end_waiting, marqov, resume_run
from ..support.executor import Answer, Executor, eventually, python
from ..support.processes import taken

KIB = 1024
CIRCUIT = "\nfrom qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n"


def pieces(answer: Answer) -> list[dict[str, Any]]:
    return [line["output"] for line in answer.lines if "output" in line]


def text(answer: Answer) -> str:
    """All text that arrived, which follows one another without a gap."""
    at = 0
    for piece in pieces(answer):
        assert piece["offset"] == at
        at += len(piece["text"].encode("utf-8"))
    return "".join(piece["text"] for piece in pieces(answer))


def stored(answer: Answer) -> bytes:
    """The file of what it printed."""
    files = [line["artifact"] for line in answer.lines if line.get("artifact", {}).get("name") == "stdout.txt"]
    return base64.b64decode("".join(file["chunk"] for file in files))


@contextmanager
def lines_of(executor: Executor, source: dict[str, str], **fields: Any) -> Iterator[Iterator[dict[str, Any]]]:
    """The lines of a run as they arrive; the run is stopped when the block ends."""
    with taken(executor, source, **fields) as answer:
        yield (json.loads(line) for line in answer.iter_lines())


def first_output(lines: Iterator[dict[str, Any]]) -> dict[str, Any]:
    return next(line["output"] for line in lines if "output" in line)


@pytest.mark.parametrize(
    "prints",
    [
        "print('one')",
        "import os; os.write(1, b'one\\n')",
        "import subprocess; subprocess.run(['/bin/echo', 'one'])",
        "import sys; sys.stdout.write('one\\n')",
        "import os, sys\nif os.fork() == 0:\n    print('one')\n    while True: pass",
        "import os; fd = os.dup(1); os.close(1); os.write(fd, b'one\\n')",
    ],
)
def test_a_line_arrives_while_the_program_runs(executor: Executor, prints: str) -> None:
    with lines_of(executor, python(f"{prints}\nwhile True: pass")) as lines:
        assert first_output(lines) == {"offset": 0, "text": "one\n"}
    eventually(lambda: executor.descendants() == [], 60, "the run is stopped")


@pytest.mark.parametrize("framework", ["qiskit", "cirq"])
def test_a_program_can_reconfigure_its_streams(executor: Executor, framework: str) -> None:
    code = (
        "import sys, cirq\nprint('one')\n"
        "for stream in (sys.stdout, sys.stderr, sys.__stdout__):\n"
        "    assert not stream.seekable()\n"
        "    stream.reconfigure(encoding='ascii', errors='replace', newline='\\n')\n"
        "print('zwei: \\u00e4', sys.stdout.name, sys.stdout.encoding)\n"
    )
    answer = executor.run({"kind": "code", "framework": framework, "code": code + "def main(): return 1\n"})
    assert answer.outcome["status"] == "completed", answer.outcome
    assert text(answer) == "one\nzwei: ? <stdout> ascii\n"


def test_a_line_of_another_framework_and_of_a_task_arrives_while_it_runs(executor: Executor) -> None:
    code = "import cirq\nprint('one')\nwhile True: pass"
    with lines_of(executor, {"kind": "code", "framework": "cirq", "code": code}) as lines:
        assert first_output(lines)["text"] == "one\n"
    body = "from marqov import task, workflow\n@task\ndef f():\n    print('one')\n    while True: pass\n@workflow\ndef w(): return f()\n"
    ask = asked(begin(executor, body + "async def main(client, params):\n    return await w().run(client)\n", "prints"))
    node = ask["graph"]["nodes"][0]
    task = {"function": node["function"], "name": "f", "arguments": node["arguments"], "values": {}}
    with lines_of(executor, marqov(body), task=task, task_of="a job") as lines:
        assert first_output(lines)["text"] == "one\n"
    end_waiting(executor)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("characters and bytes that are none", "import os\nos.write(1, 'a€'.encode() + b'\\xff\\x00\\xe2\\x82')"),
        ("escape sequences", "print('\\x1b[2Jred\\x1b[31m', end='')"),
        ("a lone surrogate", "import os\nos.write(1, b'\\xed\\xa0\\x80')"),
        ("many short lines", "for n in range(3_000): print(n)"),
        ("a stream of its own", "import io, sys\nprint('one')\nsys.stdout = io.StringIO()\nprint('two')"),
        ("a closed stream", "import sys\nprint('one')\nsys.stdout.close()"),
        (
            "a stream that it reopens",
            "import os, sys\nprint('one')\nsys.stdout = os.fdopen(os.dup(1), 'w')\nprint('two')",
        ),
        (
            "output of a process that outlives it",
            "import os\nif os.fork() == 0:\n    print('two')\n    os._exit(0)\nos.wait()",
        ),
        ("nothing", ""),
    ],
)
def test_the_text_that_arrived_is_what_the_result_and_the_file_keep(executor: Executor, name: str, code: str) -> None:
    answer = executor.run(python(code + CIRCUIT))
    assert answer.outcome["status"] == "completed", (name, answer.outcome)
    assert text(answer) == answer.result.get("stdout", "") == stored(answer).decode("utf-8")
    assert "\0" not in text(answer)
    assert all("truncated_bytes" not in piece for piece in pieces(answer))


def test_the_text_of_a_program_of_two_children_is_what_its_result_keeps(executor: Executor) -> None:
    code = "import cirq, os\nos.write(1, b'one\\xe2')\nq = cirq.LineQubit(0)\ncircuit = cirq.Circuit(cirq.H(q), cirq.measure(q))"
    answer = executor.run({"kind": "code", "framework": "cirq", "code": code})
    assert text(answer) == answer.result["stdout"] == "one\ufffd"


def test_a_failed_program_has_sent_what_it_printed(executor: Executor) -> None:
    answer = executor.run(python("print('one')\nprint('two', end='')\nraise ValueError('no')"))
    assert answer.outcome["stdout"] == text(answer) == "one\ntwo"


def test_64_kib_of_a_flood_arrive_and_the_rest_is_counted(executor: Executor) -> None:
    printed = 300 * KIB
    answer = executor.run(python(f"for _ in range({printed // 64}): print('x' * 63){CIRCUIT}"))
    assert text(answer) == answer.result["stdout"][: 64 * KIB]
    assert len(text(answer)) == 64 * KIB
    assert pieces(answer)[-1]["truncated_bytes"] == printed - 64 * KIB
    assert len([piece for piece in pieces(answer) if "truncated_bytes" in piece]) <= 2


def test_a_program_that_never_stops_printing_is_stopped_and_counted_and_others_run(executor: Executor) -> None:
    answer = executor.run(python("while True: print('y' * 1000)"))
    assert "output limit of 16 MiB" in answer.error["message"]
    assert len(pieces(answer)) < 20
    assert pieces(answer)[-1]["truncated_bytes"] > 16 * KIB * KIB - 64 * KIB
    assert text(executor.run(python("print('next')" + CIRCUIT))) == "next\n"


def test_a_caller_that_does_not_read_holds_back_nothing_but_its_own_stream(executor: Executor) -> None:
    code = "while True: print('z' * 60)"
    with lines_of(executor, python(code), wall=30) as lines:
        assert next(lines)["accepted"]["run_id"] == "test"
        assert executor.run(python("print('next')" + CIRCUIT)).result["stdout"] == "next\n"


def test_a_continued_run_sends_only_what_is_new_and_a_repeated_one_everything(executor: Executor) -> None:
    first = begin(executor, TWICE, "twice")
    assert pieces(first) == [{"offset": 0, "text": "begins\n"}]
    one = answer_to(executor, TWICE, asked(first))
    second = resume_run(executor, TWICE, "twice", one)
    assert pieces(second) == [{"offset": 7, "text": "goes on\n"}]
    end_waiting(executor)
    repeated = executor.run(marqov(TWICE), run_id="again", answers=[one], **ASKING)
    assert text(repeated) == "begins\ngoes on\n"
    resume_run(executor, "", "again", {"digest": asked(repeated)["digest"], "values": {}, "metadata": None})


def test_what_a_finished_task_leaves_printing_is_not_of_the_next_task(executor: Executor) -> None:
    body = (
        "from marqov import task, workflow\n@task\ndef f(n):\n    print('task', n)\n    return n\n"
        "@workflow\ndef w(): return [f(n) for n in range(3)]\n"
        "async def main(client, params):\n    return await w().run(client)\n"
    )
    ask = asked(begin(executor, body, "tasks"))
    for number, node in enumerate(ask["graph"]["nodes"]):
        task = {"function": node["function"], "name": "f", "arguments": node["arguments"], "values": {}}
        answer = executor.run(marqov(body), task=task, task_of=f"job {os.getpid()}")
        assert text(answer) == answer.outcome["stdout"] == f"task {number}\n"
    end_waiting(executor)
