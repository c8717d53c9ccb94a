"""Messages that are built to be slow to read: they cost their own run, and the executor answers everybody else."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from ..support.asking import ASKING, marqov
from ..support.executor import BELL, TOKEN, Executor, python, qasm
from ..support.lanes import long
from ..support.processes import ticks

MIB = 1 << 20
SILENCE_SECONDS = 7.0
"""Of one health answer. Read where they arrive, these messages silence the executor for 7 to 28 s on a quiet machine."""
BUSY_SECONDS = 3.0
"""Of processor time between two health answers, which a busy machine does not lengthen."""
_SAY = (
    "import os\n"
    "def say(head, tail, size):\n"
    "    body = head + b'[],' * ((size - len(head) - len(tail)) // 3) + tail\n"
    "    view = memoryview(len(body).to_bytes(4, 'little') + body)\n"
    "    while view: view = view[os.write(4, view):]\n"
    "    os._exit(0)\n"
)


def frame(head: str, tail: str, size: int) -> str:
    """A program that sends a message of this size, full of empty lists."""
    return _SAY + f"say({head.encode()!r}, {tail.encode()!r}, {size})"


METADATA = ('{"ok":true,"warnings":[],"value":1,"workflow_metadata":{"a":[', "0]}}")
FRAMES: dict[str, tuple[dict[str, str], dict[str, Any], str]] = {
    "metadata of 22 MiB": (python(frame(*METADATA, 22 * MIB)), {}, "workflow_metadata"),
    "a request of 65 MiB": (
        marqov(frame('{"ask":{"kind":"graph","graph":[', "0]}}", 65 * MIB)),
        ASKING,
        "to read its",
    ),
}


@pytest.mark.parametrize("name", ["metadata of 22 MiB", long("a request of 65 MiB")])
def test_the_executor_answers_while_a_hostile_message_is_read(executor: Executor, name: str) -> None:
    source, fields, problem = FRAMES[name]
    with (
        ThreadPoolExecutor(2) as pool,
        httpx.Client(base_url=executor.http.base_url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http,
    ):
        hostile = pool.submit(executor.run, source, **fields)
        bell = pool.submit(executor.run, qasm(BELL))
        shell = executor.shell
        silence, busiest, used = 0.0, 0, ticks([shell])
        while not hostile.done():
            began = time.monotonic()
            assert http.get("/health").status_code == 200
            silence = max(silence, time.monotonic() - began)
            before, used = used, ticks([shell])
            busiest = max(busiest, used - before)
            time.sleep(0.05)
    assert problem in hostile.result().error["message"]
    assert silence < SILENCE_SECONDS
    assert busiest < BUSY_SECONDS * os.sysconf("SC_CLK_TCK")
    assert set(bell.result().result["counts"]) <= {"00", "11"}


def test_a_message_that_declares_too_many_bytes_ends_its_run_before_any_of_them_is_read(executor: Executor) -> None:
    code = "import os, time\nos.write(4, b'\\xff' * 4)\ntime.sleep(60)"
    for fields in ({}, ASKING):
        ended = executor.run(marqov(code), **fields)
        assert "it declares 4294967295 bytes, the limit is" in ended.error["message"]


FORGED = (
    "import json, os\n"
    "info = dict(num_qubits=1, num_clbits=1, depth=1, size=1, gate_counts={}, two_qubit_gates=0, num_measurements=1,"
    " has_mid_circuit_measurement=False, diagram='')\n"
    "body = json.dumps({'ok': True, 'counts': {'0': 100}, 'registers': [{'name': 'c', 'size': 1}], 'warnings': [],"
    " 'circuit_sha256': None, 'circuit_info': info}).encode()\n"
    "os.write(4, len(body).to_bytes(4, 'little') + body)\nos._exit(0)\n"
)


@pytest.mark.parametrize("framework", ["qiskit", "cirq", "pennylane", "marqov"])
def test_counts_that_a_program_wrote_itself_are_reported_as_the_programs(executor: Executor, framework: str) -> None:
    result = executor.run({"kind": "code", "framework": framework, "code": FORGED}).result
    assert result["counts"] == {"0": 100}
    assert result["metadata"]["count_source"] == "program_reported"


def test_counts_of_a_process_that_ran_user_code_are_reported_as_the_programs(executor: Executor) -> None:
    code = "from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)"
    assert executor.run(python(code)).result["metadata"]["count_source"] == "program_reported"
    assert executor.run(qasm(BELL)).result["metadata"]["count_source"] == "simulator_sampled"
    found = {"kind": "code", "framework": "openqasm", "code": BELL}
    assert executor.run(found).result["metadata"]["count_source"] == "simulator_sampled"
