"""What an analysis reports about a script: its facts from the text alone, and where something is wrong."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from qjs_executor.child.analysis.analysis import analyse
from qjs_executor.child.analysis.checks import is_installed

from ...support.direct import QISKIT

SDK = "from marqov import task, workflow\n"
BELL = QISKIT + "circuit = QuantumCircuit(2)\ncircuit.h(0)\n"
SECONDS_MAX = 5.0
"""Of processor time, for a text of 100,000 characters; half of what a child has."""
SDK_WARNINGS = set() if is_installed("marqov") else {"import_not_installed"}
"""What every script with the SDK is warned of where that is not installed: on Python 3.11."""


def reply(code: str, requirements: str | None = None) -> dict[str, Any]:
    """The analysis, which has to survive the JSON of a child's answer."""
    facts = analyse(code, requirements)
    copy: dict[str, Any] = json.loads(json.dumps(facts, allow_nan=False))
    assert copy == facts
    return copy


def warned(code: str, requirements: str | None = None) -> dict[str, dict[str, Any]]:
    """The warnings by id."""
    return {item["id"]: item for item in reply(code, requirements)["warnings"]}


def test_the_facts_of_a_workflow_script_are_reported() -> None:
    code = (
        "import numpy as np\n"
        "from marqov import task, workflow\n"
        "def helper(a, /, b=1, *c, d, e=2, **f): return a\n"
        "@task(retries=3, timeout=60.5)\n"
        "async def measure(circuit): return 1\n"
        "@workflow\n"
        "def wf(theta): return measure(theta)\n"
    )
    facts = reply(code)
    assert facts["functions"] == [
        {
            "name": "helper",
            "parameters": [
                {"name": "a", "kind": "positional_only", "has_default": False},
                {"name": "b", "kind": "positional_or_keyword", "has_default": True},
                {"name": "c", "kind": "var_positional", "has_default": False},
                {"name": "d", "kind": "keyword_only", "has_default": False},
                {"name": "e", "kind": "keyword_only", "has_default": True},
                {"name": "f", "kind": "var_keyword", "has_default": False},
            ],
            "is_task": False,
            "is_workflow": False,
            "retries": None,
            "timeout": None,
            "line": 3,
        },
        {
            "name": "measure",
            "parameters": [{"name": "circuit", "kind": "positional_or_keyword", "has_default": False}],
            "is_task": True,
            "is_workflow": False,
            "retries": 3,
            "timeout": 60.5,
            "line": 5,
        },
        {
            "name": "wf",
            "parameters": [{"name": "theta", "kind": "positional_or_keyword", "has_default": False}],
            "is_task": False,
            "is_workflow": True,
            "retries": None,
            "timeout": None,
            "line": 7,
        },
    ]
    del facts["functions"]
    facts["warnings"] = [item for item in facts["warnings"] if item["id"] not in SDK_WARNINGS]
    assert facts == {
        "framework": "marqov",
        "script_type": "workflow",
        "imports": ["marqov", "numpy"],
        "entry_point": "wf",
        "qubits": None,
        "source_sha256": hashlib.sha256(code.encode()).hexdigest(),
        "errors": [],
        "warnings": [],
        "requirements": [],
    }


F = "def f(x): return x\n"
DECORATED = {
    "by name": ("from marqov import task\n@task\n" + F, (0, 300.0)),
    "called": ("from marqov import task\n@task()\n" + F, (0, 300.0)),
    "with settings": ("from marqov import task\n@task(retries=2, timeout=9)\n" + F, (2, 9)),
    "under another name": ("from marqov import task as t\n@t(retries=1)\n" + F, (1, 300.0)),
    "by package": ("import marqov\n@marqov.task\n" + F, (0, 300.0)),
    "by package under another name": ("import marqov as m\n@m.task(retries=3)\n" + F, (3, 300.0)),
    "by module": ("import marqov.workflows\n@marqov.workflows.task\n" + F, (0, 300.0)),
    "by module under another name": ("import marqov.workflows as w\n@w.task\n" + F, (0, 300.0)),
    "module from package": ("from marqov import workflows\n@workflows.task\n" + F, (0, 300.0)),
    "from the defining module": ("from marqov.workflows.decorators import task\n@task\n" + F, (0, 300.0)),
    "star": ("from marqov import *\n@task\n" + F, (0, 300.0)),
    "by assignment": ("import marqov as m\nt = m.task\n@t\n" + F, (0, 300.0)),
    "prepared decorator": ("from marqov import task\nquick = task(retries=4)\n@quick\n" + F, (4, 300.0)),
    "by call": ("from marqov import task\ndef g(x): return x\nf = task(retries=5)(g)\n", (5, 300.0)),
    "of a lambda": ("from marqov import task\nf = task(lambda x: x)\n", (0, 300.0)),
    "beside another decorator": ("import functools\nfrom marqov import task\n@functools.cache\n@task\n" + F, (0, 300.0)),
    "import in a try": ("try:\n    from marqov import task\nexcept ImportError:\n    def task(f): return f\n@task\n" + F, (0, 300.0)),
    "inside a block": ("from marqov import task\nif True:\n    @task\n    def f(x): return x\n", (0, 300.0)),
    "computed retries": ("from marqov import task\nn = 2\n@task(retries=n, timeout=1)\n" + F, (None, 1)),
    "hidden settings": ("from marqov import task\n@task(**{'retries': 1})\n" + F, (None, None)),
    "negative retries": ("from marqov import task\n@task(retries=-1)\n" + F, (None, 300.0)),
    "retries beyond JSON": ("from marqov import task\n@task(retries=0x" + "f" * 9000 + ")\n" + F, (None, 300.0)),
    "endless timeout": ("from marqov import task\n@task(timeout=1e999)\n" + F, (0, None)),
}  # fmt: skip


