"""Circuits of Cirq, PennyLane, Braket and marqov mean in OpenQASM what they mean to their own simulators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cirq
import numpy as np
import pennylane as qml
import pytest
import quantumflow as qf
import sympy
from braket.circuits import Circuit as BraketCircuit
from braket.circuits import Observable
from braket.devices import LocalSimulator
from marqov import Circuit as MarqovCircuit
from qiskit_aer import AerSimulator

from qjs_executor.child.adapted_circuit import AdaptedCircuit
from qjs_executor.child.circuits.measurement import measured_layout
from qjs_executor.child.circuits.openqasm import load
from qjs_executor.child.frameworks.registry import adapter_of

from ...support import framework_tables as tables

Q = cirq.LineQubit.range(4)


def found(value: Any) -> AdaptedCircuit:
    adapter = adapter_of(value)
    assert adapter is not None
    answer: AdaptedCircuit = adapter.to_found(value, 100)
    return answer


def check(value: Any, expected: Any, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(tables.probabilities(found(value)), expected, rtol=0, atol=tolerance)


CIRQ_GATES: dict[str, Callable[[], list[cirq.Operation]]] = {
    "fsim": lambda: [cirq.FSimGate(0.3, 0.4)(Q[0], Q[1])],
    "phased x z": lambda: [cirq.PhasedXZGate(x_exponent=0.1, z_exponent=0.2, axis_phase_exponent=0.3)(Q[2])],
    "root of iswap": lambda: [cirq.ISWAP(Q[2], Q[0]) ** 0.3],
    "root of toffoli": lambda: [cirq.CCX(Q[2], Q[0], Q[1]) ** 0.25],
    "one-qubit matrix": lambda: [cirq.MatrixGate(cirq.testing.random_unitary(2, random_state=1))(Q[1])],
    "two-qubit matrix": lambda: [cirq.MatrixGate(cirq.testing.random_unitary(4, random_state=2))(Q[2], Q[1])],
    "three-qubit matrix": lambda: [cirq.MatrixGate(cirq.testing.random_unitary(8, random_state=3))(Q[2], Q[0], Q[1])],
    "four-qubit matrix": lambda: [
        cirq.MatrixGate(cirq.testing.random_unitary(16, random_state=4))(Q[2], Q[0], Q[1], Q[3])
    ],
    "fourier": lambda: [cirq.qft(Q[0], Q[2], Q[1])],
    "diagonal": lambda: [cirq.ThreeQubitDiagonalGate([0.1 * k**2 for k in range(8)])(Q[1], Q[0], Q[2])],
    "permutation": lambda: [cirq.QubitPermutationGate([2, 0, 1])(*Q[:3])],
    "mixed controls": lambda: [cirq.Y(Q[0]).controlled_by(Q[1], Q[2], control_values=[0, 1])],
    "controlled phase of everything": lambda: [cirq.GlobalPhaseGate(1j)().controlled_by(Q[1])],
    "phase of everything": lambda: [cirq.GlobalPhaseGate(1j)(), cirq.X(Q[1])],
    "tagged": lambda: [cirq.X(Q[1]).with_tags("mine"), cirq.H(Q[0]).with_tags(cirq.VirtualTag())],
    "subcircuit": lambda: [
        cirq.CircuitOperation(
            cirq.FrozenCircuit(cirq.T(Q[0]), cirq.CX(Q[0], Q[1])), repetitions=3, qubit_map={Q[0]: Q[2]}
        )
    ],
    "pauli string": lambda: [(cirq.X(Q[0]) * cirq.Y(Q[2])).with_coefficient(-1)],
    "numpy exponent": lambda: [cirq.X(Q[0]) ** np.float32(0.25), cirq.ZPowGate(exponent=np.float64(0.1))(Q[1])],
}


@pytest.mark.parametrize("name", CIRQ_GATES)
def test_gates_that_only_cirq_has_keep_their_meaning(name: str) -> None:
    head = [cirq.ry(0.4 + 0.3 * k)(q) for k, q in enumerate(Q)]
    tail = [cirq.rx(0.3 + 0.2 * k)(q) for k, q in enumerate(Q)] + [cirq.H(q) for q in Q[:2]]
    circuit = cirq.Circuit(head, CIRQ_GATES[name](), tail)
    # Single-precision exponents make matrices that are unitary to seven digits only.
    check(circuit, tables.cirq_probabilities(circuit), 1e-7 if "numpy" in name else 1e-9)


PENNYLANE_GATES: dict[str, Callable[[], Any]] = {
    "prepared state": lambda: qml.StatePrep(np.array([0.6, 0, 0, 0.8j]), wires=["a", 0]),
    "basis state": lambda: qml.BasisState([1, 0, 1], wires=[0, "b", "a"]),
    "amplitudes": lambda: qml.AmplitudeEmbedding([1, 2, 3, 4], wires=["b", 0], normalize=True),
    "angles": lambda: qml.AngleEmbedding([0.1, 0.2], wires=["b", 0], rotation="Y"),
    "rot": lambda: qml.Rot(0.1, 0.2, 0.3, "a"),
    "ising xy": lambda: qml.IsingXY(0.3, ["a", 0]),
    "fourier": lambda: qml.QFT(["b", 0, "a"]),
    "controls": lambda: qml.ctrl(qml.RZ(0.3, "b"), control=["a", 0], control_values=[0, 1]),
    "matrix": lambda: qml.QubitUnitary(cirq.testing.random_unitary(8, random_state=5), ["a", "b", 0]),
    "diagonal": lambda: qml.DiagonalQubitUnitary(np.exp(1j * np.arange(4)), ["a", 0]),
    "multi control": lambda: qml.MultiControlledX(wires=["b", "a", 0], control_values=[0, 1]),
    "power": lambda: qml.pow(qml.T("a"), 0.3),
    "adjoint": lambda: qml.adjoint(qml.ISWAP(["a", 0])),
    "evolution": lambda: qml.evolve(qml.X("a") @ qml.Y(0), 0.3),
    "layers": lambda: qml.StronglyEntanglingLayers(np.arange(18).reshape(2, 3, 3) / 7, wires=["a", "b", 0]),
    "trotter": lambda: qml.ApproxTimeEvolution(qml.X("a") + 0.5 * qml.Z("b") @ qml.Z(0), 0.4, 3),
    "excitation": lambda: qml.SingleExcitation(0.3, ["a", 0]),
    "multi rz": lambda: qml.MultiRZ(0.3, ["a", "b", 0]),
    "pauli rotation": lambda: qml.PauliRot(0.3, "XYZ", [0, "b", "a"]),
    "phase": lambda: qml.ctrl(qml.GlobalPhase(0.4), control="a"),
    "select": lambda: qml.Select([qml.X(0), qml.RY(0.3, 0)], control=["a"]),
}


@pytest.mark.parametrize("name", PENNYLANE_GATES)
def test_gates_that_only_pennylane_has_keep_their_meaning(name: str) -> None:
    wires = ["b", "a", 0]

    @qml.qnode(qml.device("default.qubit", wires=wires))
    def circuit() -> Any:
        PENNYLANE_GATES[name]()
        for place, wire in enumerate(wires):
            qml.RY(0.3 + 0.2 * place, wire)
            qml.RX(0.2, wire)
        qml.CNOT([0, "b"])
        return qml.probs(wires=wires)

    check(circuit, circuit())


BRAKET_GATES: dict[str, Callable[[BraketCircuit], Any]] = {
    "gpi": lambda c: c.gpi(0, 0.3).gpi2(1, 0.4).ms(0, 2, 0.1, 0.2, 0.3).prx(1, 0.3, 0.4),
    "xy": lambda c: c.xy(2, 0, 0.3).pswap(0, 1, 0.4),
    "conditional phases": lambda c: c.cphaseshift00(0, 1, 0.3).cphaseshift01(1, 2, 0.4).cphaseshift10(0, 2, 0.5),
    "ecr": lambda c: c.ecr(0, 2).cv(1, 0).u(1, 0.1, 0.2, 0.3),
    "matrix": lambda c: c.unitary(matrix=cirq.testing.random_unitary(4, random_state=6), targets=[2, 0]),
    "control": lambda c: c.xy(0, 1, 0.3, control=[2]).ms(0, 1, 0.1, 0.2, 0.3, control=2).gpi2(0, 0.3, control=1),
    "control state": lambda c: c.u(0, 0.1, 0.2, 0.3, control=[1, 2], control_state="01").vi(1, control=0),
    "power": lambda c: c.v(0, power=0.3).s(1, power=-2).x(2, control=0, power=0.5),
    "controlled phase of everything": lambda c: c.gphase(0.3).gphase(0.4, control=[1, 2], control_state=[1, 0]),
    "controlled ecr": lambda c: c.ecr(0, 1, control=2, power=-0.5),
}


@pytest.mark.parametrize("name", BRAKET_GATES)
def test_gates_that_only_braket_has_keep_their_meaning(name: str) -> None:
    circuit = BraketCircuit()
    for q in range(3):
        circuit.ry(q, 0.4 + 0.3 * q)
    BRAKET_GATES[name](circuit)
    for q in range(3):
        circuit.rx(q, 0.3 + 0.2 * q).ry(q, 0.1)
    check(circuit, tables.braket_probabilities(circuit))


def test_gates_that_only_marqov_has_keep_their_meaning() -> None:
    circuit = MarqovCircuit().h(0).x(3).ry(0.4, 1).rx(0.1234567890123456, 2)
    for gate in (
        qf.ISwap(0, 1),
        qf.XY(0.3, 0, 1),
        qf.CPhase10(0.2, 1, 3),
        qf.PSwap(0.2, 1, 2),
        qf.S_H(1),
        qf.V_H(2),
        qf.CCNot(0, 1, 2),
        qf.YY(0.3, 2, 0),
    ):
        circuit._qf += gate
    check(circuit, np.abs(circuit.simulate().tensor.ravel()) ** 2)
    assert "0.1234567890123456" in found(circuit).openqasm3


def test_a_marqov_circuit_keeps_wires_that_no_gate_touches() -> None:
    assert tables.bit_probabilities(found(MarqovCircuit().x(2))) == {"": pytest.approx(1.0)}
    assert "qubit[3] q;" in found(MarqovCircuit().x(2)).openqasm3


# Measurements and observables


def test_cirq_keys_stand_in_order_of_first_measurement_with_the_qubits_of_each_measure_and_inverted_bits() -> None:
    circuit = cirq.Circuit(
        cirq.X(Q[0]),
        cirq.I(Q[1]),
        cirq.measure(Q[2], Q[0], key="z key"),
        cirq.Moment(),
        cirq.measure(Q[1], key="a", invert_mask=(True,)),
    )
    circuit = cirq.Circuit(cirq.Moment(op) for op in circuit.all_operations())
    answer = found(circuit)
    assert answer.register_names == ["z key", "a"]
    order = cirq.Simulator().run(circuit)
    bits = "".join(str(b) for key in ("z key", "a") for b in order.measurements[key][0])
    assert tables.bit_probabilities(answer) == {bits: pytest.approx(1.0)} == {"011": pytest.approx(1.0)}


def sampled(answer: AdaptedCircuit) -> set[str]:
    circuit = load(answer.openqasm3, 10, "test")
    counts = AerSimulator().run(circuit, shots=50, seed_simulator=1).result().get_counts()
    return {"".join(part[::-1] for part in reversed(key.split(" "))) for key in counts}


@pytest.mark.parametrize(
    ("condition", "value", "flipped"),
    [("a", 0, 0), ("a", 1, 1), ("a", 2, 1), (sympy.Eq(sympy.Symbol("a"), 2), 2, 1), (sympy.Eq(sympy.Symbol("a"), 2), 1, 0), (sympy.Ne(sympy.Symbol("a"), 2), 2, 0), (cirq.BitMaskKeyCondition("a", bitmask=2, target_value=2, equal_target=True), 2, 1), (cirq.BitMaskKeyCondition("a", bitmask=2, target_value=2, equal_target=True), 1, 0), (cirq.BitMaskKeyCondition("a", bitmask=1), 1, 1), (cirq.BitMaskKeyCondition("a", bitmask=1), 2, 0)],
)  # fmt: skip
def test_cirq_reads_the_first_measured_qubit_as_most_significant_in_a_control(
    condition: Any, value: int, flipped: int
) -> None:
    prepare = [cirq.X(q) for q, bit in zip(Q, f"{value:02b}", strict=False) if bit == "1"]
    circuit = cirq.Circuit(
        prepare,
        cirq.measure(Q[0], Q[1], key="a"),
        cirq.X(Q[2]).with_classical_controls(condition),
        cirq.measure(Q[2], key="b"),
    )
    assert cirq.Simulator().run(circuit).measurements["b"][0][0] == flipped
    assert sampled(found(circuit)) == {f"{value:02b}{flipped}"}


def test_a_reset_and_an_inverted_measurement_in_the_middle_keep_the_state() -> None:
    circuit = cirq.Circuit(
        cirq.X(Q[0]),
        cirq.measure(Q[0], key="a", invert_mask=(True,)),
        cirq.CX(Q[0], Q[1]),
        cirq.reset(Q[0]),
        cirq.measure(Q[0], Q[1], key="b"),
    )
    assert sampled(found(circuit)) == {"001"}


def test_pennylane_bits_stand_in_the_order_of_the_requested_wires() -> None:
    @qml.qnode(qml.device("default.qubit", wires=["b", "a", 0]))
    def circuit() -> Any:
        qml.X(0)
        qml.RY(0.7, "b")
        return qml.probs(wires=[0, "b"])

    chances = tables.bit_probabilities(found(circuit))
    assert [chances.get(f"{k:02b}", 0.0) for k in range(4)] == pytest.approx(list(circuit()), abs=1e-12)


def test_all_wires_are_in_the_order_of_the_device_or_else_of_the_tape() -> None:
    for device in (qml.device("default.qubit", wires=[0, 1, 2]), qml.device("default.qubit")):

        @qml.qnode(device)
        def circuit() -> Any:
            qml.X(2)
            qml.RY(0.7, 0)
            qml.RY(0.2, 1)
            return qml.probs()

        chances = tables.bit_probabilities(found(circuit))
        assert [chances.get(f"{k:03b}", 0.0) for k in range(8)] == pytest.approx(list(circuit()), abs=1e-12)


OBSERVABLES: dict[str, Callable[[], Any]] = {
    "z": lambda: qml.Z(1),
    "x @ y": lambda: qml.X(0) @ qml.Y(2),
    "sum": lambda: 0.5 * qml.X(0) - 2 * qml.X(0) @ qml.Z(1) + 3 * qml.Identity(0),
    "hamiltonian": lambda: qml.Hamiltonian([0.3, 0.7], [qml.Y(0), qml.Z(1) @ qml.Z(2)]),
    "hadamard": lambda: qml.Hadamard(1),
    "projector": lambda: qml.Projector([1, 0], wires=[2, 0]),
    "hermitian": lambda: qml.Hermitian(np.array([[1, 2 - 1j], [2 + 1j, -0.5]]), 1),
    "two-qubit hermitian": lambda: qml.Hermitian(
        (m := cirq.testing.random_unitary(4, random_state=7)) + m.conj().T, [2, 0]
    ),
    "hermitian @ pauli": lambda: qml.Hermitian(np.array([[1, 2], [2, -1]]), 1) @ qml.X(0),
}


@pytest.mark.parametrize("name", OBSERVABLES)
@pytest.mark.parametrize("kind", ["expval", "var"])
def test_expectation_values_and_variances_follow_from_the_counts(name: str, kind: str) -> None:
    @qml.qnode(qml.device("default.qubit", wires=3))
    def circuit() -> Any:
        for wire in range(3):
            qml.RX(0.4 + 0.5 * wire, wire)
            qml.RZ(0.7, wire)
        qml.CNOT([0, 1])
        qml.CNOT([2, 0])
        return getattr(qml, kind)(OBSERVABLES[name]())

    assert tables.expectation(found(circuit), 0) == pytest.approx(float(circuit()), abs=1e-9)


def test_counts_and_observables_in_one_basis_share_their_measurement() -> None:
    @qml.qnode(qml.device("default.qubit", wires=2))
    def circuit() -> Any:
        qml.RY(0.3, 0)
        qml.RX(0.4, 1)
        return qml.probs(wires=[1]), qml.expval(qml.Z(1)), qml.expval(qml.X(0) @ qml.Z(1)), qml.var(qml.X(0))

    answer, values = found(circuit), circuit()
    assert answer.register_names == ["probs", "observables"]
    assert [tables.expectation(answer, k) for k in range(3)] == pytest.approx([float(v) for v in values[1:]], abs=1e-9)


def test_pennylane_measurements_in_the_middle_are_deferred() -> None:
    @qml.qnode(qml.device("default.qubit"))
    def circuit() -> Any:
        qml.RY(0.7, 0)
        m = qml.measure(0, reset=True)
        qml.cond(m, qml.RX, qml.RY)(0.4, 1)
        return qml.probs(wires=[0, 1]), qml.expval(m), qml.probs(op=m), qml.var(3 - 2 * m)

    answer, (both, mean, middle, spread) = found(circuit), circuit()
    chances = tables.bit_probabilities(answer)
    for k in range(4):
        assert sum(c for bits, c in chances.items() if bits[:2] == f"{k:02b}") == pytest.approx(
            float(both[k]), abs=1e-9
        )
    assert tables.expectation(answer, 0) == pytest.approx(float(mean), abs=1e-9)
    assert tables.expectation(answer, 1) == pytest.approx(float(spread), abs=1e-9)
    assert sum(c for bits, c in chances.items() if bits[2] == "1") == pytest.approx(float(middle[1]), abs=1e-9)


def test_a_qnode_is_called_once_and_not_executed() -> None:
    calls = []

    @qml.qnode(qml.device("default.qubit", wires=1))
    def circuit(angle: float = 0.3) -> Any:
        calls.append(angle)
        qml.RX(angle, 0)
        return qml.counts()

    with qml.Tracker(circuit.device) as tracker:
        found(circuit)
    assert calls == [0.3]
    assert tracker.totals.get("executions", 0) == 0


def test_a_tape_is_a_circuit() -> None:
    tape = qml.tape.QuantumScript([qml.X("a"), qml.Identity("b")], [qml.counts(wires=["b", "a"])])
    assert tables.bit_probabilities(found(tape)) == {"01": pytest.approx(1.0)}


def test_braket_bits_stand_in_the_order_of_the_measure() -> None:
    circuit = BraketCircuit().x(0).i(1).i(2).measure([1, 0]).measure(2)
    expected = LocalSimulator().run(circuit, shots=5).result().measurement_counts
    assert set(tables.bit_probabilities(found(circuit))) == set(expected) == {"010"}


def test_braket_qubits_with_gaps_are_counted_as_braket_does() -> None:
    circuit = BraketCircuit().i(1).x(3)
    expected = LocalSimulator().run(circuit, shots=5).result().measurement_counts
    assert set(tables.bit_probabilities(found(circuit))) == set(expected) == {"01"}


def test_braket_expectation_values_follow_from_the_counts() -> None:
    circuit = BraketCircuit().rx(0, 0.3).ry(1, 0.4).cnot(0, 1).rz(1, 0.7).h(2)
    circuit.expectation(Observable.Y() @ Observable.H(), target=[0, 1]).variance(Observable.Z(), target=2)
    circuit.expectation(Observable.Y(), target=0)
    answer, values = found(circuit), LocalSimulator().run(circuit, shots=0).result().values
    assert [tables.expectation(answer, k) for k in range(3)] == pytest.approx([float(v) for v in values], abs=1e-9)


@pytest.mark.parametrize("letter", ["X", "Y", "Z"])
def test_bits_of_a_pauli_observable_are_measured_in_its_basis(letter: str) -> None:
    @qml.qnode(qml.device("default.qubit", wires=2))
    def circuit() -> Any:
        qml.RX(0.4, 0)
        qml.RY(0.7, 0)
        return qml.probs(op=getattr(qml, letter)(0))

    chances = tables.bit_probabilities(found(circuit))
    assert [chances["0"], chances["1"]] == pytest.approx(list(circuit()), abs=1e-9)


def test_a_register_of_every_framework_has_the_bits_of_one_measurement() -> None:
    @qml.qnode(qml.device("default.qubit", wires=3))
    def node() -> Any:
        qml.PauliX(2)
        return qml.counts(wires=[2, 0])

    circuits = [
        cirq.Circuit(cirq.X(Q[2]), cirq.measure(Q[2], Q[0], key="m")),
        node,
        BraketCircuit().x(2).i(0).i(1).measure([2, 0]),
    ]
    for circuit in circuits:
        answer = found(circuit)
        assert sampled(answer) == {"10"}
        [register] = measured_layout(load(answer.openqasm3, 4, "the test")).registers
        assert register["size"] == 2
