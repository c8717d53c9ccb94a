"""The record of a returned value names only what ran: whatever a program samples with, in every framework."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Sequence
from typing import Any

import pytest

from qjs_executor.job import Job, JobParams, Script
from qjs_executor.protocol.answer import read_answer
from qjs_executor.protocol.reports import ValueReport
from qjs_executor.protocol.result import value_text
from qjs_executor.protocol.versions import ENGINE_VERSION, framework_version

from ..support.frame_child import FrameChildren

CIRCUITS = {
    "qiskit": "from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1, 1)\ncircuit.h(0)\ncircuit.measure(0, 0)\n",
    "cirq": "import cirq\nq = cirq.LineQubit(0)\ncircuit = cirq.Circuit(cirq.H(q), cirq.measure(q, key='m'))\n",
    "pennylane": "import pennylane as qml\n@qml.set_shots(1000)\n@qml.qnode(qml.device('default.qubit', wires=1, seed=1))\n"
    "def circuit():\n    qml.Hadamard(0)\n    return qml.counts()\n",
    "marqov": "from marqov import Circuit\ncircuit = Circuit().h(0)\n",
    "braket": "from braket.circuits import Circuit\ncircuit = Circuit().h(0)\n",
}
"""A circuit of each framework, as the variable `circuit`."""
OWN = {
    "AerSimulator": ("qiskit", "from qiskit_aer import AerSimulator\n", "AerSimulator().run(circuit, shots=500, seed_simulator=1).result().get_counts()"),
    "StatevectorSampler": ("qiskit", "from qiskit.primitives import StatevectorSampler\n", "StatevectorSampler().run([circuit], shots=500).result()[0].data.c.get_counts()"),
    "cirq.Simulator": ("cirq", "", "{str(k): v for k, v in cirq.Simulator(seed=1).run(circuit, repetitions=500).histogram(key='m').items()}"),
    "cirq.DensityMatrixSimulator": ("cirq", "", "{str(k): v for k, v in cirq.DensityMatrixSimulator().run(circuit, repetitions=500).histogram(key='m').items()}"),
    "QNode": ("pennylane", "", "{k: int(v) for k, v in circuit().items()}"),
    "LocalSimulator": ("braket", "from braket.devices import LocalSimulator\n", "dict(LocalSimulator().run(circuit, shots=500).result().measurement_counts)"),
}  # fmt: skip
"""Ways to sample on a simulator of the program's own: the framework, imports, and the expression of the counts."""
UNKNOWN = "shots, engine, engine_version and optimization_level are null: the program ran nothing on the job's device"
FIELDS = (
    "engine",
    "engine_version",
    "optimization_level",
    "framework_version",
    "shots_requested",
    "seed",
    "count_source",
)