@pytest.mark.parametrize(("code", "settings"), DECORATED.values(), ids=DECORATED.keys())
def test_a_task_is_recognised_however_its_decorator_is_imported(code: str, settings: tuple[Any, Any]) -> None:
    facts = reply(code)
    (function,) = [item for item in facts["functions"] if item["name"] == "f"]
    assert function["is_task"]
    assert [item["name"] for item in function["parameters"]] == ["x"]
    assert (function["retries"], function["timeout"]) == settings
    assert facts["script_type"] == "task"


@pytest.mark.parametrize(
    "code",
    [
        "def task(f): return f\n@task\ndef f(x): return x\n",
        "from celery import task\n@task\ndef f(x): return x\n",
        "from marqov import task\ndef task(f): return f\n@task\ndef f(x): return x\n",
        "from marqov import task\ntask = print\n@task\ndef f(x): return x\n",
        "from .marqov import task\n@task\ndef f(x): return x\n",
        "import marqov\n@marqov.other\ndef f(x): return x\n",
    ],
)
def test_a_decorator_of_the_same_name_from_elsewhere_makes_no_task(code: str) -> None:
    facts = reply(code)
    assert not any(item["is_task"] for item in facts["functions"])
    assert facts["script_type"] == "script"


ENTRY_POINTS = {
    "main": (SDK + "@workflow\ndef wf(): pass\ndef main(): pass", "main"),
    "async main": ("async def main(client, params): pass", "main"),
    "main by assignment": ("main = lambda: 1", "main"),
    "one workflow": (SDK + "@workflow\ndef wf(): pass", "wf"),
    "workflow inside a function does not count": (SDK + "@workflow\ndef a(): pass\ndef f():\n    @workflow\n    def b(): pass", "a"),
    "circuit": (BELL, "circuit"),
    "circuit from a function": (QISKIT + "def build(): return QuantumCircuit(1)\nc = build()", "circuit"),
    "circuit in a block": (QISKIT + "if True:\n    for i in range(2):\n        c = QuantumCircuit(1)", "circuit"),
    "qnode": ("import pennylane as qml\ndev = 1\n@qml.qnode(dev)\ndef c(): return qml.counts()", "circuit"),
    "OpenQASM text in Python": ("text = 'OPENQASM 3.0; qubit q;'", "circuit"),
    "run on the device": ("from marqov import bell_state\nprint(device.run(bell_state(), 10))", "circuit"),
    "run on a device of the SDK": ("import marqov as m\nd = m.get_device(params)\ndef go(): return d.run(1)\ngo()", "circuit"),
    "OpenQASM": ("OPENQASM 3.0; qubit[2] q;", "circuit"),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), ENTRY_POINTS.values(), ids=ENTRY_POINTS.keys())
def test_the_entry_point_is_what_a_job_would_run(code: str, expected: str) -> None:
    facts = reply(code)
    assert facts["entry_point"] == expected
    assert not {item["id"] for item in facts["warnings"]} & {"missing_entry_point", "several_workflows"}


@pytest.mark.parametrize("code", ["", "x = 1", "import qiskit\ndef f(): return qiskit.QuantumCircuit(1)", SDK + "@task\ndef f(): pass"])  # fmt: skip
def test_a_script_that_leaves_nothing_to_run_gets_a_warning(code: str) -> None:
    facts = reply(code)
    assert facts["entry_point"] is None
    assert {item["id"] for item in facts["warnings"]} - SDK_WARNINGS == {"missing_entry_point"}


