"""The canonical text: it reads back as the same circuit, however often, and writes every number exactly."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np
import pytest
from qiskit import QuantumCircuit
from qiskit.circuit import library
from qiskit.quantum_info import Operator, SparsePauliOp, random_clifford, random_unitary

from qjs_executor.child.circuits.canonical import canonical_text

from ..support.direct import STD, answer, counts, refusal
from ..support.lanes import one_of_each
from . import loaded
from .circuit import features
from .converters import check, equal_up_to_phase, read
from .tables.table import PROGRAMS, TABLE


@pytest.mark.parametrize("name", one_of_each(TABLE, lambda name: features(TABLE[name])))
def test_reading_and_writing_again_keeps_the_circuit(name: str) -> None:
    once = canonical_text(read(PROGRAMS[name, "openqasm3"]))
    twice = canonical_text(read(once))
    check(TABLE[name], twice)
    assert canonical_text(read(twice)) == twice


def _part(*gates: Any, name: str = "part", phase: float = 0.0) -> QuantumCircuit:
    part = QuantumCircuit(2, name=name, global_phase=phase)
    for gate, places in gates:
        part.append(gate, places)
    return part


H, X = library.HGate(), library.XGate()
# Each acts on qubits 2 and 0 (and 1) of three.
OPERATIONS: dict[str, tuple[Any, list[int]]] = {
    "phase of everything": (library.GlobalPhaseGate(0.3), []),
    "controlled phase of everything": (library.GlobalPhaseGate(0.3).control(1), [2]),
    "matrix": (library.UnitaryGate(random_unitary(4, seed=1)), [2, 0]),
    "controlled matrix": (library.UnitaryGate(random_unitary(2, seed=2)).control(1), [2, 0]),
    "controlled root": (X.power(0.5).control(1), [2, 0]),
    "root": (library.CXGate().power(0.3), [2, 0]),
    "lazy modifiers": (library.RYGate(0.7).control(2, annotated=True, ctrl_state=1), [2, 0, 1]),
    "lazy inverse": (library.SXGate().inverse(annotated=True), [2]),
    "clifford": (random_clifford(2, seed=3), [2, 0]),
    "pauli string": (library.PauliGate("XYZ"), [2, 0, 1]),
    "controlled pauli string": (library.PauliGate("XY").control(1), [2, 0, 1]),
    "evolution": (library.PauliEvolutionGate(SparsePauliOp(["XY", "ZZ"], [0.3, 0.4]), time=0.7), [2, 0]),
    "diagonal": (library.DiagonalGate([1, 1j, -1, 1]), [2, 0]),
    "uniformly controlled": (library.UCRYGate([0.1, 0.2, 0.3, 0.4]), [2, 0, 1]),
    "permutation": (library.PermutationGate([2, 0, 1]), [2, 0, 1]),
    "fourier": (library.QFTGate(3), [2, 0, 1]),
    "prepared state": (library.StatePreparation([0.6, 0, 0, 0.8j]), [2, 0]),
    "composite gate": (_part((H, [0]), (library.CRXGate(0.4), [1, 0]), phase=0.7).to_gate(), [2, 0]),
    "controlled composite gate": (_part((H, [0]), (X, [1]), phase=0.7).to_gate().control(1), [2, 0, 1]),
    "composite instruction": (_part((H, [0]), (library.CRXGate(0.4), [1, 0])).to_instruction(), [2, 0]),
    "name that is a gate's": (_part((H, [0]), (X, [1]), name="cx").to_gate(), [2, 0]),
    "name that is no identifier": (_part((H, [0]), (X, [1]), name="my gate!").to_gate(), [2, 0]),
    "open control": (library.RYGate(0.4).control(2, ctrl_state=2), [2, 0, 1]),
    "many controls": (library.MCXGate(2, ctrl_state=1), [2, 0, 1]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_of_qiskit_are_written_exactly(name: str) -> None:
    operation, places = OPERATIONS[name]
    circuit = QuantumCircuit(3)
    if name != "prepared state":
        circuit.h(range(3))
        circuit.rz(0.3, 0)
    circuit.append(operation, places)
    # Another one of the same name and another meaning.
    circuit.append(_part((library.YGate(), [0]), name=operation.name).to_gate(), [1, 0])
    text = canonical_text(circuit)
    back = read(text)
    if name == "prepared state":
        expected = np.asarray(Operator(circuit).reverse_qargs().data)[:, 0]
        assert equal_up_to_phase(loaded.unitary(back)[:, 0], expected), text
    else:
        assert equal_up_to_phase(loaded.unitary(back), np.asarray(Operator(circuit).reverse_qargs().data)), text


@pytest.mark.parametrize(
    "angle",
    [1e-10, -1e-10, 1e-15, math.pi / 3 + 1e-10, 3.14159265, 2 * math.pi / 7, math.pi * 1e6 / 3, 1e5 + 0.1, 5 / math.pi, 1 / math.pi + 2e-10],
)  # fmt: skip
def test_angles_next_to_a_fraction_of_pi_are_not_rounded_to_it(angle: float) -> None:
    circuit = QuantumCircuit(1)
    circuit.rx(angle, 0)
    circuit.append(_angle_gate(angle), [0])
    back = read(canonical_text(circuit))
    inner = back.data[1].operation.definition.data[0]
    assert float(back.data[0].operation.params[0]) == pytest.approx(angle, rel=1e-15, abs=0)
    assert float(inner.operation.params[0]) == pytest.approx(angle, rel=1e-15, abs=0)


def _angle_gate(angle: float) -> Any:
    part = QuantumCircuit(1, name="part")
    part.rz(angle, 0)
    return part.to_gate()


def test_every_number_is_written_with_all_its_digits() -> None:
    dice = random.Random(5)
    for scale in (1e-8, 1e-3, 1.0, 10.0, 1e6):
        circuit = QuantumCircuit(1)
        for _ in range(50):
            circuit.rx(dice.uniform(-scale, scale), 0)
        back = read(canonical_text(circuit))
        assert [float(i.operation.params[0]) for i in back.data] == [float(i.operation.params[0]) for i in circuit.data]


def test_fractions_of_pi_stay_readable() -> None:
    circuit = QuantumCircuit(1)
    circuit.rx(math.pi / 2, 0)
    circuit.rz(-3 * math.pi / 4, 0)
    assert "rx(pi/2) q[0];\nrz(-3*pi/4) q[0];" in canonical_text(circuit)


def test_phases_and_matrices_inside_blocks_are_written_too() -> None:
    circuit = QuantumCircuit(2, 2)
    circuit.h(0)
    circuit.measure(0, 0)
    with circuit.if_test((circuit.clbits[0], 1)) as otherwise:
        circuit.append(library.GlobalPhaseGate(0.3), [])
        circuit.append(X.power(0.5).control(1), [0, 1])
        circuit.append(X.power(0.5).control(1), [0, 1])
    with otherwise:
        circuit.append(_part((X, [0])).to_instruction(), [1, 0])
    circuit.measure(1, 1)
    assert loaded.probabilities(read(canonical_text(circuit))) == pytest.approx({"11": 0.5, "01": 0.5})


# What OpenQASM 3 modifiers did wrong


def test_a_fractional_power_under_control_runs() -> None:
    root = "ctrl @ pow(0.5) @ {} q[0], q[1];"
    code = STD + "qubit[2] q; x q[0];" + root.format("y") + 2 * root.format("x") + root.format("y")
    given = answer("openqasm", code)
    assert given["counts"] == {"11": 100}
    assert counts("openqasm", given["circuit"]) == {"11": 100}


@pytest.mark.parametrize(
    "statement",
    [
        "ctrl @ u3(1, 2, 3) q[0], q[1];",
        "negctrl @ u2(1, 2) q[0], q[1];",
        "pow(0.5) @ u3(1, 2, 3) q[0];",
        "pow(1.0/3) @ U(1, 2, 3) q[0];",
        "pow(-0.5) @ U(1, 2, 3) q[0];",
        "gate foo a { u2(1, 2) a; }\nctrl @ foo q[0], q[1];",
        "gate foo a, b { ctrl @ u3(1, 2, 3) a, b; }\nfoo q[0], q[1];",
    ],
)
def test_ambiguous_phases_are_refused_where_they_show(statement: str) -> None:
    error = refusal("openqasm", STD + "qubit[2] q;\n" + statement)
    assert "ctrl, negctrl or a fractional pow" in error.message
    assert error.code == "unsupported_operation"


@pytest.mark.parametrize(
    "statement", ["inv @ u3(1, 2, 3) q[0];", "pow(2) @ U(1, 2, 3) q[0];", "pow(-2) @ u2(1, 2) q[0];"]
)
def test_ambiguous_phases_that_do_not_show_are_accepted(statement: str) -> None:
    assert sum(counts("openqasm", STD + "qubit[2] q;\n" + statement).values()) == 100
