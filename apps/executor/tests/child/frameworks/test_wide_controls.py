"""Gates with more controls than a matrix can be compared for are written as such, and proved control by control."""

from __future__ import annotations

from typing import Any

import cirq
import numpy as np
import pennylane as qml
import pytest
from braket.circuits import Circuit as BraketCircuit

from qjs_executor.child.frameworks import braket_circuits, program
from qjs_executor.child.refusals import Unsupported

from ...support import framework_tables as tables
from .test_framework_circuits import check, found

WIDTH = 10
Q = cirq.LineQubit.range(WIDTH)
GATES = {
    "x": cirq.X,
    "root of y": cirq.Y**0.3,
    "rz": cirq.rz(0.7),
    "phase": cirq.ZPowGate(exponent=0.2),
    "swap": cirq.SWAP,
    "matrix": cirq.MatrixGate(cirq.testing.random_unitary(2, random_state=1)),
    # Exported as a u3, whose phase readers take differently once it is controlled.
    "matrix like a u3": cirq.MatrixGate(np.array([[0.6, 0.8j], [0.8j, 0.6]])),
}


def superposed() -> cirq.Circuit:
    """Every qubit in a state of its own, so that each wrong control or order of qubits shows."""
    return cirq.Circuit(cirq.ry(0.4 + 0.2 * place)(qubit) for place, qubit in enumerate(Q))


@pytest.mark.parametrize("name", GATES)
def test_cirq_controls_of_any_number_and_value_do_what_cirq_simulates(name: str) -> None:
    gate = GATES[name]
    order = [3, 9, 0, 5, 1, 7, 2, 8, 6, 4]
    size = gate.num_qubits()
    controls, targets = order[: WIDTH - size], order[WIDTH - size :]
    values = [int(place % 3 != 0) for place in range(len(controls))]
    operation = gate.on(*(Q[t] for t in targets)).controlled_by(*(Q[c] for c in controls), control_values=values)
    circuit = superposed() + cirq.Circuit(operation, (cirq.H(Q[t]) for t in targets), cirq.H(Q[0]))
    check(circuit, tables.cirq_probabilities(circuit))


@pytest.mark.parametrize(
    "base",
    [
        *(qml.X(9), qml.RZ(0.7, 9), qml.PhaseShift(0.3, 9), qml.SWAP([9, 4]), qml.Rot(0.1, 0.2, 0.3, 9)),
        *(qml.U2(0.1, 0.2, 9), qml.U3(0.1, 0.2, 0.3, 9), qml.adjoint(qml.U3(0.1, 0.2, 0.3, 9))),
        qml.QubitUnitary(qml.matrix(qml.prod(qml.U3(0.1, 0.2, 0.3, 9), qml.CNOT([4, 9])), wire_order=[4, 9]), [4, 9]),
        qml.GlobalPhase(0.7),
    ],
    ids=lambda base: base.name,
)
def test_pennylane_controls_of_any_number_and_value_do_what_pennylane_simulates(base: Any) -> None:
    controls = [wire for wire in (3, 0, 5, 1, 7, 2, 8, 6, 4) if wire not in base.wires]

    @qml.qnode(qml.device("default.qubit", wires=WIDTH))
    def circuit() -> Any:
        for wire in range(WIDTH):
            qml.RY(0.4 + 0.2 * wire, wire)
        qml.ctrl(base, controls, control_values=[wire % 2 for wire in controls])
        qml.MultiControlledX(wires=[*range(1, WIDTH), 0], control_values=[1] * 8 + [0])
        qml.Hadamard(9)
        return qml.probs(wires=range(WIDTH))

    check(circuit, circuit())


def test_a_condition_on_many_measured_values_does_what_controls_with_these_values_do() -> None:
    device = qml.device("default.qubit", wires=5)

    def prepare() -> None:
        for wire in range(5):
            qml.RY(0.4 + 0.4 * wire, wire)

    @qml.qnode(device)
    def conditioned() -> Any:
        prepare()
        a, b, c, d = (qml.measure(wire) for wire in range(4))
        qml.cond((a == 1) & (b == 0) & (c == 1) & (d == 1), lambda: qml.U3(0.3, 0.4, 0.5, wires=4))()
        return qml.probs(wires=range(5))

    @qml.qnode(device)
    def controlled() -> Any:
        prepare()
        qml.ctrl(qml.U3(0.3, 0.4, 0.5, wires=4), range(4), control_values=[1, 0, 1, 1])
        return qml.probs(wires=range(5))

    # The measured values have further qubits, after these.
    probabilities = tables.probabilities(found(conditioned)).reshape(32, -1).sum(axis=1)
    np.testing.assert_allclose(probabilities, controlled(), rtol=0, atol=1e-9)


def test_a_wide_gate_takes_one_line() -> None:
    circuit = cirq.Circuit(cirq.X(Q[9]).controlled_by(*Q[:9]))
    qubits = ", ".join(f"q[{place}]" for place in range(WIDTH))
    assert found(circuit).openqasm3.splitlines()[-1] == f"ctrl(9) @ x {qubits};"


def test_braket_controls_do_what_braket_simulates() -> None:
    circuit = BraketCircuit()
    for place in range(WIDTH):
        circuit.ry(place, 0.4 + 0.2 * place)
    circuit.iswap(4, 9, control=[3, 0, 5, 1, 7, 2, 8], control_state=[1, 0, 1, 1, 0, 1, 1])
    circuit.u(9, 0.3, 0.4, 0.5, control=list(range(9)), power=1).h(9).h(4)
    check(circuit, tables.braket_probabilities(circuit))


@pytest.mark.parametrize("harm", ["control value", "order of controls", "angle", "dropped"])
def test_a_wrong_export_of_a_gate_with_many_controls_is_noticed(harm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def circuit() -> BraketCircuit:
        return BraketCircuit().rx(9, 0.4, control=range(9), control_state=[0] + [1] * 8)

    found(circuit())
    real = program.controlled

    def harmed(*arguments: Any) -> list[str]:
        before, gate, after = real(*arguments) or []
        return {
            "control value": [gate],
            "order of controls": [before, gate.replace("{0}, {1}", "{1}, {0}"), after],
            "angle": [before, gate.replace("0.4", "0.41"), after],
            "dropped": [before, after],
        }[harm]

    monkeypatch.setattr(braket_circuits, "controlled", harmed)
    with pytest.raises(Unsupported, match="without changing what it does"):
        found(circuit())
