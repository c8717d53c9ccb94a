"""Expectation values that a job asks for: their values, their standard errors, and what is refused."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qiskit import qasm3
from qiskit.circuit.random import random_circuit
from qiskit.quantum_info import SparsePauliOp, Statevector

from qjs_executor.child.engines.observables import grouped, words_of
from qjs_executor.pauli_sums import read_all

from ...conformance.circuit import Circuit, Gate
from ...conformance.converters import WRITERS, framework_of
from ...conformance.random_circuits import random_gates
from ...conformance.reference import unitary
from ...conformance.writers.braket_programs import MARQOV
from ...support.direct import QISKIT, STD, answer, answered, refusal, request

BELL = STD + "qubit[2] q; bit[2] c; h q[0]; cx q[0], q[1]; c = measure q;"
ASYMMETRIC = {
    "openqasm": STD + "qubit[3] q; x q[0]; h q[1];",
    "qiskit": QISKIT + "circuit = QuantumCircuit(3)\ncircuit.x(0)\ncircuit.h(1)\ncircuit.measure_all()",
    "cirq": "import cirq\nq = cirq.LineQubit.range(3)\ncircuit = cirq.Circuit(cirq.X(q[0]), cirq.H(q[1]), cirq.I(q[2]), cirq.measure(*q))",
    "pennylane": "import pennylane as qml\n@qml.qnode(qml.device('default.qubit', wires=3))\ndef circuit():\n    qml.X(0)\n    qml.Hadamard(1)\n    return qml.counts(wires=[0, 1, 2])",
    "marqov": "from marqov import Circuit\ncircuit = Circuit().x(0).h(1).x(2).x(2)",
}
BRAKET = "from braket.circuits import Circuit\ncircuit = Circuit().x(0).h(1).i(2)"


def observed(framework: str, code: str, observables: list[str], **fields: Any) -> list[dict[str, Any]]:
    """The values of a program, by way of the second child where it leaves a circuit."""
    asked = request(framework, code, observables=observables, **fields)
    given = answered(asked)
    if "found" in given:
        source = {"kind": "circuit", "format": "qasm3", "payload": given["found"]["openqasm3"]}
        given = answered(replace(asked, source=source, circuit_facts=given["found"]))
    values: list[dict[str, Any]] = given["expectation_values"]
    return values


def reference(state: Statevector, terms: dict[str, float]) -> tuple[float, float]:
    """Mean and variance by Qiskit's operators. The state has qubit 0 first, as the words do; what stands first is the
    last qubit to Qiskit in both."""
    operator = SparsePauliOp(list(terms), list(terms.values()))
    mean = state.expectation_value(operator).real
    return mean, state.expectation_value(operator @ operator).real - mean**2


def random_terms(draw: random.Random, num_qubits: int) -> dict[str, float]:
    return {
        "".join(draw.choices("IXYZ", k=num_qubits)): round(draw.uniform(-2, 2), 3) for _ in range(draw.randint(1, 8))
    }


def written(terms: dict[str, float]) -> str:
    return " + ".join(f"{factor}*{word}" for word, factor in terms.items()).replace("+ -", "- ")


LANGUAGES = tuple(WRITERS)


def random_case(seed: int) -> tuple[str, str, Statevector, dict[str, float]]:
    """The framework of a random program, its text, the state that its circuit ends in, by numpy alone, and terms of an
    observable. The languages take turns."""
    draw = random.Random(seed)
    language = LANGUAGES[seed % len(LANGUAGES)]
    width = draw.randint(1, 4)
    gates = random_gates(draw, width, draw.randint(1, 12), *([MARQOV] if language == "marqov" else []))
    if language == "marqov":
        # A circuit of that SDK is as wide as its last qubit with a gate.
        gates.append(Gate("h", (width - 1,)))
    circuit = Circuit(tuple(gates), (width,))
    terms = random_terms(draw, width)
    return framework_of(language), WRITERS[language](circuit), Statevector(unitary(circuit)[:, 0].copy()), terms


@pytest.mark.parametrize("framework", [*ASYMMETRIC, "braket"])
@pytest.mark.parametrize("method", ["exact", "sampled"])
def test_the_first_letter_is_qubit_0_in_every_framework(framework: str, method: Any) -> None:
    language, code = ("marqov", BRAKET) if framework == "braket" else (framework, ASYMMETRIC[framework])
    values = observed(language, code, ["ZII", "IXI", "IIZ", "ZXZ"], observables_method=method, seed=1)
    assert [one["value"] for one in values] == pytest.approx([-1, 1, 1, -1])
    assert {one["method"] for one in values} == {method}


@pytest.mark.parametrize(
    "seed", [*range(60), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(60, 1_000))]
)
def test_exact_values_of_random_circuits_of_every_framework_agree_with_an_independent_calculation(seed: int) -> None:
    framework, text, state, terms = random_case(seed)
    for engine in ("statevector", "density_matrix"):
        [given] = observed(framework, text, [written(terms)], engine=engine)
        assert given["value"] == pytest.approx(reference(state, terms)[0], abs=1e-9), text
        assert (given["standard_error"], given["method"]) == (0.0, "exact")


@pytest.mark.parametrize("cases", [100, pytest.param(1_000, marks=pytest.mark.long)])
def test_sampled_values_are_within_their_standard_errors_as_often_as_they_should_be(cases: int) -> None:
    shots, outside = 4_000, 0
    for seed in range(cases):
        framework, text, state, terms = random_case(seed)
        [given] = observed(framework, text, [written(terms)], observables_method="sampled", shots=shots, seed=seed)
        # A sample without any spread stands for one that is below one shot in all.
        error = max(given["standard_error"], sum(map(abs, terms.values())) / shots)
        outside += abs(given["value"] - reference(state, terms)[0]) > 3 * error
    # Three standard errors miss 0.27 % of normal values; a bound that 1 % are missed fails by chance less than 1e-6.
    assert outside <= 0.01 * cases + 4.75 * math.sqrt(0.01 * 0.99 * cases)


def test_the_stated_error_of_terms_that_are_measured_together_contains_their_covariance() -> None:
    # ZI and IZ of a Bell pair are always equal: their sum varies twice as much as independent terms, their difference
    # not at all.
    total, difference = observed(
        "openqasm", BELL, ["ZI + IZ", "ZI - IZ"], observables_method="sampled", shots=10_000, seed=5
    )
    assert total["standard_error"] == pytest.approx(2 / math.sqrt(10_000), rel=0.01)
    assert (difference["value"], difference["standard_error"]) == (0.0, 0.0)


@pytest.mark.long
def test_the_values_of_repeated_runs_spread_as_their_standard_errors_say() -> None:
    circuit = random_circuit(3, 4, seed=11)
    terms = {"XYZ": 0.7, "ZZI": -1.2, "IZZ": 0.4, "XXI": 0.9, "YIY": -0.3}
    runs = [
        observed(
            "openqasm", qasm3.dumps(circuit), [written(terms)], observables_method="sampled", shots=200, seed=seed
        )[0]
        for seed in range(300)
    ]
    mean = sum(run["value"] for run in runs) / len(runs)
    spread = math.sqrt(sum((run["value"] - mean) ** 2 for run in runs) / (len(runs) - 1))
    stated = math.sqrt(sum(run["standard_error"] ** 2 for run in runs) / len(runs))
    # The estimate of a standard deviation from 300 values has a relative error of 4 %.
    assert spread == pytest.approx(stated, rel=0.2)
    exact, _ = reference(Statevector(circuit.reverse_bits()), terms)
    assert mean == pytest.approx(exact, abs=5 * stated / math.sqrt(len(runs)))


def test_words_that_agree_wherever_both_have_a_letter_share_a_circuit() -> None:
    assert grouped(["XI", "XZ", "ZI", "IZ"]) == ["XZ", "ZZ"]
    assert (
        answer("openqasm", BELL, observables=["XI + XZ", "ZI + IZ + II"], observables_method="sampled")[
            "observable_groups"
        ]
        == 2
    )
    assert answer("openqasm", BELL, observables=["II"], observables_method="sampled")["observable_groups"] == 0


GROUPS = json.loads((Path(__file__).parent / "observable_groups.json").read_text())


def test_observables_take_as_many_circuits_as_the_price_is_for() -> None:
    # The service counts the groups of the same table (test/domain/jobs/params/circuits.test.ts).
    for observables, groups in GROUPS.items():
        assert len(grouped(words_of(read_all(observables.split(" | "))))) == groups


def test_the_counts_of_the_circuit_are_there_too_and_do_not_change() -> None:
    plain = answer("openqasm", BELL, seed=3)
    for method in ("exact", "sampled"):
        given = answer("openqasm", BELL, seed=3, observables=["XX"], observables_method=method)
        assert {name: given[name] for name in plain} == plain


def test_noise_is_in_the_value_and_makes_it_a_sampled_one() -> None:
    noise = {"readout_errors": {"all": {"p0_given1": 0.1, "p1_given0": 0.1}}}
    for engine in ("noisy", "density_matrix"):
        [given] = observed("openqasm", BELL, ["ZZ"], engine=engine, noise_model=noise, shots=50_000, seed=2)
        assert given["method"] == "sampled"
        # Each readout keeps (1 - 2 * 0.1) of the sign.
        assert given["value"] == pytest.approx(0.64, abs=5 * given["standard_error"])


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (STD + "qubit[2] q; bit c; h q[0]; c = measure q[0]; if (c) { x q[1]; }", [0, 0, 1]),
        (STD + "qubit[2] q; x q[0]; reset q[0]; x q[1];", [1, -1, -1]),
        (STD + "qubit[2] q; bit[2] c; x q[0]; c[0] = measure q[0]; x q[0]; c[1] = measure q[1];", [1, 1, 1]),
    ],
)
def test_a_circuit_without_a_single_state_is_sampled_at_its_end(code: str, expected: list[float]) -> None:
    given = observed("openqasm", code, ["ZI", "IZ", "ZZ"], shots=10_000, seed=4)
    assert {one["method"] for one in given} == {"sampled"}
    assert [one["value"] for one in given] == pytest.approx(expected, abs=0.05)
    assert (
        "observables_method exact" in refusal("openqasm", code, observables=["ZI"], observables_method="exact").message
    )


def test_a_matrix_product_state_is_sampled_and_has_no_exact_values() -> None:
    assert observed("openqasm", BELL, ["ZZ", "XX"], engine="mps", seed=1)[1]["method"] == "sampled"
    message = refusal("openqasm", BELL, observables=["ZZ"], observables_method="exact", engine="mps").message
    assert (
        message
        == "observables_method: exact is not possible: the engine 'mps' does not hold the whole state; use aer-statevector"
    )


def test_one_shot_has_no_standard_error() -> None:
    assert observed("openqasm", BELL, ["ZZ"], observables_method="sampled", shots=1)[0]["standard_error"] is None


@pytest.mark.parametrize(
    ("framework", "code", "observables", "message"),
    [
        ("openqasm", BELL, ["ZZZ"], "observables: 'ZZZ' has 3 letters, the circuit has 2 qubits; write one letter for each qubit"),
        ("qiskit", "def main():\n    return 1", ["Z"], "observables: main() returns a value, so no circuit of it is observed"),
        ("pennylane", "import pennylane as qml\n@qml.qnode(qml.device('default.qubit', wires=1))\ndef circuit():\n    return qml.expval(qml.X(0))", ["Z"], "observables: the program measures observables of its own"),
        ("pennylane", "import pennylane as qml\n@qml.qnode(qml.device('default.qubit', wires=1))\ndef circuit():\n    return qml.counts(qml.Y(0))", ["Z"], "observables: the program measures observables of its own"),
        ("marqov", "from braket.circuits import Circuit, observables\ncircuit = Circuit().h(0).expectation(observables.X(), 0)", ["Z"], "observables: the program measures observables of its own"),
    ],
)  # fmt: skip
def test_what_would_not_be_the_asked_value_is_refused(
    framework: str, code: str, observables: list[str], message: str
) -> None:
    error = refusal(framework, code, observables=observables)
    assert message in error.message
    assert error.code == "unsupported_operation"


def test_a_program_that_reads_the_observables_itself_may_return_a_value() -> None:
    given = answer(
        "qiskit",
        "def main(observables):\n    return observables",
        observables=["ZZ"],
        params={"shots": 100, "backend": "aer-statevector", "observables": ["ZZ"]},
    )
    assert given["value"] == ["ZZ"]


def test_each_run_on_the_device_is_observed_and_the_last_one_is_the_result() -> None:
    code = QISKIT + "c = QuantumCircuit(1)\ndevice.run(c)\nc.x(0)\ndevice.run(c)"
    assert observed("qiskit", code, ["Z"])[0]["value"] == pytest.approx(-1)
