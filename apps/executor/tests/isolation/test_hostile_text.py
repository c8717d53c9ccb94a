"""Text that is made to be slow or large, of up to 100,000 characters, on every path that reads text: each is answered in
bounded time with a result or a reason, and the next run succeeds.

Nothing of it is run for long: the paths end what takes longer than their limit, and say so.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from ..support.executor import BELL, Executor, qasm
from ..support.lanes import long

LENGTH = 100_000
QASM3 = 'OPENQASM 3.0;\ninclude "stdgates.inc";\n'
QASM2 = 'OPENQASM 2.0;\ninclude "qelib1.inc";\n'
QISKIT = "from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n"
WALL_SECONDS = 0.5
"""Shorter than the paths' own limits, so that slow texts are stopped soon."""
PATHS = ("run", "convert", "compile", "analyse")


def _filled(head: str, part: str, tail: str = "") -> str:
    return head + part * ((LENGTH - len(head) - len(tail)) // len(part)) + tail


def _doubling(levels: int) -> str:
    gates = "".join(f"gate g{n + 1} a {{ g{n} a; g{n} a; }}\n" for n in range(levels))
    return f"gate g0 a {{ x a; }}\n{gates}"


TEXTS: dict[str, str] = {
    "nested brackets": _filled(QISKIT + "x = ", "("),
    "nested lists, closed": QISKIT + "x = " + "[" * 45_000 + "]" * 45_000,
    "unary minus": _filled(QISKIT + "x = ", "-", "1"),
    "chained attributes": _filled(QISKIT + "x = circuit", ".a"),
    "chained calls": _filled(QISKIT + "x = circuit", "()"),
    "a sum of many": _filled(QISKIT + "x = 1", "+1"),
    "nested lambdas": _filled(QISKIT + "x = ", "lambda:", "1"),
    "nested comprehensions": QISKIT + "x = " + "[" * 90 + "0" + " for _ in (0,)]" * 90,
    "nested ifs": QISKIT + "".join(" " * n + "if 1:\n" for n in range(400)),
    "nested functions": QISKIT + "".join(" " * n + f"def f{n}():\n" for n in range(99)) + " " * 99 + "pass",
    "decorators": _filled(QISKIT, "@f\n", "def f(): pass"),
    "a digit run": _filled(QISKIT + "x = ", "9"),
    "a huge power": QISKIT + "x = 9 ** 9 ** 9 ** 9",
    "many names": QISKIT + "".join(f"v{n} = {n}\n" for n in range(7_000)),
    "many imports": _filled("", "import qiskit\n"),
    "imports of every framework": "import qiskit, cirq, pennylane, marqov, braket\n" * 2_000,
    "spaces before an import": _filled("", " ", "import qiskit"),
    "tabs between the words of an import": _filled("import", "\t", "qiskit"),
    "comments before a header": _filled("", "/**/ ", "OPENQASM"),
    "an open comment": _filled("/*", "*"),
    "one long line of a string": _filled(QISKIT + "x = '", "\\x41", "'"),
    "an f-string of f-strings": _filled(QISKIT + "x = f'", "{1}", "'"),
    "astral characters": _filled(QISKIT + "# ", "\U0001d54f"),
    "right-to-left marks": _filled(QISKIT + "# ", "\u202e"),
    "carriage returns": _filled("", "\r", QISKIT),
    "a coding cookie": "# -*- coding: utf-7 -*-\n" + QISKIT,
    "form feeds": _filled(QISKIT, "\f"),
    "backslash lines": _filled(QISKIT + "x = 1", "\\\n"),
    "an open string": QISKIT + "x = '''" + "a\n" * 40_000,
    "doubling gates": QASM3 + _doubling(60) + "qubit q;\ng60 q;\n",
    "doubling gates of OpenQASM 2": QASM2 + _doubling(60) + "qreg q[1];\ng60 q[0];\n",
    "an endless loop of OpenQASM": QASM3 + "qubit q;\nfor int i in [0:1000000000] { x q; }\n",
    "a loop in a loop": QASM3 + "qubit q;\n" + "for int i in [0:99] { " * 20 + "x q; " + "}" * 20,
    "a while loop": QASM3 + "qubit q;\nbit c;\nwhile (true) { x q; }\n",
    "10^9 qubits": QASM3 + "qubit[1000000000] q;\n",
    "10^9 bits": QASM3 + "qubit q;\nbit[1000000000] c;\n",
    "10^9 bits of OpenQASM 2": QASM2 + "qreg q[1];\ncreg c[1000000000];\n",
    "many registers": QASM3 + "".join(f"qubit q{n};\n" for n in range(5_000)),
    "many gates": _filled(QASM3 + "qubit q;\n", "x q;"),
    "many different gates": QASM3 + "qubit q;\n" + "".join(f"rx({n}.5) q;\n" for n in range(6_000)),
    "nested brackets in an angle": QASM3 + "qubit q;\nrx(" + "(" * 40_000 + "1" + ")" * 40_000 + ") q;\n",
    "a long sum in an angle": QASM3 + "qubit q;\nrx(1" + "+1" * 40_000 + ") q;\n",
    "a huge angle": QASM3 + "qubit q;\nrx(1" + "0" * 90_000 + ") q;\n",
    "a power tower in an angle": QASM3 + "qubit q;\nrx(9**9**9**9) q;\n",
    "stacked controls": QASM3 + "qubit[2] q;\n" + "ctrl @ " * 10_000 + "x q[0], q[1];\n",
    "a huge power of a gate": QASM3 + "qubit q;\npow(1000000000) @ t q;\n",
    "a huge control count": QASM3 + "qubit[2] q;\nctrl(1000000000) @ x q[0], q[1];\n",
    "nested conditions": QASM3 + "qubit q;\nbit c;\n" + "if (c) { " * 5_000 + "x q; " + "}" * 5_000,
    "a switch of many": QASM3 + "qubit q;\nbit[8] c;\n" + "if (c == 3) x q;\n" * 4_000,
    "an unknown include": 'OPENQASM 3.0;\ninclude "' + "a" * 90_000 + '.inc";\n',
    "an include of a path": 'OPENQASM 3.0;\ninclude "../../../../etc/passwd";\nqubit q;\n',
    "a long name": QASM3 + f"qubit {'q' * 90_000};\n",
    "a version of many digits": "OPENQASM " + "3" * 90_000 + ".0;\n",
    "annotations": _filled(QASM3 + "qubit q;\n", "@a b\n", "x q;"),
    "pragmas": _filled(QASM3 + "qubit q;\n", "pragma a b\n", "x q;"),
    "a defcal": QASM3 + "cal { " + "a" * 80_000 + " }\nqubit q;\n",
    "a subroutine that calls itself": QASM3 + "def f(qubit q) { f(q); }\nqubit q;\nf(q);\n",
}


@pytest.fixture(scope="module")
def answers(executor: Executor, request: pytest.FixtureRequest) -> Iterator[dict[tuple[str, str], httpx.Response]]:
    """The selected texts and paths, three at a time."""
    cases: list[Any] = [
        (item.callspec.params["name"], item.callspec.params["path"])
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.module is request.module and hasattr(item, "callspec")
    ]
    with ThreadPoolExecutor(3) as pool:
        yield dict(zip(cases, pool.map(lambda case: _ask(executor, *case), cases), strict=True))


def _ask(executor: Executor, name: str, path: str) -> httpx.Response:
    source = {"kind": "code", "framework": "auto", "code": TEXTS[name]}
    bodies = {
        "run": executor.request(source),
        "convert": {"source": source},
        "compile": {"source": source, "target": {"format": "qasm2"}},
        "analyse": {"code": TEXTS[name], "requirements": _filled("", "a[")},
    }
    # People of their own, so that none waits for another's turn.
    keys = {"user": f"{name} {path}", "team": f"{name} {path}"}
    lane = {"lane": "interactive", "keys": keys}
    while True:
        answer = executor.http.post(f"/{path}", json={**bodies[path], **lane, "limits": {"wall_seconds": WALL_SECONDS}})
        if answer.status_code != 503 or answer.json()["error"]["code"] != "busy":
            return answer


CASES = [
    (name, path) if place % len(PATHS) == turn else long(name, path)
    for place, name in enumerate(TEXTS)
    for turn, path in enumerate(PATHS)
]
"""In the short lane every text takes one path, and the paths take turns."""


@pytest.mark.parametrize(("name", "path"), CASES)
def test_hostile_text_gets_a_result_or_a_reason(
    answers: dict[tuple[str, str], httpx.Response], name: str, path: str
) -> None:
    answer = answers[name, path]
    assert len(TEXTS[name]) <= LENGTH
    assert answer.status_code in (200, 422), answer.text[:500]
    assert "Traceback" not in answer.text and "qjs_executor" not in answer.text
    if answer.status_code == 422:
        assert 0 < len(answer.json()["error"]["message"]) <= 4096
    if path == "run":
        assert '"status":"lost"' not in answer.text


@pytest.mark.usefixtures("answers")
def test_hostile_text_leaves_the_executor_healthy(executor: Executor) -> None:
    assert executor.health()["status"] == "ok"
    assert set(executor.run(qasm(BELL)).result["counts"]) <= {"00", "11"}