def test_several_workflows_without_main_are_named() -> None:
    code = SDK + "@workflow\ndef one(): pass\n@workflow\ndef two(): pass\n"
    assert reply(code)["entry_point"] is None
    warning = warned(code)["several_workflows"]
    assert "(one, two)" in warning["message"]
    assert warning["line"] == 5


QUBITS = {
    "constant": (QISKIT + "circuit = QuantumCircuit(3, 3)", 3),
    "named constant": (QISKIT + "n = 5\nqc = QuantumCircuit(n)\nqc.h(0)", 5),
    "OpenQASM 2": ('OPENQASM 2.0; include "qelib1.inc"; qreg a[2]; qreg b[3];', 5),
    "OpenQASM 3": ("OPENQASM 3.0; qubit[4] q;", 4),
    "another name": (QISKIT + "other = QuantumCircuit(3)", None),
    "two circuits": (QISKIT + "a = QuantumCircuit(9)\ncircuit = QuantumCircuit(3)", None),
    "assigned again": (QISKIT + "circuit = QuantumCircuit(3)\ncircuit = circuit.tensor(circuit)", None),
    "also qc": (QISKIT + "circuit = QuantumCircuit(3)\nqc = circuit.copy()", None),
    "bound by a loop": (QISKIT + "circuit = QuantumCircuit(3)\nfor circuit in []: pass", None),
    "bound by an except": (QISKIT + "circuit = QuantumCircuit(3)\ntry: pass\nexcept E as circuit: pass", None),
    "widened": (QISKIT + "circuit = QuantumCircuit(3)\ncircuit.add_register(QuantumRegister(2))", None),
    "made in a loop": (QISKIT + "for n in (1, 2):\n    circuit = QuantumCircuit(3)", None),
    "name assigned twice": (QISKIT + "n = 3\nn += 1\ncircuit = QuantumCircuit(n)", None),
    "register": (QISKIT + "circuit = QuantumCircuit(QuantumRegister(2))", None),
    "computed": (QISKIT + "circuit = QuantumCircuit(1 + 1)", None),
    "spread": (QISKIT + "circuit = QuantumCircuit(*[2])", None),
    "text run as code": (QISKIT + "circuit = QuantumCircuit(3)\nexec('circuit = None')", None),
    "main decides": (QISKIT + "circuit = QuantumCircuit(3)\ndef main(): return 1", None),
    "star import": (QISKIT + "circuit = QuantumCircuit(3)\nfrom other import *", None),
    "set as an attribute": (QISKIT + "import sys\ncircuit = QuantumCircuit(3)\nsys.modules['__main__'].circuit = 1", None),
    "true": (QISKIT + "circuit = QuantumCircuit(True)", None),
}  # fmt: skip


@pytest.mark.parametrize(("code", "expected"), QUBITS.values(), ids=QUBITS.keys())
def test_the_number_of_qubits_is_reported_only_when_certain(code: str, expected: int | None) -> None:
    assert reply(code)["qubits"] == expected


@pytest.mark.parametrize(
    ("code", "framework"),
    [
        (BELL, "qiskit"),
        ("from qiskit_aer import AerSimulator", "qiskit"),
        ("import cirq", "cirq"),
        ("import pennylane as qml", "pennylane"),
        ("from braket.circuits import Circuit", "marqov"),
        ("OPENQASM 2.0;", "openqasm"),
        ("import numpy", None),
        ("import cirq, qiskit", None),
        ("import cirq, qiskit\ncirq.Circuit()", "cirq"),
        ("text = 'import cirq'", None),
    ],
)
def test_the_framework_is_that_of_the_detection_or_null(code: str, framework: str | None) -> None:
    assert reply(code)["framework"] == framework


