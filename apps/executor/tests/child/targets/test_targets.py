"""Circuits compiled for every provider do what they did, by a machine that knows nothing of the compiler."""

from __future__ import annotations

from typing import Any

import pytest
from braket.devices import LocalSimulator
from braket.ir.openqasm import Program as BraketProgram
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ...support.direct import QELIB, STD
from ...support.lanes import examples
from ...support.targets_machine import TARGETS, X, agree, compiled, meant, outcome, run, text_of, turn
from ...support.targets_rows import ROWS, Row, scrambled, width

CLASSICAL = ("qasm2", "quil", "ibm cz 0", "ibm ecr")
"""Targets that know more than one measurement at the end."""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ROWS)
def test_a_circuit_keeps_its_probabilities_and_its_bit_order(name: str, target: str) -> None:
    row = scrambled(ROWS[name])
    order = list(reversed(range(width(row))))
    order = order[1:] + order[:1]
    assert agree(outcome(compiled(text_of(row, order), TARGETS[target])), meant(row, order))


@pytest.mark.parametrize("target", TARGETS)
def test_qubit_zero_stands_leftmost(target: str) -> None:
    answer = compiled(f"{STD} qubit[3] q; x q[0];", TARGETS[target])
    assert outcome(answer) == pytest.approx({"100": 1.0})
    assert answer["registers"] == [{"name": "meas", "size": 3, "qubits": [0, 1, 2]}]
    assert answer["qubits"] == 3 and answer["warnings"] == []
    assert answer["circuit_info"]["num_measurements"] == 3


@pytest.mark.parametrize("target", TARGETS)
def test_registers_follow_each_other_with_all_bits_of_those_that_are_measured(target: str) -> None:
    source = f"{STD} qubit[4] q; bit[2] never; bit[3] late; bit[2] b; x q[0]; x q[3]; b[0] = measure q[3]; late[2] = measure q[1]; late[0] = measure q[0];"
    answer = compiled(source, TARGETS[target])
    assert outcome(answer) == pytest.approx({"10010": 1.0})
    assert answer["registers"] == [{"name": "late", "size": 3}, {"name": "b", "size": 2}]


GATE_SOURCES = {
    "custom gates within custom gates": "gate one(b, a) x, y { rx(a) x; cry(b) y, x; } gate two(a) x, y, z { one(a, a/2) z, x; ccx x, y, z; ctrl @ one(0.3, a) z, x, y; } h q[0]; h q[1]; two(0.7) q[2], q[0], q[1];",
    "modifiers": "h q[0]; ry(0.4) q[1]; ctrl @ inv @ sx q[0], q[1]; pow(0.5) @ x q[2]; pow(-2) @ t q[0]; negctrl @ ctrl @ h q[1], q[0], q[2]; inv @ u3(0.1, 0.2, 0.3) q[1];",
    "a gate under many controls": "h q; ctrl(3) @ ry(0.7) q[0], q[1], q[2], q[3]; negctrl(2) @ p(0.4) q[3], q[1], q[2]; h q;",
    "phases under controls": "h q; gate mine a { gphase(0.3); x a; } ctrl @ mine q[0], q[1]; cu(0.1, 0.2, 0.3, 0.4) q[2], q[0]; h q;",
    "the built-in gate": "U(0.1, 0.2, 0.3) q[0]; U(1.1, -0.2, 3.3) q[2]; cx q[0], q[1];",
    "the oldest names": "u1(0.3) q[0]; u2(0.1, 0.2) q[0]; u3(0.4, 0.5, 0.6) q[1]; cphase(0.3) q[0], q[1]; phase(0.2) q[1]; CX q[1], q[2];",
    "aliases and broadcasts": "h q; let pair = q[1:2]; rz(0.3) pair; rx(0.4) q; cx q[0], pair[1];",
    "the same qubit order turned round": "h q[3]; ccx q[3], q[2], q[0]; cswap q[3], q[0], q[2]; cp(0.3) q[3], q[0]; ry(0.3) q[1]; cx q[3], q[1];",
}  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", GATE_SOURCES)
def test_every_gate_of_the_language_keeps_its_meaning(name: str, target: str) -> None:
    from qiskit.quantum_info import Statevector

    from qjs_executor.child.circuits.openqasm import load

    source = f"{STD} qubit[4] q; {GATE_SOURCES[name]}"
    state = Statevector(load(source, 10, "test")).reverse_qargs().probabilities()
    expected = {format(value, "04b"): float(chance) for value, chance in enumerate(state)}
    assert agree(outcome(compiled(source, TARGETS[target])), expected)


@pytest.mark.parametrize("target", TARGETS)
def test_loops_are_written_out(target: str) -> None:
    loops = "for int i in [0:2] { ry(i / 4.0) q[i]; cx q[i], q[i + 1]; } for int j in [0:4] { sx q[0]; }"
    row: Row = [op for i in range(3) for op in (("ry", i / 4, i), ("cx", i, i + 1))] + [("sx", 0)] * 5
    assert agree(outcome(compiled(f"{STD} qubit[4] q; {loops}", TARGETS[target])), meant(row))


