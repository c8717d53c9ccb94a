"""Programs of every framework through a whole executor: two children for one result."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ..support.executor import Executor

# The first of three qubits (or wires) is flipped, so that every mistake in the order shows.
CIRQ = "import cirq\nq = cirq.LineQubit.range(3)\ncircuit = cirq.Circuit(cirq.X(q[0]), cirq.I(q[1]), cirq.measure(*q, key='my key'))\n"
PENNYLANE = (
    "import pennylane as qml\n@qml.qnode(qml.device('default.qubit', wires=3))\ndef circuit():\n"
    "    qml.PauliX(0)\n    return qml.counts(wires=[0, 1, 2])\n"
)
BRAKET = "from braket.circuits import Circuit\ncircuit = Circuit().x(0).i(1).i(2)\n"
MARQOV = "from marqov import Circuit\ncircuit = Circuit().x(0).h(1).h(1).h(2).h(2)\n"
PROGRAMS = {"cirq": CIRQ, "pennylane": PENNYLANE, "marqov": BRAKET}


def code(text: str, framework: str = "auto") -> dict[str, str]:
    """A source of a framework."""
    return {"kind": "code", "framework": framework, "code": text}


@pytest.mark.parametrize("framework", PROGRAMS)
def test_a_program_of_each_framework_gives_counts_with_its_first_qubit_leftmost(
    executor: Executor, framework: str
) -> None:
    answer = executor.run(code(PROGRAMS[framework] + "print('hello')"))
    assert answer.lines[0]["accepted"]["framework"] == framework
    assert answer.result["counts"] == {"100": 100}
    metadata = answer.result["metadata"]
    assert (metadata["count_source"], metadata["executed_apart"]) == ("simulator_sampled", True)
    assert answer.result["stdout"] == "hello\n"
    assert answer.result["circuit_info"]["num_qubits"] == 3
    assert framework in ("marqov", *answer.result["metadata"]["framework_version"].split("-")[0].split())


def test_the_names_of_a_frameworks_registers_are_shown_as_they_are(executor: Executor) -> None:
    registers = executor.run(code(CIRQ)).result["metadata"]["registers"]
    assert [(register["name"], register["size"]) for register in registers] == [("my key", 3)]


def test_expectation_values_come_from_the_counts(executor: Executor) -> None:
    program = PENNYLANE.replace("qml.counts(wires=[0, 1, 2])", "qml.expval(qml.PauliZ(0) @ qml.PauliZ(1))")
    values = executor.run(code(program)).result["expectation_values"]
    assert [value["value"] for value in values] == [-1]


@pytest.mark.parametrize("framework", PROGRAMS)
def test_the_device_runs_a_frameworks_circuit_where_the_code_is(executor: Executor, framework: str) -> None:
    program = PROGRAMS[framework] + "counts = device.run(circuit, 7)\nassert counts == {'100': 7}, counts\n"
    result = executor.run(code(program)).result
    assert result["counts"] == {"100": 7}
    assert result["shots"] == 7
    assert result["metadata"]["count_source"] == "program_reported"


def test_a_program_may_mix_frameworks(executor: Executor) -> None:
    program = "import cirq\nfrom qiskit import QuantumCircuit\ncircuit = QuantumCircuit(2)\ncircuit.x(0)\n"
    assert executor.run(code(program, "qiskit")).result["counts"] == {"10": 100}


@pytest.mark.parametrize("framework", PROGRAMS)
def test_a_program_converts_to_openqasm_3_with_the_same_counts(executor: Executor, framework: str) -> None:
    answer = executor.http.post("/convert", json={"source": code(PROGRAMS[framework], framework)})
    assert answer.status_code == 200, answer.text
    converted: dict[str, Any] = answer.json()
    assert converted["qasm"].startswith("OPENQASM 3.0;")
    assert converted["circuit_info"]["num_qubits"] == 3
    assert executor.run(code(converted["qasm"], "openqasm")).result["counts"] == {"100": 100}


def test_a_program_that_cannot_be_converted_is_a_422_with_the_reason(executor: Executor) -> None:
    answer = executor.http.post("/convert", json={"source": code("import cirq\nx = 1", "cirq")})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"].startswith("No circuit found")
    answer = executor.http.post("/convert", json={"source": code("x = 1", "auto")})
    assert answer.json()["error"]["code"] == "language_not_detected"


def test_a_state_vector_has_its_first_qubit_as_the_most_significant_bit(executor: Executor) -> None:
    bell = "OPENQASM 3.0; qubit[2] q; x q[0];".replace("x q", 'include "stdgates.inc"; x q')
    result = executor.run(code(bell, "openqasm"), params={"extract_state_vector": True}).result
    assert result["state_vector"] == [[0, 0], [0, 0], [1, 0], [0, 0]]


def test_expectation_values_are_part_of_the_result_and_their_circuits_of_the_record(executor: Executor) -> None:
    bell = 'OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; h q[0]; cx q[0], q[1];'
    exact = executor.run(code(bell, "openqasm"), params={"observables": ["ZZ", "XI - 0.5*YY"]}).result
    assert [one["observable"] for one in exact["expectation_values"]] == ["ZZ", "XI - 0.5*YY"]
    assert [one["value"] for one in exact["expectation_values"]] == pytest.approx([1, 0.5])
    assert "observables" not in exact["metadata"]
    # The circuit of another framework runs in a child of its own.
    program = "import cirq\nq = cirq.LineQubit.range(2)\ncircuit = cirq.Circuit(cirq.H(q[0]), cirq.CNOT(*q))"
    params = {"shots": 500, "observables": ["ZZ", "XX"], "observables_method": "sampled"}
    sampled = executor.run(code(program, "cirq"), params=params).result
    assert [(one["value"], one["method"]) for one in sampled["expectation_values"]] == [(1, "sampled")] * 2
    assert sampled["metadata"]["observables"] == {"groups": 2, "shots_per_group": 500}


def test_a_workflow_observes_nothing_so_observables_are_refused(executor: Executor) -> None:
    program = "from marqov import task, workflow\n@task\ndef f(): return 1\n@workflow\ndef w(): return f()"
    error = executor.run(code(program, "marqov"), params={"observables": ["Z"]}).error
    assert error["message"].startswith("observables: 'w' is a workflow, so no circuit of it is observed")


def test_a_larger_state_vector_is_a_separate_file(executor: Executor, tmp_path: Any) -> None:
    import base64

    program = 'OPENQASM 3.0; include "stdgates.inc"; qubit[16] q; x q[0];'
    answer = executor.run(code(program, "openqasm"), params={"extract_state_vector": True})
    assert answer.result["state_vector"]["artifact"] == "state_vector.npy"
    pieces = [line["artifact"] for line in answer.lines if line.get("artifact", {}).get("name") == "state_vector.npy"]
    file = tmp_path / "state.npy"
    file.write_bytes(b"".join(base64.b64decode(piece["chunk"]) for piece in pieces))
    state = np.load(file)
    assert state.shape == (2**16,)
    assert state[2**15] == 1


@pytest.mark.parametrize(
    ("engine", "params"),
    [
        ("density_matrix", {}),
        ("mps", {}),
        ("noisy", {"noise_model": {"gate_errors": {"all_1q": 0.0}, "readout_errors": {"all": {"p1_given0": 1}}}}),
    ],
)
def test_each_engine_runs_and_is_named(executor: Executor, engine: str, params: dict[str, Any]) -> None:
    result = executor.run(
        code('OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; x q[0];', "openqasm"), engine=engine, params=params
    ).result
    assert result["counts"] == ({"11": 100} if params else {"10": 100})
    assert result["metadata"]["engine"] == engine


def test_a_main_may_return_integers_of_any_size(executor: Executor) -> None:
    answer = executor.run(code("import cirq\ndef main():\n    return {'n': 3 ** 200}"))
    assert json.loads(answer.outcome["result"])["n"] == 3**200
    assert answer.result["metadata"]["count_source"] is None
