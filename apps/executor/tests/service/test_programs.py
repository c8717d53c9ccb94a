"""Programs as people write them, one file each below `programs/`, do what their first lines say over HTTP.

The head of a file, in comments, says what its user expects:
`expect: counts {...}` exact probabilities by outcome, `expect: most "101"` the likeliest outcome, `expect: width 3`,
`expect: expectation [...]`, `expect: value {...}` members of the result, `expect: registers [...]`, `expect: shots 50`;
`expect-stdout: text`, `expect-warning: text` (without one there is no warning), `expect-error: text`, `expect-line: 7`;
`params: {...}` is given to the job.
"""

from __future__ import annotations

import importlib.util
import json
import math
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ..support.executor import Answer, Executor
from ..support.lanes import one_of_each

FOLDER = Path(__file__).parents[1] / "programs"
FILES = sorted(path for path in FOLDER.rglob("*") if path.suffix in (".py", ".qasm"))
SHOTS = 2000
WALL_SECONDS = 600
"""Runs get what a busy machine has to spare."""
SEED = 20
DEVIATIONS = 5.0
"""Standard deviations that a share of the shots may be off; the seed is fixed, so this is decided once and for all."""
INTERNALS = re.compile(r"site-packages|qjs_executor|Traceback|File \"|/tmp|\.py\b")
_HEAD = re.compile(r"(?:#|//) ([a-z-]+): (.*)")
_NAMES = {name: getattr(math, name) for name in ("pi", "sin", "cos", "sqrt", "exp")}


@dataclass(frozen=True)
class Program:
    """A file, and the lines of its head in order."""

    path: Path
    code: str
    head: list[tuple[str, str]]

    @classmethod
    def read(cls, path: Path) -> Program:
        code = path.read_text(encoding="utf-8")
        head = []
        for line in code.splitlines():
            found = _HEAD.fullmatch(line)
            if found is None:
                break
            head.append((found[1], found[2]))
        assert any(name.startswith("expect") for name, _ in head), f"{path.name} does not say what is expected"
        return cls(path, code, head)

    def all(self, name: str) -> list[str]:
        """The values of one key of the head."""
        return [value for key, value in self.head if key == name]


def kind(path: Path) -> object:
    """Programs of a framework that expect the same sorts of things: one of them runs in the short lane."""
    head = Program.read(path).head
    return path.parent.name, frozenset(key + value.partition(" ")[0] * (key == "expect") for key, value in head)


def available(path: Path) -> bool:
    """Whether this Python has the framework of a folder."""
    package = {"openqasm": "qiskit"}.get(path.parent.name, path.parent.name)
    return importlib.util.find_spec(package) is not None


@pytest.fixture(scope="module")
def answers(executor: Executor, request: pytest.FixtureRequest) -> Iterator[dict[Path, Future[Answer]]]:
    """Every program that was selected, sent as fast as the executor has slots."""

    def sent(path: Path) -> Answer:
        program = Program.read(path)
        # A main() or a workflow that does not accept a seed refuses it.
        seed = {} if "def main(" in program.code or "@workflow" in program.code else {"seed": SEED}
        params = {**seed, **json.loads("".join(program.all("params")) or "{}")}
        source = {"kind": "code", "framework": "auto", "code": program.code}
        return executor.run(source, SHOTS, WALL_SECONDS, params=params)

    chosen = [
        getattr(item, "callspec").params["path"]  # noqa: B009 (pytest does not declare it)
        for item in request.session.items
        if getattr(item, "originalname", "") == test_a_program_does_what_its_user_expects.__name__
    ]
    with ThreadPoolExecutor(3) as pool:
        yield {path: pool.submit(sent, path) for path in chosen if available(path)}


@pytest.mark.parametrize("path", one_of_each(FILES, kind), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_program_does_what_its_user_expects(path: Path, answers: dict[Path, Future[Answer]]) -> None:
    if path not in answers:
        pytest.skip(f"{path.parent.name} is not installed for this Python")
    program, answer = Program.read(path), answers[path].result()
    assert answer.status == 200, answer.lines
    errors = program.all("expect-error")
    if errors:
        message = answer.error["message"]
        assert [text for text in errors if text not in message] == [], message
        assert INTERNALS.search(message) is None, message
        for line in program.all("expect-line"):
            assert answer.error["line"] == int(line), answer.error
        assert_texts(program, "expect-stdout", answer.outcome.get("stdout", ""))
        return
    result = answer.result
    for expected in program.all("expect"):
        kind, _, value = expected.partition(" ")
        EXPECTATIONS[kind](result, eval(value, {"__builtins__": {}}, _NAMES))
    assert_texts(program, "expect-stdout", result.get("stdout", ""))
    if program.all("expect-warning"):
        assert_texts(program, "expect-warning", "\n".join(result["warnings"]))
    else:
        assert result["warnings"] == []


def assert_texts(program: Program, key: str, given: str) -> None:
    """Every text that the head names occurs."""
    assert [text for text in program.all(key) if text not in given] == [], given


def counts(result: dict[str, Any], expected: dict[str, float]) -> None:
    """Shares of the shots agree with exact probabilities, and what has none does not occur."""
    assert sum(expected.values()) == pytest.approx(1, abs=1e-6), "the file's probabilities do not add up"
    shots = sum(result["counts"].values())
    assert shots == result["shots"]
    assert [key for key in result["counts"] if expected.get(key, 0) <= 1e-12] == []
    for key, chance in expected.items():
        bound = DEVIATIONS * math.sqrt(chance * abs(1 - chance) * shots) + 1
        assert abs(result["counts"].get(key, 0) - chance * shots) <= bound, (key, result["counts"])


def expectation(result: dict[str, Any], expected: list[float]) -> None:
    """Expectation values and variances in order, within what the shots allow for values of about 1."""
    values = [value["value"] for value in result["expectation_values"]]
    assert values == pytest.approx(expected, abs=DEVIATIONS / math.sqrt(result["shots"]))


def value(result: dict[str, Any], expected: Any) -> None:
    """Members of what `main` returned."""
    given = result if isinstance(expected, dict) else {"expected": result["result"]}
    for name, wanted in (expected if isinstance(expected, dict) else {"expected": expected}).items():
        if isinstance(wanted, float) or (isinstance(wanted, list) and wanted and isinstance(wanted[0], float)):
            assert given[name] == pytest.approx(wanted, abs=1e-3)
        else:
            assert given[name] == wanted


def most(result: dict[str, Any], expected: str) -> None:
    """The likeliest outcome."""
    assert max(result["counts"], key=result["counts"].__getitem__) == expected, result["counts"]


def width(result: dict[str, Any], expected: int) -> None:
    """Bits of every outcome."""
    assert {len(key) for key in result["counts"]} == {expected}


def registers(result: dict[str, Any], expected: list[str]) -> None:
    """The registers' names in the order of the counts."""
    assert [register["name"] for register in result["metadata"]["registers"]] == expected


def shots(result: dict[str, Any], expected: int) -> None:
    """Shots of the run that is the result."""
    assert result["shots"] == expected == sum(result["counts"].values())


EXPECTATIONS: dict[str, Callable[[dict[str, Any], Any], None]] = {
    "counts": counts,
    "expectation": expectation,
    "value": value,
    "most": most,
    "width": width,
    "registers": registers,
    "shots": shots,
}
