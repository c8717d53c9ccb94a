"""The proof of routed circuits accepts what a router does and rejects every mistake; wide circuits stay cheap."""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from qiskit import QuantumCircuit, transpile
from qiskit.circuit.library import XXPlusYYGate
from qiskit.transpiler import CouplingMap

from qjs_executor.child.refusals import Unsupported
from qjs_executor.child.targets.proof import Statement, matrix_of
from qjs_executor.child.targets.routing_proof import routed_does
from qjs_executor.child.targets.whole_proof import whole_does

from ...support.direct import STD
from ...support.lanes import examples, long
from ...support.targets_machine import TARGETS, compiled

QUBITS = 5
LINE = CouplingMap.from_line(7)


def found_in(circuit: QuantumCircuit) -> list[Statement]:
    places = {bit: index for index, bit in enumerate([*circuit.qubits])}
    cells = {bit: index for index, bit in enumerate(circuit.clbits)}
    found = []
    for item in circuit.data:
        qubits = tuple(places[bit] for bit in item.qubits)
        if item.operation.name in ("measure", "reset", "barrier"):
            cell = cells[item.clbits[0]] if item.clbits else None
            found.append(Statement(item.operation.name, qubits, cell=cell))
        else:
            found.append(Statement("gate", qubits, matrix_of(item.operation)))
    return found


def random_circuit(seed: int, size: int, on_the_way: bool) -> QuantumCircuit:
    dice = random.Random(seed)
    circuit = QuantumCircuit(QUBITS, QUBITS)
    for _ in range(size):
        a, b = dice.sample(range(QUBITS), 2)
        kind = dice.random()
        if kind < 0.35:
            dice.choice([circuit.h, circuit.t, circuit.sx, circuit.x])(a)
        elif kind < 0.5:
            dice.choice([circuit.rz, circuit.rx, circuit.ry])(dice.uniform(-3, 3), a)
        elif kind < 0.85:
            dice.choice([circuit.cx, circuit.cz, circuit.swap, circuit.iswap, circuit.ecr])(a, b)
        elif kind < 0.95 or not on_the_way:
            dice.choice([circuit.rzz, circuit.cp, circuit.crx])(dice.uniform(-3, 3), a, b)
        elif kind < 0.975:
            circuit.reset(a)
        else:
            circuit.measure(a, b)
    circuit.measure(range(QUBITS), dice.sample(range(QUBITS), QUBITS))
    return circuit


def routed(circuit: QuantumCircuit, level: int, seed: int) -> tuple[list[Statement], dict[int, int]]:
    result = transpile(
        circuit, basis_gates=["rz", "sx", "x", "cz"], coupling_map=LINE, optimization_level=level, seed_transpiler=seed
    )
    return found_in(result), dict(enumerate(result.layout.initial_index_layout(filter_ancillas=True)))


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**6), size=st.integers(1, 40), level=st.integers(0, 1), on_the_way=st.booleans())
def test_the_proof_accepts_what_the_router_makes(seed: int, size: int, level: int, on_the_way: bool) -> None:
    circuit = random_circuit(seed, size, on_the_way)
    program, layout = routed(circuit, level, seed)
    assert routed_does(found_in(circuit), program, layout)


def _mistaken(program: list[Statement], dice: random.Random) -> list[Statement]:
    place = dice.randrange(len(program))
    item = program[place]
    if item.kind == "measure":
        other = dice.randrange(QUBITS)
        return [*program[:place], replace(item, cell=other), *program[place + 1 :]]
    assert item.matrix is not None
    kind = dice.randrange(3)
    if kind == 0:
        return program[:place] + program[place + 1 :]
    if kind == 1 and len(item.qubits) == 2:
        return (
            [*program[:place], replace(item, qubits=(item.qubits[0], (item.qubits[1] + 1) % 7)), *program[place + 1 :]]
            if item.qubits[0] != (item.qubits[1] + 1) % 7
            else program[:-1]
        )
    turned = np.diag([1, np.exp(1e-6j)])
    matrix = (np.kron(turned, np.eye(2)) if len(item.qubits) == 2 else turned) @ item.matrix
    return [*program[:place], replace(item, matrix=matrix), *program[place + 1 :]]


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**6), size=st.integers(5, 30), level=st.integers(0, 1))
def test_the_proof_rejects_a_mistake_anywhere(seed: int, size: int, level: int) -> None:
    circuit = random_circuit(seed, size, False)
    program, layout = routed(circuit, level, seed)
    wrong = _mistaken(program, random.Random(seed))
    if routed_does(found_in(circuit), wrong, layout):
        # Some mistakes change nothing, such as a phase before a measurement: the results have to be exactly the same.
        assert whole_does(found_in(circuit), wrong, [layout[qubit] for qubit in range(QUBITS)])


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**6), size=st.integers(5, 30))
def test_the_proof_distinguishes_mid_circuit_results(seed: int, size: int) -> None:
    circuit = random_circuit(seed, size, True)
    program, layout = routed(circuit, 1, seed)
    places = [place for place, item in enumerate(program) if item.kind == "measure"]
    dice = random.Random(seed)
    one, other = dice.choice(places), dice.choice(places)
    assume(program[one].cell != program[other].cell)
    wrong = list(program)
    wrong[one], wrong[other] = (
        replace(program[one], cell=program[other].cell),
        replace(program[other], cell=program[one].cell),
    )
    assert not routed_does(found_in(circuit), wrong, layout)