FAULTS = {
    "unclosed": ("x = (1,\n", "'(' was never closed", 1, 5),
    "second line": ("x = 1\ny = = 2\n", "invalid syntax", 2, 5),
    "indentation": ("def f():\npass\n", "IndentationError", 2, 1),
    "tabs and spaces": ("if 1:\n        a\n\tb\n", "TabError", 3, None),
    "return outside": ("x = 1\nreturn x\n", "'return' outside function", 2, 1),
    "column in characters": ("a = 1\nif a: 'äöü€😀'; break\n", "'break' outside loop", 2, 16),
    "duplicate parameter": ("def f(a, a): pass", "duplicate argument 'a'", 1, 10),
    "nonlocal at module level": ("nonlocal x", "nonlocal declaration not allowed", 1, 1),
    "form feed ends no line": ("a\x0c = 1\n)\n", "unmatched ')'", 2, 1),
    "NUL": ("a = 1\nb = '\0'\n", "NUL character", 2, 6),
    "lone surrogate": ("a = 1\r\nb = '\ud800'\n", "lone surrogate", 2, 6),
    "huge integer": ("x = " + "9" * 5000, "4300 digits", 1, None),
    "nested parentheses": ("(" * 90_000, "too many nested parentheses", 1, None),
    "nested signs": ("-" * 90_000 + "1", "nested too deeply", None, None),
    "long sum": ("a" + "+a" * 45_000, "nested too deeply", None, None),
    "long chain": ("a" + ".b" * 45_000, "nested too deeply", None, None),
}


@pytest.mark.parametrize(("code", "said", "line", "column"), FAULTS.values(), ids=FAULTS.keys())
def test_invalid_python_is_an_error_with_line_and_column(
    code: str, said: str, line: int | None, column: int | None
) -> None:
    (error,) = reply(code)["errors"]
    assert said in error["message"]
    assert error["source"] == "code"
    assert error["line"] == line
    if column is not None:
        assert error["column"] == column


def test_a_fault_in_openqasm_names_its_line() -> None:
    (error,) = reply('OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit q;\nnosuch q;\n')["errors"]
    assert "nosuch" in error["message"]
    assert error["line"] == 4


def test_facts_are_reported_despite_an_error_of_the_compiler() -> None:
    facts = reply(SDK + "@workflow\ndef wf(): pass\nreturn\n")
    assert facts["errors"]
    assert facts["entry_point"] == "wf"


CAUTIONS = {
    "missing package": ("import nothere_at_all.sub as n", "import_not_installed", "'nothere_at_all'", 1),
    "missing package from": ("x = 1\nfrom nothere_at_all import n", "import_not_installed", "'nothere_at_all'", 2),
    "missing package in a function": ("def f():\n    import nothere_at_all", "import_not_installed", "'nothere_at_all'", 2),
    "handled by another error": ("try:\n    import nothere_at_all\nexcept ValueError: pass", "import_not_installed", "'nothere_at_all'", 2),
    "relative": ("from . import x", "relative_import", "single module", 1),
    "requests": ("import requests", "network_use", "requests", 1),
    "socket inside a function": ("def f():\n    from socket import socket", "network_use", "socket", 2),
    "urllib.request": ("from urllib import request", "network_use", "urllib.request", 1),
    "braket.aws": ("from braket.aws import AwsDevice", "network_use", "braket.aws", 1),
    "open": ("x = 1\nopen('a')", "file_use", "open()", 2),
    "pathlib": ("from pathlib import Path\nPath('a').write_text('b')", "file_use", "write_text()", 2),
    "numpy save": ("import numpy as np\nnp.save('a', 1)", "file_use", "numpy.save()", 2),
    "figure": ("import matplotlib.pyplot as plt\nplt.savefig('a.png')", "file_use", "savefig()", 2),
    "os": ("import os\nos.makedirs('a')", "file_use", "os.makedirs()", 2),
    "if on a result": (SDK + "@task\ndef f(): pass\n@workflow\ndef wf():\n    r = f()\n    if r > 1: pass", "decision_on_result", "'wf'", 7),
    "while on a call": (SDK + "@task\ndef f(): pass\n@workflow\ndef wf():\n    while not f(): pass", "decision_on_result", "'wf'", 6),
    "for over a result": (SDK + "@task\ndef f(): pass\n@workflow\ndef wf():\n    for x in f(): pass", "decision_on_result", "'wf'", 6),
    "negative retries": (SDK + "@task(retries=-1)\ndef f(): pass", "task_option", "retries", 2),
    "timeout of 0": (SDK + "@task(timeout=0)\ndef f(): pass", "task_option", "timeout", 2),
}  # fmt: skip


@pytest.mark.parametrize(("code", "kind", "said", "line"), CAUTIONS.values(), ids=CAUTIONS.keys())
def test_what_will_probably_fail_is_a_warning_with_its_line(code: str, kind: str, said: str, line: int) -> None:
    facts = reply(code)
    assert facts["errors"] == []
    warning = next(item for item in facts["warnings"] if item["id"] == kind)
    assert said in warning["message"]
    assert warning["line"] == line