@pytest.mark.parametrize("target", TARGETS)
def test_angles_keep_all_their_digits(target: str) -> None:
    angles = [0.1234567890123456, 1e-7, -2.9876543210987654, 1234.5678, 5e-324]
    source = f"{STD} qubit[1] q; " + " ".join(f"rx({angle!r}) q[0];" for angle in angles)
    expected = run([("gate", turn(X, sum(angles)), [0]), ("measure", 0, 0)], 1)
    assert agree(outcome(compiled(source, TARGETS[target])), expected)


def test_the_text_names_an_angle_as_it_was_given() -> None:
    source = f"{STD} qubit[1] q; rz(0.1234567890123456) q[0]; rx(1e-12) q[0];"
    for name in ("braket", "ionq", "qasm2", "quil"):
        program = compiled(source, TARGETS[name])["program"]
        assert "0.1234567890123456" in program
        assert "1.0e-12" in program or "1e-12" in program


def test_openqasm_2_is_compiled_like_3() -> None:
    source = f"{QELIB} qreg a[2]; qreg b[1]; creg m[2]; gate g(t) x, y {{ rx(t) x; cx x, y; }} g(pi/3) b[0], a[1]; measure a -> m;"
    expected = {"000": 0.75, "010": 0.25}
    answers = {name: outcome(compiled(source, target)) for name, target in TARGETS.items()}
    assert all(agree(answer, {key[:2]: chance for key, chance in expected.items()}) for answer in answers.values())


DYNAMIC = {
    "measured twice": ("qubit[2] q; bit[3] c; x q[0]; c[2] = measure q[0]; x q[0]; c[0] = measure q[0]; c[1] = measure q[1];", {"001": 1.0}),
    "a bit used again": ("qubit[1] q; bit[1] c; h q[0]; c[0] = measure q[0]; reset q[0]; c[0] = measure q[0];", {"0": 1.0}),
    "reset": ("qubit[2] q; bit[2] c; h q[0]; cx q[0], q[1]; reset q[0]; c = measure q;", {"00": 0.5, "01": 0.5}),
    "a qubit used again": ("qubit[2] q; bit[2] c; ry(0.7) q[0]; c[1] = measure q[0]; reset q[0]; x q[0]; cx q[0], q[1]; c[0] = measure q[1];", {"10": 0.8824210936422443, "11": 0.1175789063577557}),
}  # fmt: skip


@pytest.mark.parametrize("target", CLASSICAL)
@pytest.mark.parametrize("name", DYNAMIC)
def test_mid_circuit_measurements_are_kept_where_the_target_has_them(name: str, target: str) -> None:
    source, expected = DYNAMIC[name]
    assert agree(outcome(compiled(f"{STD} {source}", TARGETS[target])), expected)


TELEPORT = (
    "qubit[3] q; {registers} bit[1] out; ry(0.7) q[0]; h q[1]; cx q[1], q[2]; cx q[0], q[1]; h q[0];"
    " {first} = measure q[0]; {second} = measure q[1]; {tests} out[0] = measure q[2];"
)
CONTROLLED = {
    "a bit of a register": (TELEPORT.format(registers="bit[2] m;", first="m[0]", second="m[1]", tests="if (m[1]) { x q[2]; } if (m[0]) { z q[2]; }"), 0.8824210936422443),
    "single bits": (TELEPORT.format(registers="bit a; bit b;", first="a", second="b", tests="if (b) x q[2]; if (a == true) z q[2];"), 0.8824210936422443),
    "a whole register": (TELEPORT.format(registers="bit[2] m;", first="m[0]", second="m[1]", tests="if (m == 2) { x q[2]; } if (m == 3) { x q[2]; z q[2]; }"), 0.8824210936422443),
    "else": (TELEPORT.format(registers="bit[2] m;", first="m[0]", second="m[1]", tests="if (!m[1]) { } else { x q[2]; }"), 0.8824210936422443),
    "several gates and a measurement": (TELEPORT.format(registers="bit[2] m;", first="m[0]", second="m[1]", tests="if (m[1]) { h q[2]; z q[2]; h q[2]; ch q[0], q[2]; ch q[0], q[2]; }"), 0.8824210936422443),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTROLLED)
def test_an_if_is_kept_in_openqasm_2_as_the_language_has_it(name: str) -> None:
    source, chance = CONTROLLED[name]
    answer = compiled(f"{STD} {source}", TARGETS["qasm2"])
    last = {"0": 0.0, "1": 0.0}
    for bits, probability in outcome(answer).items():
        last[bits[2]] += probability
    assert last == pytest.approx({"0": chance, "1": 1 - chance})
    assert [register["name"] for register in answer["registers"]][-1] == "out"