def test_the_proof_rejects_a_lost_reset_or_measurement() -> None:
    circuit = QuantumCircuit(2, 2)
    circuit.h(0)
    circuit.cx(0, 1)
    circuit.reset(0)
    circuit.measure([0, 1, 1], [0, 0, 1])
    found = found_in(circuit)
    layout = {0: 0, 1: 1}
    assert routed_does(found, found, layout)
    for place in range(len(found)):
        assert not routed_does(found, found[:place] + found[place + 1 :], layout)
    assert not routed_does(found, found, {0: 1, 1: 0})


@pytest.mark.parametrize("beta", [0.0, 0.7])
def test_the_proof_accepts_gates_that_are_half_a_swap(beta: float) -> None:
    circuit = QuantumCircuit(QUBITS, QUBITS)
    for pair in [(0, 4), (1, 3), (4, 0), (2, 0), (0, 4)]:
        circuit.append(XXPlusYYGate(0.8, beta), pair)
        circuit.append(XXPlusYYGate(np.pi, beta), pair[::-1])
    circuit.measure(range(QUBITS), range(QUBITS))
    program, layout = routed(circuit, 1, 3)
    assert routed_does(found_in(circuit), program, layout)


def wide(qubits: int, gates: int) -> str:
    dice = random.Random(5)
    lines = []
    for _ in range(gates):
        a, b = dice.sample(range(qubits), 2)
        lines.append(
            dice.choice([f"rx({dice.uniform(-3, 3)!r}) q[{a}];", f"cx q[{a}], q[{b}];", f"u3({dice.random()!r}, 0.2, 0.3) q[{a}];", f"h q[{a}];", f"cp({dice.random()!r}) q[{a}], q[{b}];"])
        )  # fmt: skip
    return f"{STD} qubit[{qubits}] q; bit[{qubits}] c;\n" + "\n".join(lines) + "\nc = measure q;"


def grid(columns: int, rows: int) -> list[list[int]]:
    across = [[row * columns + k, row * columns + k + 1] for row in range(rows) for k in range(columns - 1)]
    down = [[row * columns + k, (row + 1) * columns + k] for row in range(rows - 1) for k in range(columns)]
    return across + down


DEVICES: list[tuple[dict[str, Any], int]] = [
    ({"format": "braket", "num_qubits": 108}, 100),
    ({"format": "ionq", "num_qubits": 36}, 36),
    ({"format": "qasm2", "num_qubits": 98}, 98),
    ({"format": "quil", "num_qubits": 108}, 108),
    ({"format": "qir"}, 100),
    ({"format": "ibm", "num_qubits": 156, "basis_gates": ["rz", "sx", "x", "cz"], "coupling_map": grid(13, 12)}, 156),
]  # fmt: skip


@pytest.mark.parametrize(("target", "qubits"), [DEVICES[0], *(long(*device) for device in DEVICES[1:])])
def test_a_circuit_as_wide_as_the_device_is_compiled_in_seconds(target: dict[str, Any], qubits: int) -> None:
    source = wide(qubits, 1500)
    compiled(f"{STD} qubit[1] q; h q[0];", target)  # Loads the libraries.
    started = time.process_time()
    answer = compiled(source, target)
    # A few seconds of the processor; an exponential would never end.
    assert time.process_time() - started < 60
    assert len(answer["readout"]["bits"]) == qubits and answer["warnings"] == []


def test_a_wide_gate_is_decomposed() -> None:
    body = " ".join(f"cp({2.0**-k}) a{k}, a0; h a{k};" for k in range(1, 20))
    names = ", ".join(f"a{k}" for k in range(20))
    source = f"{STD} gate wide {names} {{ {body} }} qubit[20] q; wide {', '.join(f'q[{k}]' for k in range(20))}; ctrl(8) @ x q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7], q[8];"
    for name in ("braket", "ionq", "qasm2", "quil", "qir"):
        assert len(compiled(source, TARGETS[name])["readout"]["bits"]) == 20


@pytest.mark.parametrize("width", [2, long(8)])
def test_definitions_that_double_are_refused_quickly(width: int) -> None:
    names = ", ".join(f"a{k}" for k in range(width))
    gates = [f"gate g0 {names} {{ h a0; cx a0, a1; }}"] + [
        f"gate g{k} {names} {{ g{k - 1} {names}; g{k - 1} {names}; }}" for k in range(1, 19)
    ]
    source = STD + "\n".join(gates) + f"\nqubit[{width}] q;\ng18 {', '.join(f'q[{k}]' for k in range(width))};"
    for name in ("ionq", "qasm2"):
        with pytest.raises(Unsupported, match=r"g18 on qubits .* is written out in more than") as caught:
            compiled(source, TARGETS[name])
        assert caught.value.line == 22


def test_a_level_that_cannot_be_proved_is_lowered_with_a_warning() -> None:
    # The optimiser leaves out a rotation of 1e-7, which is small but not nothing.
    target = {**TARGETS["ibm cz 3"]}
    answer = compiled(f"{STD} qubit[1] q; rx(0.3) q[0]; rx(1e-7) q[0];", target)
    assert answer["warnings"] == [
        "optimization_level 3 changed the circuit in a way that could not be proved to keep what it does; level 1 was used"
    ]