def record(
    children: FrameChildren, name: str, body: str, framework: str | None = None, imports: str = ""
) -> dict[str, Any]:
    """The result of a `main` with this body in a program with the framework's circuit."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed for this Python")
    code = f"{imports}{CIRCUITS[name]}\ndef main():\n    {body}"
    return recorded(children, code, framework or ("marqov" if name == "braket" else name))


def recorded(children: FrameChildren, code: str, framework: str) -> dict[str, Any]:
    """The result of a program, as the service stores it."""
    job = Job(
        run_id="a",
        source={"kind": "code", "framework": framework, "code": code},
        backend="local",
        engine="statevector",
        max_qubits=20,
        params=JobParams(shots=1024, seed=7, given={"shots": 1024}),
    )
    report = read_answer(children.start(job.execution_request), job)
    assert isinstance(report, ValueReport)
    result: dict[str, Any] = json.loads(value_text(job, report, 1.0, "", []))
    return result


def facts(result: dict[str, Any]) -> Sequence[Any]:
    return [result["metadata"][field] for field in FIELDS]


@pytest.mark.parametrize("way", OWN)
def test_what_a_program_samples_by_itself_is_not_recorded_as_the_jobs_engine(children: FrameChildren, way: str) -> None:
    name, imports, counts = OWN[way]
    result = record(children, name, f"return {{'counts': {counts}}}", imports=imports)
    version = framework_version("marqov" if name == "braket" else name)
    assert sum(result["counts"].values()) == (1000 if way == "QNode" else 500)
    assert facts(result) == [None, None, None, version, None, 7, None]
    assert (result["shots"], result["warnings"]) == (None, [UNKNOWN])


@pytest.mark.parametrize("name", CIRCUITS)
def test_what_a_program_runs_on_the_jobs_device_is_recorded_with_its_shots(children: FrameChildren, name: str) -> None:
    result = record(children, name, "return {'counts': device.run(circuit, 40)}")
    version = framework_version("marqov" if name == "braket" else name)
    assert facts(result) == ["statevector", ENGINE_VERSION, 1, version, 40, 7, None]
    assert (result["shots"], result["warnings"]) == (40, [])


def test_runs_with_different_shots_have_no_one_number(children: FrameChildren) -> None:
    result = record(children, "qiskit", "return [device.run(circuit, n) for n in (1, 20, 300)]")
    assert (result["shots"], result["metadata"]["shots_requested"]) == (None, None)
    assert result["metadata"]["engine"] == "statevector"
    assert result["warnings"] == ["shots is null: the program ran circuits with different numbers of shots"]


def test_circuits_that_a_provider_ran_have_their_shots_and_no_engine_of_the_executor() -> None:
    code = "from marqov import task"
    source = {"kind": "code", "framework": "marqov", "code": code}
    script = Script(circuits="ask")
    job = Job("a", source, "ionq-forte", "statevector", 20, JobParams(shots=100), script=script)
    report = read_answer({"ok": True, "value": 1, "warnings": [], "device_shots": [30]}, job)
    assert isinstance(report, ValueReport)
    result = json.loads(value_text(job, report, 1.0, "", []))
    assert (result["shots"], result["warnings"]) == (30, [])
    assert facts(result)[:3] == [None, None, None]


@pytest.mark.parametrize(
    ("told", "shots", "engine", "warnings"),
    [
        ([30], 30, "statevector", []),
        ([], None, None, [UNKNOWN]),
        ([20, 30], None, "statevector", ["shots is null: the program ran circuits with different numbers of shots"]),
        (None, None, None, []),
    ],
)
def test_a_workflow_has_the_shots_of_its_tasks_as_far_as_the_caller_tells_them(
    told: list[int] | None, shots: int | None, engine: str | None, warnings: list[str]
) -> None:
    source = {"kind": "code", "framework": "marqov", "code": "from marqov import task"}
    script = Script(finish={"name": "wf", "output": "{}", "values": {}}, task_shots=told)
    job = Job("a", source, "local", "statevector", 20, JobParams(shots=100), script=script)
    report = read_answer({"ok": True, "value": 1, "warnings": []}, job)
    assert isinstance(report, ValueReport)
    result = json.loads(value_text(job, report, 1.0, "", []))
    assert (result["shots"], result["metadata"]["engine"], result["warnings"]) == (shots, engine, warnings)


def test_a_framework_that_the_program_does_not_import_has_no_version(children: FrameChildren) -> None:
    result = record(children, "cirq", "return 1", "qiskit")
    assert facts(result)[:4] == [None, None, None, None]


def test_a_program_without_a_framework_has_nothing_to_warn_of(children: FrameChildren) -> None:
    result = recorded(children, "def main(): return 42", "qiskit")
    assert (result["result"], result["shots"], result["warnings"]) == (42, None, [])
    assert facts(result)[:4] == [None, None, None, None]


def test_shots_that_a_program_returns_are_its_own(children: FrameChildren) -> None:
    assert record(children, "qiskit", "return {'shots': 3}")["shots"] == 3


@pytest.mark.parametrize("forged", [[0], [True], [1, 2, 3], "1", [10**6]])
def test_forged_shots_of_the_device_are_refused(forged: Any) -> None:
    from qjs_executor.protocol.checked_fields import BadAnswer

    job = Job("a", {"kind": "code", "framework": "qiskit", "code": ""}, "local", "statevector", 20, JobParams(shots=1))
    with pytest.raises(BadAnswer, match="device_shots"):
        read_answer({"ok": True, "value": 1, "warnings": [], "device_shots": forged}, job)


def test_a_workflow_whose_tasks_ran_apart_names_no_engine() -> None:
    job = Job(
        "a",
        {"kind": "code", "framework": "marqov", "code": "from marqov import task"},
        "local",
        "statevector",
        20,
        JobParams(shots=100),
        script=Script(finish={"name": "wf", "output": "1", "values": {}}),
    )
    report = read_answer({"ok": True, "value": {"counts": {"0": 5}}, "warnings": []}, job)
    assert isinstance(report, ValueReport)
    result = json.loads(value_text(job, report, 1.0, "", []))
    assert (result["shots"], result["metadata"]["engine"]) == (None, None)
    assert result["warnings"] == []