def test_register_names_that_openqasm_2_cannot_have_are_replaced() -> None:
    source = f"{STD} qubit[2] r; bit[1] q; bit[1] c; bit[1] sin; x r[1]; q[0] = measure r[0]; c[0] = measure r[1]; sin[0] = measure r[1];"
    answer = compiled(source, TARGETS["qasm2"])
    assert outcome(answer) == pytest.approx({"011": 1.0})
    assert [register["name"] for register in answer["registers"]] == ["q", "c", "sin"]
    assert [register["name"] for register in answer["readout"]["registers"]] == ["c", "c_1", "c_2"]


def test_braket_runs_the_program_and_answers_by_the_qubits_of_the_readout() -> None:
    source = f"{STD} qubit[4] q; bit[3] c; x q[3]; cx q[3], q[1]; sx q[2]; inv @ sx q[2]; c[0] = measure q[1]; c[1] = measure q[0]; c[2] = measure q[3];"
    answer = compiled(source, TARGETS["braket"])
    result = LocalSimulator().run(BraketProgram(source=answer["program"]), shots=20).result()
    columns = [list(result.measured_qubits).index(qubit) for qubit in answer["readout"]["bits"]]
    assert {"".join(str(row[column]) for column in columns) for row in result.measurements} == {"101"}


def test_only_the_gates_of_the_device_are_used() -> None:
    gates = ["rx", "ry", "rz", "cnot"]
    row = scrambled(ROWS["fourier"])
    answer = compiled(text_of(row), {"format": "braket", "gates": gates})
    used = {line.split("(")[0].split(" ")[0] for line in answer["program"].splitlines()[3:] if "measure" not in line}
    assert used <= set(gates)
    assert agree(outcome(answer), meant(row))


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_a_routed_program_keeps_to_the_device(level: int) -> None:
    pairs = {(0, 1), (2, 1), (2, 3), (3, 4)}
    target = {
        "format": "ibm",
        "num_qubits": 5,
        "basis_gates": ["rz", "sx", "x", "ecr"],
        "coupling_map": [list(p) for p in pairs],
        "optimization_level": level,
        "seed": 7,
    }
    answer = compiled(text_of(scrambled(ROWS["five qubits"])), target)
    used = set()
    for line in answer["program"].splitlines()[3:]:
        if "measure" not in line:
            name, places = (
                line.rstrip(";").split("(")[0].split(" ")[0],
                [int(q) for q in line.replace(";", "").replace(",", "").replace("$", "").split(" ") if q.isdigit()],
            )
            assert name in ("rz", "sx", "x", "ecr")
            used |= {tuple(places)} if len(places) == 2 else set()
    assert used and used <= pairs
    assert agree(outcome(answer), meant(scrambled(ROWS["five qubits"])))
    assert compiled(text_of(scrambled(ROWS["five qubits"])), target)["program"] == answer["program"]


@pytest.mark.parametrize("coupling_map", [None, []])
def test_a_device_with_no_pairs_or_all_pairs_is_supported(coupling_map: list[Any] | None) -> None:
    target = {"format": "ibm", "num_qubits": 8, "basis_gates": ["rz", "sx", "cz"], "coupling_map": coupling_map}
    row: Row = [("h", 0), ("ry", 0.3, 1)] if coupling_map == [] else scrambled(ROWS["fredkin"])
    answer = compiled(text_of(row), target)
    assert agree(outcome(answer), meant(row))
    assert "qubit" not in answer["program"]


GATE = st.one_of(
    st.tuples(st.sampled_from(["h", "x", "y", "z", "s", "sdg", "t", "tdg", "sx", "sxdg", "id"]), st.integers(0, 3)),
    st.tuples(st.sampled_from(["rx", "ry", "rz", "p"]), st.floats(-7, 7), st.integers(0, 3)),
    st.tuples(st.sampled_from(["cx", "cy", "cz", "swap", "iswap", "c0x"]), st.permutations(range(4))).map(lambda g: (g[0], *g[1][:2])),
    st.tuples(st.sampled_from(["cp", "crx", "crz", "rzz", "rxx", "ryy"]), st.floats(-7, 7), st.permutations(range(4))).map(lambda g: (g[0], g[1], *g[2][:2])),
    st.tuples(st.sampled_from(["ccx", "ccz", "cswap"]), st.permutations(range(4))).map(lambda g: (g[0], *g[1][:3])),
)  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(row=st.lists(GATE, min_size=1, max_size=12), order=st.permutations(range(4)))
def test_any_circuit_keeps_its_probabilities(target: str, row: list[Any], order: list[int]) -> None:
    whole: Row = scrambled([("h", 3), *row])
    assert agree(outcome(compiled(text_of(whole, list(order)), TARGETS[target])), meant(whole, list(order)))
