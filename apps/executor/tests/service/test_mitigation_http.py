"""Mitigation through the executor's own door: the result, the checks of the request and of what a child claims."""

from __future__ import annotations

from typing import Any

import pytest

from qjs_executor.mitigation import NotMitigation, read

from ..support.executor import Executor

GHZ = 'OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; bit[2] c; x q[0]; cx q[0], q[1]; c = measure q;'
CIRCUIT = {"kind": "circuit", "format": "qasm3", "payload": GHZ}
NOISE = {"gate_errors": {"all_2q": 0.02}, "readout_errors": {"all": {"p0_given1": 0.1, "p1_given0": 0.05}}}


def params(**fields: Any) -> dict[str, Any]:
    return {"shots": 2000, "seed": 1, "noise_model": NOISE, "observables": ["ZI", "ZZ"], **fields}


def test_the_result_states_raw_and_mitigated_values_and_what_was_done(executor: Executor) -> None:
    asked = {"readout": True, "zne": {"factors": [1, 3], "fit": "richardson"}}
    result = executor.run(CIRCUIT, engine="noisy", backend="aer-noisy", params=params(mitigation=asked)).result
    for entry, exact in zip(result["expectation_values"], (-1, 1), strict=True):
        assert list(entry) == ["observable", "value", "standard_error", "method", "raw"]
        assert abs(entry["value"] - exact) < abs(entry["raw"]["value"] - exact)
    assert sum(result["counts"].values()) == 2000
    assert sum(result["quasi_probabilities"].values()) == pytest.approx(1)
    done = result["mitigation"]
    assert (done["circuits"], done["calibration_shots"]) == (5, 4000)
    assert (done["readout"]["method"], done["readout"]["calibration_circuits"]) == ("m3", 2)
    assert (done["zne"]["factors"], done["zne"]["fit"], done["zne"]["order"]) == ([1, 3], "richardson", 1)
    assert len(done["zne"]["values"]) == 2
    assert [note.split(":")[0] for note in done["notes"]] == ["readout", "zne"]


def test_a_program_of_a_framework_is_mitigated_as_its_circuit(executor: Executor) -> None:
    code = "import cirq\nq = cirq.LineQubit.range(2)\ncircuit = cirq.Circuit(cirq.X(q[0]), cirq.CNOT(q[0], q[1]), cirq.measure(*q))"
    source = {"kind": "code", "framework": "cirq", "code": code}
    asked = {"zne": {"factors": [1, 3], "fit": "linear"}}
    result = executor.run(source, engine="noisy", backend="aer-noisy", params=params(mitigation=asked)).result
    assert result["expectation_values"][0]["raw"]["value"] < 0
    assert "quasi_probabilities" not in result


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"mitigation": {"readout": True}, "observables_method": "exact"}, "cannot be exact with mitigation"),
        (
            {"mitigation": {"zne": {"factors": [1, 3], "fit": "linear"}}, "observables": None},
            "needs params.observables",
        ),
        (
            {"mitigation": {"zne": {"factors": [1, 3], "fit": "linear"}}, "optimization_level": 1},
            "must be 0 with mitigation.zne",
        ),
        ({"mitigation": {"dynamical_decoupling": True}}, "has no field 'dynamical_decoupling'"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(executor: Executor, fields: dict[str, Any], problem: str) -> None:
    answer = executor.run(CIRCUIT, engine="noisy", backend="aer-noisy", params=params(**fields))
    assert answer.status == 400
    assert problem in str(answer.lines)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"readout": 1},
        {"readout": False},
        {"zne": {}},
        {"zne": {"factors": [1], "fit": "linear"}},
        {"zne": {"factors": [3, 1], "fit": "linear"}},
        {"zne": {"factors": [1, 1], "fit": "linear"}},
        {"zne": {"factors": [1, 2, 3, 4, 5, 6], "fit": "linear"}},
        {"zne": {"factors": [1, 10], "fit": "linear"}},
        {"zne": {"factors": [1, True], "fit": "linear"}},
        {"zne": {"factors": [1, float("nan")], "fit": "linear"}},
        {"zne": {"factors": [1, 2], "fit": "exponential"}},
        {"zne": {"factors": [1, 2], "fit": "linear", "order": 1}},
        {"zne": {"factors": [1, 2], "fit": "polynomial"}},
        {"zne": {"factors": [1, 2], "fit": "polynomial", "order": 2}},
        {"zne": {"factors": [1, 2], "fit": "linear", "folding": "local"}},
    ],
)
def test_no_other_mitigation_is_read(value: Any) -> None:
    with pytest.raises(NotMitigation, match=r"^mitigation"):
        read(value)
