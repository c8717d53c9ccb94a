"""A program's command line: that of `python main.py`, never the executor's own."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from typing import Any

import pytest

from ...support.frame_child import FrameChildren, job

READ = "import sys\nassert sys.argv == ['main.py'], sys.argv\n"
CIRCUITS = {
    "qiskit": "from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n",
    "cirq": "import cirq\ncircuit = cirq.Circuit(cirq.X(cirq.LineQubit(0)))\n",
    "pennylane": "import pennylane as qml\n@qml.qnode(qml.device('default.qubit', wires=1))\ndef circuit():\n"
    "    return qml.counts(wires=[0])\n",
    "braket": "from braket.circuits import Circuit\ncircuit = Circuit().x(0)\n",
    "marqov": "from marqov import Circuit\ncircuit = Circuit().x(0)\n",
}
WORKFLOW = (
    "import sys\nfrom marqov import task, workflow\n@task\ndef f(): return sys.argv\n@workflow\ndef wf(): return f()\n"
)
TARGET = {"format": "qasm2", "num_qubits": None}

needs_marqov = pytest.mark.skipif(importlib.util.find_spec("marqov") is None, reason="the SDK needs Python 3.12")


def ran(reply: dict[str, Any]) -> dict[str, Any]:
    """A child's answer that is no error."""
    assert reply.get("ok"), reply
    return reply


@pytest.mark.parametrize("name", CIRCUITS)
@pytest.mark.parametrize("kind", ["run", "convert", "compile"])
def test_a_program_has_its_own_command_line_in_every_framework(children: FrameChildren, name: str, kind: Any) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed for this Python")
    framework = "marqov" if name == "braket" else name
    details = {"target": TARGET} if kind == "compile" else {}
    ran(children.start(replace(job(READ + CIRCUITS[name], framework=framework), kind=kind, details=details)))


def test_a_main_has_its_own_command_line(children: FrameChildren) -> None:
    code = "import sys\ndef main(): return {'argv': sys.argv}"
    assert ran(children.start(job(code, framework="qiskit")))["value"] == {"argv": ["main.py"]}


def test_a_program_with_optional_arguments_gets_their_defaults(children: FrameChildren) -> None:
    code = (
        "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--qubits', type=int, default=3)\n"
        "def main(): return {'qubits': parser.parse_args().qubits, 'usage': parser.format_usage().split()[1]}"
    )
    value = ran(children.start(job(code, framework="qiskit")))["value"]
    assert value == {"qubits": 3, "usage": "main.py"}


@needs_marqov
def test_tasks_and_workflows_have_their_own_command_line(children: FrameChildren) -> None:
    assert ran(children.start(job(WORKFLOW)))["value"] == ["main.py"]
    graph = children.start(job(WORKFLOW, graphs="ask"))["ask"]["graph"]
    [node] = graph["nodes"]
    task = {"name": "f", "function": node["function"], "arguments": node["arguments"], "values": {}}
    assert ran(children.start(job(WORKFLOW, task=task)))["display"] == '["main.py"]'
    called = json.dumps({"entrypoint": "wf", "args": [], "kwargs": {}})
    entry = {"model": "native_workflow", "entrypoint": "wf", "input": called}
    assert ran(children.start(job(WORKFLOW, entry=entry)))["value"] == ["main.py"]
