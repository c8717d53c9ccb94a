"""Mitigation of errors: that it removes them, that its standard errors hold, and what is refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pennylane.noise import poly_extrapolate, richardson_extrapolate
from qiskit import QuantumCircuit
from qiskit.quantum_info import Operator

from qjs_executor.child.engines.estimates import ReadoutErrors
from qjs_executor.child.engines.noise import parse_noise_model
from qjs_executor.child.mitigation.extrapolation import weights_of
from qjs_executor.child.mitigation.folding import foldable, folded
from qjs_executor.child.mitigation.readout import quasi_probabilities
from qjs_executor.mitigation import Zne, read

from ...support.direct import QISKIT, STD, answer, refusal

READOUT = {"readout_errors": {"all": {"p0_given1": 0.08, "p1_given0": 0.02}, "1": {"p0_given1": 0.15, "p1_given0": 0}}}
GATES = {"gate_errors": {"all_1q": 0.002, "all_2q": 0.02}}
CHAIN = "x q[0]; ry(0.3) q[0]; h q[1]; cx q[1], q[2]; rz(0.5) q[2]; cx q[0], q[1]; cx q[0], q[1]; cx q[1], q[2]; cx q[1], q[2]; rx(0.2) q[2];"
ASYMMETRIC = STD + "qubit[3] q; bit[3] c;" + CHAIN + "c = measure q;"
OBSERVABLES = ["ZII", "IZZ - 0.5*XII", "IXX + 2*III"]
FIELDS: dict[str, Any] = {"engine": "noisy", "observables": OBSERVABLES, "observables_method": "sampled"}


def ideal() -> list[float]:
    """The values without noise."""
    given = answer("openqasm", ASYMMETRIC, observables=OBSERVABLES, engine="statevector")
    return [one["value"] for one in given["expectation_values"]]


def entries(mitigation: dict[str, Any], noise: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    given = answer("openqasm", ASYMMETRIC, mitigation=mitigation, noise_model=noise, **{**FIELDS, **fields})
    values: list[dict[str, Any]] = given["expectation_values"]
    return values


@pytest.mark.parametrize(
    ("mitigation", "noise", "share"),
    [
        ({"readout": True}, READOUT, 0.1),
        ({"zne": {"factors": [1, 3, 5], "fit": "richardson"}}, GATES, 0.25),
        ({"zne": {"factors": [1, 2, 3], "fit": "linear"}}, GATES, 0.5),
        ({"zne": {"factors": [1, 2, 3, 4], "fit": "polynomial", "order": 2}}, GATES, 0.3),
        ({"readout": True, "zne": {"factors": [1, 3], "fit": "linear"}}, {**GATES, **READOUT}, 0.3),
    ],
)
def test_a_mitigated_value_is_far_nearer_to_the_ideal_one_than_the_raw_value(
    mitigation: dict[str, Any], noise: dict[str, Any], share: float
) -> None:
    given = entries(mitigation, noise, shots=100_000, seed=1)
    raw_distance = sum(abs(one["raw"]["value"] - exact) for one, exact in zip(given, ideal(), strict=True))
    distance = sum(abs(one["value"] - exact) for one, exact in zip(given, ideal(), strict=True))
    # Five standard errors of all values together are far below what the bound leaves.
    assert raw_distance > 0.1
    assert distance < share * raw_distance + 5 * sum(one["standard_error"] for one in given) / len(given)
    assert all(one["standard_error"] > one["raw"]["standard_error"] for one in given), "it costs precision"


def test_raw_values_and_counts_are_those_of_the_same_job_without_mitigation() -> None:
    plain = answer("openqasm", ASYMMETRIC, noise_model={**GATES, **READOUT}, seed=4, shots=500, **FIELDS)
    asked = {"readout": True, "zne": {"factors": [1, 3], "fit": "linear"}}
    given = answer(
        "openqasm", ASYMMETRIC, noise_model={**GATES, **READOUT}, seed=4, shots=500, mitigation=asked, **FIELDS
    )
    assert given["counts"] == plain["counts"]
    for one, before in zip(given["expectation_values"], plain["expectation_values"], strict=True):
        assert one["raw"] == {"value": before["value"], "standard_error": before["standard_error"]}
    # The circuit itself, two groups with two factors each, and two calibrations.
    assert (plain["observable_groups"], given["mitigation"]["circuits"]) == (2, 1 + 2 * 2 + 2)


@pytest.mark.parametrize(
    "mitigation",
    [{"readout": True}, {"readout": True, "zne": {"factors": [1, 3], "fit": "linear"}}],
)
@pytest.mark.parametrize("runs", [40, pytest.param(300, marks=pytest.mark.long)])
def test_values_of_repeated_runs_spread_as_their_standard_errors_say(mitigation: dict[str, Any], runs: int) -> None:
    noise = {**READOUT, "gate_errors": {"all_2q": 0.001}}
    samples = [entries(mitigation, noise, shots=400, seed=seed) for seed in range(runs)]
    for place in range(len(OBSERVABLES)):
        values = [one[place]["value"] for one in samples]
        stated = math.sqrt(sum(one[place]["standard_error"] ** 2 for one in samples) / runs)
        # The estimate of a standard deviation from n values has a relative error of 1 / sqrt(2 n).
        assert float(np.std(values, ddof=1)) == pytest.approx(stated, rel=5 / math.sqrt(2 * runs))


@pytest.mark.parametrize("runs", [100, pytest.param(1_000, marks=pytest.mark.long)])
def test_readout_corrected_values_are_within_their_standard_errors_as_often_as_they_should_be(runs: int) -> None:
    noise, exact = READOUT, ideal()
    outside = sum(
        abs(one["value"] - value) > 3 * one["standard_error"]
        for seed in range(runs)
        for one, value in zip(entries({"readout": True}, noise, shots=1_000, seed=seed), exact, strict=True)
    )
    # Three standard errors miss 0.27 % of normal values; that 1 % are missed is a bound which fails by chance below 1e-6.
    cases = 3 * runs
    assert outside <= 0.01 * cases + 4.75 * math.sqrt(0.01 * 0.99 * cases)


def test_assignment_errors_are_stated_by_qubit_with_qubit_0_first() -> None:
    noise = {"readout_errors": {"0": {"p0_given1": 0.3}, "4": {"p1_given0": 0.2}}}
    code = STD + "qubit[5] q; bit[2] c; x q[0]; c[0] = measure q[4]; c[1] = measure q[0];"
    given = answer(
        "openqasm", code, engine="noisy", noise_model=noise, mitigation={"readout": True}, shots=50_000, seed=2
    )
    errors = given["mitigation"]["readout"]["errors"]
    assert [one["qubit"] for one in errors] == [0, 1, 2, 3, 4]
    assert [one["p0_given1"] for one in errors] == pytest.approx([0.3, 0, 0, 0, 0], abs=0.01)
    assert [one["p1_given0"] for one in errors] == pytest.approx([0, 0, 0, 0, 0.2], abs=0.01)
    # c[0] shows qubit 4, which is 0, and c[1] qubit 0, which is 1.
    assert given["counts"]["01"] == pytest.approx(50_000 * 0.8 * 0.7, rel=0.05)
    assert given["quasi_probabilities"]["01"] == pytest.approx(1, abs=0.02)
    assert sum(given["quasi_probabilities"].values()) == pytest.approx(1)
    assert given["mitigation"]["readout"]["overhead"] > 1


def test_a_bit_that_nothing_measures_is_0_and_corrected_by_nothing() -> None:
    noise = {"readout_errors": {"all": {"p0_given1": 0.2, "p1_given0": 0.1}}}
    code = STD + "qubit[2] q; bit[3] c; x q[1]; c[2] = measure q[1];"
    given = answer(
        "openqasm", code, engine="noisy", noise_model=noise, mitigation={"readout": True}, shots=20_000, seed=3
    )
    assert set(given["quasi_probabilities"]) == {"000", "001"}
    assert given["quasi_probabilities"]["001"] == pytest.approx(1, abs=0.02)


def test_a_wide_register_is_corrected_in_its_own_order() -> None:
    noise = {"readout_errors": {"all": {"p0_given1": 0.05, "p1_given0": 0.01}}}
    code = STD + "qubit[12] q; x q[0]; x q[3]; x q[11];"
    word = ["I"] * 12
    word[3], word[10] = "Z", "Z"
    given = answer(
        "openqasm",
        code,
        engine="noisy",
        noise_model=noise,
        mitigation={"readout": True},
        observables=["".join(word), "Z" * 12],
        shots=20_000,
        seed=3,
    )
    assert given["quasi_probabilities"]["100100000001"] == pytest.approx(1, abs=0.05)
    assert [one["value"] for one in given["expectation_values"]] == pytest.approx([-1, -1], abs=0.1)


REFERENCE = json.loads((Path(__file__).parent / "mthree_reference.json").read_text())


@pytest.mark.parametrize("row", REFERENCE, ids=[f"{len(row['errors'])} qubits" for row in REFERENCE])
def test_corrected_counts_are_those_of_mthree(row: dict[str, Any]) -> None:
    # Made with mthree 3.0.0: apply_correction(counts, qubits, distance=-1, method="direct"), which has single precision.
    errors = ReadoutErrors(*(np.array(column) for column in zip(*row["errors"], strict=True)))
    corrected = quasi_probabilities(row["counts"], {place: place for place in range(len(row["errors"]))}, errors)
    assert corrected is not None
    assert corrected[0] == pytest.approx(row["quasi"], abs=1e-4)
    assert corrected[1] == pytest.approx(row["overhead"], rel=1e-3)


@pytest.mark.parametrize("factor", [1, 1.5, 2, 2.7, 3, 5, 9])
def test_a_folded_circuit_does_the_same_with_more_gates(factor: float) -> None:
    circuit = QuantumCircuit(3)
    circuit.x(0)
    circuit.h(1)
    circuit.t(1)
    circuit.cx(1, 2)
    circuit.rx(0.7, 2)
    circuit.u(0.1, 0.2, 0.3, 0)
    circuit.cp(0.4, 2, 0)
    circuit.ccx(0, 1, 2)
    gates = foldable(circuit, parse_noise_model({}, 3), None)
    scaled, reached = folded(gates, factor)
    assert Operator(scaled).equiv(Operator(circuit))
    assert len(scaled.data) == round(reached * len(gates.data))
    # Half a pair of gates more or less.
    assert reached == pytest.approx(factor, abs=1 / len(gates.data) + 1e-9)


def test_the_weights_are_those_of_pennylanes_extrapolation() -> None:
    factors, values = [1.0, 2.0, 2.5, 4.0], [0.8, 0.61, 0.55, 0.37]
    for zne in (Zne(factors, "linear", 1), Zne(factors, "polynomial", 2), Zne(factors, "richardson", 3)):
        weights = weights_of(zne, factors)
        own = (
            richardson_extrapolate(np.array(factors), values)
            if zne.fit == "richardson"
            else poly_extrapolate(np.array(factors), values, zne.order)
        )
        assert sum(weight * value for weight, value in zip(weights, values, strict=True)) == pytest.approx(float(own))
        assert sum(weights) == pytest.approx(1)


def test_factors_that_a_short_circuit_cannot_tell_apart_are_refused() -> None:
    asked = {"zne": {"factors": [1, 1.2, 3], "fit": "linear"}}
    error = refusal(
        "openqasm", STD + "qubit q; x q;", observables=["Z"], mitigation=asked, noise_model=GATES, engine="noisy"
    )
    assert "the circuit has 1 gates, too few to tell the factors 1, 1.2, 3 apart" in error.message


LINEAR = {"zne": {"factors": [1, 3], "fit": "linear"}}
MIDDLE = STD + "qubit[2] q; bit[2] c; h q[0]; c[0] = measure q[0]; if (c[0]) { x q[1]; } c[1] = measure q[1];"


@pytest.mark.parametrize(
    ("code", "mitigation", "noise", "problem"),
    [
        (ASYMMETRIC, {"readout": True}, None, "mitigation: nothing is noisy here"),
        (ASYMMETRIC, {"readout": True}, GATES, "nothing is read wrongly here"),
        (ASYMMETRIC, LINEAR, READOUT, "no gate has noise here"),
        (MIDDLE, {"readout": True}, READOUT, "mitigation.readout: the circuit measures or branches before its end"),
        (MIDDLE, LINEAR, GATES, "mitigation.zne"),
        (STD + "qubit[2] q; x q[0]; reset q[0]; x q[1];", LINEAR, GATES, "operation 'reset'"),
        (
            ASYMMETRIC,
            {"readout": True},
            {"readout_errors": {"2": {"p0_given1": 0.5, "p1_given0": 0.5}}},
            "qubit 2 reads 1 for",
        ),
        (
            STD + "qubit[1] q; t q[0]; h q[0];",
            LINEAR,
            {"gate_errors": {"t": 0.01}},
            "'t' that does not hold for its inverse 'tdg'",
        ),
    ],
)
def test_what_cannot_be_mitigated_faithfully_is_refused_by_name(
    code: str, mitigation: dict[str, Any], noise: dict[str, Any] | None, problem: str
) -> None:
    observables = (
        {} if "zne" not in mitigation else {"observables": ["Z" * (3 if code == ASYMMETRIC else 1 + ("[2]" in code))]}
    )
    error = refusal(
        "openqasm", code, mitigation=mitigation, noise_model=noise, engine="noisy", shots=2_000, seed=1, **observables
    )
    assert problem in error.message


def test_programs_that_leave_no_circuit_of_ours_are_not_mitigated() -> None:
    returning = refusal(
        "qiskit",
        QISKIT + "def main(shots):\n    return {'a': 1}",
        mitigation={"readout": True},
        noise_model=READOUT,
        engine="noisy",
    )
    assert returning.message == "mitigation: main() returns a value, so no circuit of it is mitigated; leave a circuit"
    own = "import pennylane as qml\n@qml.qnode(qml.device('default.qubit', wires=1))\ndef circuit():\n    qml.Hadamard(0)\n    return qml.expval(qml.X(0))"
    assert refusal("pennylane", own, mitigation={"readout": True}, noise_model=READOUT).message.startswith(
        "mitigation: the program measures observables of its own"
    )


def test_only_what_the_library_can_do_is_read() -> None:
    assert read({"zne": {"factors": [1, 2, 3], "fit": "polynomial", "order": 2}}).zne == Zne([1, 2, 3], "polynomial", 2)
    assert read({"readout": True}).readout
