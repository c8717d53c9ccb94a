"""What the adapters of Cirq, PennyLane, Braket and marqov cannot keep is refused by name, and a wrong export is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cirq
import numpy as np
import pennylane as qml
import pytest
import sympy
from braket.circuits import Circuit as BraketCircuit
from braket.circuits import FreeParameter
from marqov import Circuit as MarqovCircuit

from qjs_executor.child.refusals import JobError, Unsupported

from ...support import framework_tables as tables
from .test_framework_circuits import found

Q = cirq.LineQubit.range(4)


def refusal(value: Any) -> str:
    with pytest.raises(JobError) as caught:
        found(value)
    return caught.value.message


def computed() -> Any:
    m = qml.measure(1)
    return qml.counts(~m)


def in_pennylane(function: Callable[[], Any]) -> Any:
    return qml.QNode(function, qml.device("default.qubit", wires=3))


def noisy() -> Any:
    qml.DepolarizingChannel(0.1, 1)
    return qml.counts()


def postselected() -> Any:
    qml.measure(1, postselect=1)
    return qml.counts()


def incompatible() -> Any:
    return qml.expval(qml.X(1)), qml.expval(qml.Z(1))


def batched() -> Any:
    qml.RX(np.array([0.1, 0.2]), 0)
    return qml.counts()


REFUSED: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "cirq noise": (lambda: cirq.Circuit(cirq.depolarize(0.1)(Q[1])), ["depolarize", "q(1)"]),
    "cirq symbol": (lambda: cirq.Circuit(cirq.rx(sympy.Symbol("theta"))(Q[0])), ["theta"]),
    "cirq qudit": (lambda: cirq.Circuit(cirq.XPowGate(dimension=3)(cirq.LineQid(1, 3))), ["q(1)", "3 levels"]),
    "cirq key of two sizes": (lambda: cirq.Circuit(cirq.measure(Q[0], key="a"), cirq.measure(Q[1], Q[2], key="a")), ["'a'", "q(1), q(2)", "its own key"]),
    "cirq confusion": (lambda: cirq.Circuit(cirq.measure(Q[0], key="a", confusion_map={(0,): np.array([[0.9, 0.1], [0.1, 0.9]])})), ["confusion", "'a'"]),
    "cirq control": (lambda: cirq.Circuit(cirq.measure(Q[0], key="a"), cirq.X(Q[1]).with_classical_controls(sympy.Symbol("a") > 0)), ["a > 0"]),
    "cirq empty": (cirq.Circuit, ["no qubits"]),
    "cirq repeat until": (lambda: cirq.Circuit(cirq.CircuitOperation(cirq.FrozenCircuit(cirq.H(Q[1]), cirq.measure(Q[1], key="a")), repeat_until=cirq.KeyCondition(cirq.MeasurementKey("a")), use_repetition_ids=False)), ["repeat_until", "q(1)"]),
    "pennylane noise": (lambda: in_pennylane(noisy), ["DepolarizingChannel", "1"]),
    "pennylane postselect": (lambda: in_pennylane(postselected), ["postselect", "1"]),
    "pennylane computed": (lambda: in_pennylane(computed), ["counts", "computed"]),
    "pennylane bases": (lambda: in_pennylane(incompatible), ["X(1)", "Z(1)", "together"]),
    "pennylane batch": (lambda: in_pennylane(batched), ["batch"]),
    "pennylane argument": (lambda: qml.QNode(lambda theta: qml.RX(theta, 0), qml.device("default.qubit", wires=1)), ["theta"]),
    "pennylane bits of a matrix": (lambda: in_pennylane(lambda: qml.probs(op=qml.Hadamard(1))), ["probs(H(1))", "Pauli"]),
    "pennylane entropy": (lambda: in_pennylane(lambda: qml.vn_entropy(wires=[0])), ["VnEntropy"]),
    "pennylane transform": (lambda: qml.transforms.split_non_commuting(in_pennylane(incompatible)), ["transform", "2 circuits"]),
    "pennylane qutrit": (lambda: qml.tape.QuantumScript([qml.TShift(0)], []), ["TShift", "0"]),
    "braket noise": (lambda: BraketCircuit().h(0).depolarizing(1, 0.1), ["Depolarizing", "1"]),
    "braket parameter": (lambda: BraketCircuit().rx(0, FreeParameter("theta")), ["theta"]),
    "braket amplitude": (lambda: BraketCircuit().h(0).amplitude(["0"]), ["Amplitude"]),
    "braket empty": (BraketCircuit, ["no qubits"]),
    "marqov parameter": (lambda: MarqovCircuit().rx(sympy.Symbol("theta"), 1), ["Rx", "1", "theta"]),
    "marqov empty": (MarqovCircuit, ["no qubits"]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_exported_faithfully_is_refused_by_name(name: str) -> None:
    make, words = REFUSED[name]
    message = refusal(make())
    assert [word for word in words if word not in message] == [], message


# The proof


@pytest.mark.parametrize("adapter", ["cirq", "pennylane", "braket", "marqov"])
@pytest.mark.parametrize("harm", ["drop", "round", "reverse"])
def test_an_exporter_that_drops_rounds_or_turns_around_an_operation_is_noticed(
    adapter: str, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib import import_module

    module = import_module(f"qjs_executor.child.frameworks.{adapter}_circuits")
    row: tables.Row = [("h", 0), ("cx", 1, 0), ("rx", 0.123456789, 1)]
    make = {
        "cirq": tables.in_cirq,
        "pennylane": tables.in_pennylane,
        "braket": tables.in_braket,
        "marqov": tables.in_marqov,
    }[adapter]
    expected = tables.probabilities(found(make(row)))
    function = "_statements" if adapter == "braket" else "written" if adapter == "marqov" else "statements_of"
    real = getattr(module, function)

    def harmed(*arguments: Any) -> list[str]:
        statements = [str(statement) for statement in real(*arguments)]
        if harm == "drop":
            return [s for s in statements if not s.startswith("cx")]
        if harm == "round":
            return ["rx(0.1235) {0};" if s.startswith("rx") else s for s in statements]
        return ["cx {1}, {0};" if s.startswith("cx") else s for s in statements]

    monkeypatch.setattr(module, function, harmed)
    if harm == "drop" and adapter in ("cirq", "pennylane"):
        # What these exporters leave out is written from its matrix instead.
        np.testing.assert_allclose(tables.probabilities(found(make(row))), expected, rtol=0, atol=1e-9)
    else:
        with pytest.raises(Unsupported, match="without changing what it does"):
            found(make(row))