@pytest.mark.parametrize(
    "code",
    [
        "import numpy, os, json, __future__, qiskit.circuit.library",
        "try:\n    import nothere_at_all\nexcept ImportError:\n    pass",
        "try:\n    import nothere_at_all\nexcept (ValueError, ModuleNotFoundError):\n    pass",
        "from urllib.parse import quote",
        "import io\nfigure.savefig(io.BytesIO())",
        "def open(x): return x\nopen(1)",
        SDK + "@task\ndef f(): pass\n@workflow\ndef wf(n):\n    r = f()\n    if n > 1: r = f()\n    for i in range(n): r = f()\n    return r",
        SDK + "@task\ndef f(): pass\n@workflow\ndef wf():\n    r = f()\n    if r is not None: return r",
    ],
)  # fmt: skip
def test_correct_code_gets_no_warning(code: str) -> None:
    assert {item["id"] for item in reply(code)["warnings"]} <= {"missing_entry_point"} | (
        SDK_WARNINGS if "marqov" in code else set()
    )


def test_more_warnings_than_a_page_shows_are_counted() -> None:
    warnings = reply("".join(f"import nothere_{n}\n" for n in range(120)))["warnings"]
    assert len(warnings) == 50
    assert warnings[-1]["message"] == "72 more warnings are not shown"


def test_an_analysis_runs_and_imports_nothing(tmp_path: Path) -> None:
    (tmp_path / "marker_module.py").write_text("raise SystemExit('imported')")
    code = "import marker_module\nraise SystemExit('run')\n@(lambda f: 1 / 0)\ndef f(x=1 / 0): pass\n"
    program = (
        "import sys\nfrom qjs_executor.child.analysis.analysis import analyse\n"
        f"sys.path.append({str(tmp_path)!r})\n"
        f"facts = analyse({code!r}, 'qiskit\\nnumpy')\n"
        "print(facts['imports'], [item['id'] for item in facts['warnings']])\n"
        "print(sorted({'marker_module', 'marqov', 'cirq'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == ["['marker_module'] ['missing_entry_point']", "[]"]


HOSTILE = {
    "statements": "a=1\n" * 25_000,
    "calls": "f(a)\n" * 20_000,
    "functions": "def f():0\n" * 10_000,
    "tasks": SDK + "@task\ndef f():0\n" * 6_000,
    "workflows": SDK + "@workflow\ndef f():0\n" * 5_000,
    "imports": "".join(f"import a{n}\n" for n in range(8_000)),
    "one long import": "import " + ",".join(f"a{n}" for n in range(12_000)),
    "parameters": "def f(" + ",".join(f"a{n}" for n in range(12_000)) + "):0",
    "keyword arguments": "f(" + ",".join(f"a{n}=1" for n in range(11_000)) + ")",
    "decorators": "@a\n" * 30_000 + "def f():0",
    "aliases": "import marqov as a0\n" + "".join(f"a{n + 1}=a{n}.b\n" for n in range(6_000)),
    "long name": "def " + "a" * 99_000 + "():0",
    "long text": "x='" + "a" * 99_000 + "'",
    "long comment": "#" + "a" * 99_000,
    "blanks": " " * 99_000,
    "newlines": "\n" * 99_000,
    "formatted text": "f'" + "{a}" * 30_000 + "'",
    "nested formatted text": "f'{" * 30_000,
    "comparisons": "a" + "<a" * 45_000,
    "nested finally": "\n".join(f"{' ' * n}try: pass\n{' ' * n}finally:" for n in range(19)) + "\n" + " " * 19 + "a\n",
    "else ifs": "if a: pass\n" + "elif a: pass\n" * 7_000,
    "nested workflows": SDK + "".join(f"{' ' * n}@workflow\n{' ' * n}def f():\n" for n in range(90)) + (" " * 90 + "x=f(1)\n") * 900,
    "astral characters": "x='" + "\U0001f600" * 99_000 + "'",
    "OpenQASM with a huge register": "OPENQASM 3.0; qubit[1000000000] q;",
    "OpenQASM without end": "OPENQASM 3.0; /*" + "a" * 99_000,
    "cookie": "# -*- coding: utf-16 -*-\nx = 1\n",
    "byte-order mark": "\ufeffx = 1\n",
    "carriage returns": "x = 1\r" * 10_000,
}  # fmt: skip


@pytest.mark.parametrize("code", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_answered_in_bounded_time_and_size(code: str) -> None:
    began = time.process_time()
    answer = json.dumps(reply(code))
    assert time.process_time() - began < SECONDS_MAX
    assert len(answer) < 1_000_000
