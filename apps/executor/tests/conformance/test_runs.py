"""Every circuit of the table in every language that can say it, run by a whole executor over HTTP, agrees with the
reference: the counts within the statistical bound, the text of the circuit that was run exactly.

Every second one of OpenQASM 3 runs on its own, of every other language every fourth in a program of several, on its
device; of the rest half is converted in this process to be compared exactly. CONFORMANCE_LONG takes all in all ways.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from ..support.executor import Answer, Executor
from ..support.lanes import one_of_each
from . import reference
from .bound import disagreement
from .circuit import Measure, every, features
from .converters import canonical, check, framework_of
from .tables.table import PROGRAMS, TABLE

SHOTS = 4000
WALL_SECONDS = 600
"""Runs get what a busy machine has to spare."""
AT_ONCE = 3
"""As many as the executor has slots."""
Key = tuple[str, str]
LONG = "CONFORMANCE_LONG" in os.environ
OPENQASM3 = [key for key in PROGRAMS if key[1] == "openqasm3"]
SINGLE = list(PROGRAMS) if LONG else OPENQASM3[::2] + [key for key in PROGRAMS if key[1] != "openqasm3"][::20]
TOGETHER = 10
"""Circuits of one program."""
BATCHES = [
    keys[first : first + TOGETHER]
    for language in ("openqasm2", "qiskit", "cirq", "pennylane", "braket", "marqov")
    for keys in [[key for key in PROGRAMS if key[1] == language][:: 1 if LONG else 4]]
    for first in range(0, len(keys), TOGETHER)
]
EXACT = list(PROGRAMS) if LONG else [key for key in PROGRAMS if key not in SINGLE][::2]
CONVERTED = SINGLE[::8]
"""A sample: a run already shows the conversion, /convert only asks for it in another way."""


def kind(key: Key) -> object:
    """What makes a program worth its own run in the short lane: its language and its circuit's features."""
    return key[1], features(TABLE[key[0]])


def source(key: Key) -> dict[str, str]:
    """The program of a row in a language."""
    return {"kind": "code", "framework": framework_of(key[1]), "code": PROGRAMS[key]}


def batch(keys: list[Key]) -> dict[str, str]:
    """One program that runs rows one after the other on its device and prints their counts."""
    texts = [f"circuit = {PROGRAMS[key]!r}" if key[1] == "openqasm2" else PROGRAMS[key] for key in keys]
    parts = [f"{text}\nfound.append(device.run(circuit, {SHOTS}))\n" for text in texts]
    code = "import json\nfound = []\n" + "".join(parts) + "print(json.dumps(found))\n"
    framework = framework_of(keys[0][1])
    return {"kind": "code", "framework": "qiskit" if framework == "openqasm" else framework, "code": code}


@pytest.fixture(scope="module")
def runs(executor: Executor, request: pytest.FixtureRequest) -> Iterator[dict[Key, Future[Answer]]]:
    """The runs of all tests that were selected, several at once."""
    wanted: list[Any] = [
        item.callspec.params["key"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and "runs" in item.fixturenames and item.module is request.module
    ]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        yield {
            key: threads.submit(executor.run, source(key), SHOTS, WALL_SECONDS, params={"seed": 11, "shots": SHOTS})
            for key in wanted
        }
        threads.shutdown(cancel_futures=True)


@pytest.mark.parametrize("key", one_of_each(SINGLE, kind), ids=lambda key: f"{key[0]}-{key[1]}")
def test_every_language_agrees_with_the_reference(key: Key, runs: dict[Key, Future[Answer]]) -> None:
    row = TABLE[key[0]]
    answer = runs[key].result(2 * WALL_SECONDS)
    result = answer.result
    assert result["shots"] == SHOTS
    assert disagreement(result["counts"], reference.probabilities(row), SHOTS) is None
    check(row, _artifact(answer, "circuit.qasm"))
    sizes = [register["size"] for register in result["metadata"]["registers"]]
    assert sizes == _register_sizes(key), "the bit strings split into registers otherwise"


@pytest.mark.parametrize(
    "keys", one_of_each(BATCHES, lambda keys: keys[0][1]), ids=lambda keys: f"{keys[0][1]} from {keys[0][0]}"
)
def test_several_circuits_of_a_program_agree_with_the_reference(keys: list[Key], executor: Executor) -> None:
    result = executor.run(batch(keys), SHOTS, WALL_SECONDS, params={"seed": 11}).result
    for key, counts in zip(keys, json.loads(result["stdout"]), strict=True):
        assert disagreement(counts, reference.probabilities(TABLE[key[0]]), SHOTS) is None, key


@pytest.mark.parametrize("key", one_of_each(EXACT, kind), ids=lambda key: f"{key[0]}-{key[1]}")
def test_conversion_keeps_exactly_what_a_program_does(key: Key) -> None:
    check(TABLE[key[0]], canonical(key[1], PROGRAMS[key]))


@pytest.mark.parametrize("key", one_of_each(CONVERTED, lambda key: key[1]), ids=lambda key: f"{key[0]}-{key[1]}")
def test_converted_programs_have_the_references_counts(key: Key, executor: Executor) -> None:
    answer = executor.http.post("/convert", json={"source": source(key)})
    assert answer.status_code == 200, answer.text
    converted = answer.json()["qasm"]
    check(TABLE[key[0]], converted)
    again = executor.run({"kind": "code", "framework": "openqasm", "code": converted}, SHOTS, params={"seed": 12})
    assert disagreement(again.result["counts"], reference.probabilities(TABLE[key[0]]), SHOTS) is None


def _artifact(answer: Answer, name: str) -> str:
    pieces = [line["artifact"]["chunk"] for line in answer.lines if line.get("artifact", {}).get("name") == name]
    return b"".join(map(base64.b64decode, pieces)).decode("utf-8")


def _register_sizes(key: Key) -> list[int]:
    """How many bits of each register are shown. Braket has one register for all that it measures."""
    row = TABLE[key[0]]
    written = {measure.register for measure in every(row.steps, Measure)}
    sizes = [size for register, size in row.registers.items() if register in written]
    return [sum(sizes)] if key[1] == "braket" and sizes else sizes or [row.width]


def test_a_wrong_answer_would_be_noticed(executor: Executor) -> None:
    """The comparison itself: the counts of one row are not those of its neighbours."""
    names = [name for name in TABLE if (name, "openqasm3") in PROGRAMS and TABLE[name].width == 3][:12]
    chances: dict[str, Any] = {name: reference.probabilities(TABLE[name]) for name in names}
    for place, name in enumerate(names[:4]):
        counts = executor.run(source((name, "openqasm3")), SHOTS, params={"seed": 11}).result["counts"]
        assert disagreement(counts, chances[name], SHOTS) is None
        assert disagreement(counts, chances[names[place + 4]], SHOTS) is not None
