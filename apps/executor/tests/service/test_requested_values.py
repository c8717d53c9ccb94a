"""Expectation values and mitigation of circuits that the caller runs: which circuits are requested, and that the values
come from their counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ..support.asking import ASKING
from ..support.executor import Answer, Executor

STD = 'OPENQASM 3.0; include "stdgates.inc";'
ASYMMETRIC = STD + "qubit[3] q; bit[3] c; x q[0]; h q[1]; c = measure q;"
PART = STD + "qubit[3] q; bit[1] c; x q[0]; h q[1]; c[0] = measure q[2];"
QISKIT = (
    "from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(3)\ncircuit.x(0)\ncircuit.h(1)\ncircuit.measure_all()"
)
OBSERVABLES = ["ZII + IIZ", "IXI - 0.5*ZXZ", "ZYI"]


def circuit(text: str) -> dict[str, str]:
    return {"kind": "circuit", "format": "qasm3", "payload": text}


def ended(
    executor: Executor, source: dict[str, str], run_id: str, **params: Any
) -> tuple[Answer, list[dict[str, Any]]]:
    """Runs a job to its end, answering each request with the counts of a simulator; all answers."""
    fields: dict[str, Any] = {**ASKING, "run_id": run_id, "backend": "ionq-forte", "params": {"shots": 200, **params}}
    answer = executor.run(source, **fields)
    given: list[dict[str, Any]] = []
    while answer.outcome["status"] == "asked":
        ask = answer.outcome["ask"]
        counts = executor.run(circuit(ask["openqasm3"]), shots=ask["shots"]).result["counts"]
        given.append({"digest": ask["digest"], "counts": json.dumps(counts), "count_source": "provider_counts"})
        answer = executor.run(source, **{**fields, "resume": {"run_id": run_id}, "answers": given[-1:]})
    return answer, given


@pytest.mark.parametrize("source", [circuit(ASYMMETRIC), {"kind": "code", "framework": "qiskit", "code": QISKIT}])
def test_each_group_of_observables_is_a_circuit_of_its_own(executor: Executor, source: dict[str, str]) -> None:
    answer, given = ended(executor, source, f"groups-{source['kind']}", observables=OBSERVABLES)
    assert set(answer.result["counts"]) == {"100", "110"}
    values = answer.result["expectation_values"]
    assert [one["value"] for one in values[:2]] == [0, 1.5]
    assert values[2]["value"] == pytest.approx(0, abs=6 * values[2]["standard_error"])
    assert {one["method"] for one in values} == {"sampled"}
    assert answer.result["metadata"]["observables"] == {"groups": 2, "shots_per_group": 200}
    assert answer.result["metadata"]["count_source"] == "provider_counts"
    # The circuit itself, and the two groups.
    assert len(given) == 3


def test_a_repeated_run_makes_the_same_requests_and_has_the_same_result(executor: Executor) -> None:
    first, given = ended(executor, circuit(ASYMMETRIC), "first", observables=OBSERVABLES)
    fields: dict[str, Any] = {**ASKING, "backend": "ionq-forte", "params": {"shots": 200, "observables": OBSERVABLES}}
    again = executor.run(circuit(ASYMMETRIC), run_id="again", answers=given, **fields)
    assert again.result["expectation_values"] == first.result["expectation_values"]
    assert again.result["counts"] == first.result["counts"]


def test_values_of_z_alone_are_those_of_the_counts_where_all_qubits_are_measured(executor: Executor) -> None:
    whole, given = ended(executor, circuit(ASYMMETRIC), "whole", observables=["ZII", "ZIZ - 2*IIZ"])
    assert ([one["value"] for one in whole.result["expectation_values"]], len(given)) == ([-1, -3], 1)
    part, given = ended(executor, circuit(PART), "part", observables=["ZII", "ZIZ - 2*IIZ"])
    assert ([one["value"] for one in part.result["expectation_values"]], len(given)) == ([-1, -3], 2)
    assert part.result["counts"] == {"0": 200}


def test_readout_is_calibrated_by_two_more_circuits(executor: Executor) -> None:
    answer, given = ended(executor, circuit(ASYMMETRIC), "readout", observables=["XII"], mitigation={"readout": True})
    assert len(given) == answer.result["mitigation"]["circuits"] == 4
    assert answer.result["mitigation"]["calibration_shots"] == 400
    assert set(answer.result["quasi_probabilities"]) == {"100", "110"}
    assert [entry["p1_given0"] for entry in answer.result["mitigation"]["readout"]["errors"]] == [0, 0, 0]


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        ({"observables": ["ZII"], "observables_method": "exact"}, "ionq-forte has no state to read"),
        ({"observables": ["ZI"]}, "has 2 letters, the circuit has 3 qubits"),
        (
            {"observables": ["ZII"], "mitigation": {"zne": {"factors": [1, 3], "fit": "linear"}}},
            "can remove the folded",
        ),
    ],
)
def test_what_a_provider_cannot_do_is_refused_before_any_request(
    executor: Executor, params: dict[str, Any], problem: str
) -> None:
    answer, given = ended(executor, circuit(ASYMMETRIC), "refused", **params)
    assert (problem in answer.error["message"], given) == (True, [])


DEVICE = QISKIT + "\nprint(device.run(circuit, 50))"
READING = QISKIT + "\ndef main(observables):\n    device.run(circuit, 50)\n    return {'asked': observables}"


def test_only_the_circuit_that_a_program_leaves_is_measured_further(executor: Executor) -> None:
    source = {"kind": "code", "framework": "qiskit", "code": DEVICE}
    answer, given = ended(executor, source, "device", observables=["ZII"])
    assert "only the circuit that a program leaves is measured further" in answer.error["message"]
    assert given == []
    reading = {"kind": "code", "framework": "qiskit", "code": READING}
    answer, given = ended(executor, reading, "reading", observables=["XII"])
    assert (answer.result["asked"], len(given)) == (["XII"], 1), "a program that reads them measures them itself"


def test_a_circuit_that_fails_ends_the_job_with_the_reason(executor: Executor) -> None:
    fields: dict[str, Any] = {**ASKING, "backend": "ionq-forte", "params": {"shots": 200, "observables": ["ZII"]}}
    ask = executor.run(circuit(ASYMMETRIC), run_id="fails", **fields).outcome["ask"]
    reply = {"digest": ask["digest"], "error": "the provider is closed"}
    answer = executor.run(circuit(ASYMMETRIC), run_id="fails", resume={"run_id": "fails"}, answers=[reply], **fields)
    assert answer.error["message"] == "the provider is closed"
