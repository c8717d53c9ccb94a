"""The counts of circuits: bit order, registers, measurement, seeds. Every circuit here has known answers."""

from __future__ import annotations

from typing import Any

import pytest
from qiskit import QuantumCircuit, qasm3

from qjs_executor.child.refusals import JobError

from ..support.direct import QELIB, QISKIT, STD, answer, counts


@pytest.mark.parametrize(
    ("framework", "code"),
    [
        ("openqasm", QELIB + "qreg q[3]; creg c[3]; x q[0]; measure q -> c;"),
        ("openqasm", STD + "qubit[3] q; bit[3] c; x q[0]; c = measure q;"),
        ("openqasm", STD + "x $0; bit[3] c; c[0] = measure $0; c[1] = measure $1; c[2] = measure $2;"),
        ("qiskit", QISKIT + "circuit = QuantumCircuit(3, 3)\ncircuit.x(0)\ncircuit.measure(range(3), range(3))"),
        ("qiskit", "circuit = 'OPENQASM 2.0; include \"qelib1.inc\"; qreg q[3]; x q[0];'"),
    ],
)
def test_x_on_qubit_0_of_3_gives_100_in_every_language(framework: str, code: str) -> None:
    assert counts(framework, code) == {"100": 100}


@pytest.mark.parametrize("form", ["qasm2", "qasm3"])
def test_a_circuit_given_as_payload_gives_the_same(form: str) -> None:
    text = (QELIB + "qreg q[3]; x q[0];") if form == "qasm2" else (STD + "qubit[3] q; x q[0];")
    assert counts("", "", source={"kind": "circuit", "format": form, "payload": text}) == {"100": 100}


BARE = 'include "stdgates.inc"; qubit[3] q; x q[0];'
STRING = f"text = '{BARE}'\n"


def test_openqasm_3_needs_no_version_line() -> None:
    assert counts("openqasm", BARE) == {"100": 100}
    payload = {"kind": "circuit", "format": "qasm3", "payload": "// a comment\n" + BARE}
    assert counts("", "", source=payload) == {"100": 100}
    with pytest.raises(JobError, match=r"has to begin with 'OPENQASM 2.0;'"):
        answer("", "", source={**payload, "format": "qasm2"})


@pytest.mark.parametrize(
    "use", ["circuit = text", "other = 3", "def main(): return text", "device.run(text)", "device.run(text + 'id q;')"]
)
def test_a_string_in_a_program_needs_no_version_line_either(use: str) -> None:
    assert counts("qiskit", STRING + use) == {"100": 100}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("mine = QuantumCircuit(2)\npart = 'qubit q; '", "00"),
        ("part = 'qubit[1] q; '\nwhole = 'OPENQASM 3.0; ' + part", "0"),
        ("note = 'Declare it first: qubit q;'\nmine = QuantumCircuit(2)\n", "00"),
    ],
)
def test_a_string_that_may_be_a_part_is_not_preferred_to_a_circuit(code: str, expected: str) -> None:
    given = answer("qiskit", QISKIT + code)
    assert (given["counts"], given["warnings"]) == ({expected: 100}, [])


@pytest.mark.parametrize(
    ("framework", "code"),
    [
        (
            "openqasm",
            QELIB + "qreg q[3]; creg a[1]; creg b[2]; x q[1]; measure q[0]->a[0]; measure q[1]->b[0];"
            " measure q[2]->b[1];",
        ),
        ("openqasm", STD + "qubit[3] q; bit[1] a; bit[2] b; x q[1]; b = measure q[1:2]; a[0] = measure q[0];"),
        ("openqasm", STD + "qubit[3] q; bit a; bit[2] b; x q[1]; b = measure q[1:2]; a = measure q[0];"),
        (
            "qiskit",
            QISKIT + "circuit = QuantumCircuit(QuantumRegister(3), ClassicalRegister(1, 'a'),"
            " ClassicalRegister(2, 'b'))\ncircuit.x(1)\ncircuit.measure(range(3), range(3))",
        ),
    ],
)
def test_two_registers_join_in_declaration_order(framework: str, code: str) -> None:
    given = answer(framework, code)
    assert given["counts"] == {"010": 100}
    assert given["registers"] == [
        {"name": "a", "size": 1, "qubits": [0]},
        {"name": "b", "size": 2, "qubits": [1, 2]},
    ]


def test_a_bell_pair_gives_only_00_and_11() -> None:
    given = counts("openqasm", STD + "qubit[2] q; h q[0]; cx q[0], q[1];", shots=2000)
    assert set(given) == {"00", "11"}
    assert 800 < given["00"] < 1200


@pytest.mark.parametrize("shots", [1, 1000, 100_000])
def test_counts_add_up_to_the_shots(shots: int) -> None:
    assert sum(counts("openqasm", STD + "qubit[5] q; h q;", shots=shots).values()) == shots


def test_a_circuit_without_measurement_is_measured_as_a_whole() -> None:
    given = answer("qiskit", QISKIT + "qc = QuantumCircuit(2, 5)\nqc.x(0)")
    assert given["counts"] == {"10": 100}
    assert given["registers"] == [{"name": "meas", "size": 2, "qubits": [0, 1]}]


PARTLY = {
    "OpenQASM 2": ("openqasm", QELIB + "qreg q[2]; creg a[2]; creg c[4]; creg d[1]; x q[1]; measure q[1]->c[3]; measure q[0]->c[1]; measure q[1]->d[0];"),
    "OpenQASM 3": ("openqasm", STD + "qubit[2] q; bit[2] a; bit[4] c; bit d; x q[1]; c[3] = measure q[1]; c[1] = measure q[0]; d = measure q[1];"),
    "a condition": ("openqasm", STD + "qubit[2] q; bit[2] a; bit[4] c; bit d; x q[1]; d = measure q[1]; if (d) { c[3] = measure q[1]; }"),
    "qiskit": ("qiskit", QISKIT + "circuit = QuantumCircuit(QuantumRegister(2), ClassicalRegister(2, 'a'), ClassicalRegister(4, 'c'), ClassicalRegister(1, 'd'))\n"
               "circuit.x(1)\ncircuit.measure([1, 0, 1], [5, 3, 6])"),
}  # fmt: skip
"""Programs that measure 1 into the last bit of `c` and into `d`, and nothing into `a` or into c[0] and c[2]."""
NOISE = {"gate_errors": {"all_2q": 0.1}}


@pytest.mark.parametrize("name", PARTLY)
@pytest.mark.parametrize(
    ("engine", "noise"),
    [("statevector", None), ("density_matrix", None), ("density_matrix", NOISE), ("mps", None), ("noisy", None), ("noisy", NOISE)],
)  # fmt: skip
def test_a_register_that_a_measurement_writes_is_counted_with_all_its_bits(name: str, engine: str, noise: Any) -> None:
    given = answer(*PARTLY[name], engine=engine, noise_model=noise)
    assert given["counts"] == {"00011": 100}
    sizes = [(register["name"], register["size"], register.get("qubits")) for register in given["registers"]]
    assert sizes == [("c", 4, None), ("d", 1, [1])]


def test_bits_of_no_register_are_counted_where_they_are_measured() -> None:
    code = "from qiskit.circuit import Clbit\ncircuit = QuantumCircuit([Qubit()], [Clbit(), Clbit(), Clbit()])\ncircuit.x(0)\n"
    given = answer("qiskit", "from qiskit.circuit import Qubit\n" + QISKIT + code + "circuit.measure(0, 1)")
    assert given["counts"] == {"1": 100}


def test_a_register_that_shares_a_measured_bit_is_counted_with_its_own_bits() -> None:
    code = (
        "circuit = QuantumCircuit(QuantumRegister(1), ClassicalRegister(2, 'a'))\n"
        "circuit.add_bits([Clbit()])\ncircuit.add_register(ClassicalRegister(name='b', bits=circuit.clbits[1:]))\n"
        "circuit.x(0)\ncircuit.measure(0, 1)"
    )
    given = answer("qiskit", "from qiskit.circuit import Clbit\n" + QISKIT + code)
    assert given["counts"] == {"010": 100}
    assert given["registers"] == [{"name": "a", "size": 2}, {"name": "b", "size": 1}]


def test_registers_wider_than_counts_can_show_are_refused() -> None:
    with pytest.raises(JobError, match="have 300 classical bits, at most 256"):
        answer("openqasm", STD + "qubit q; bit[300] c; c[7] = measure q;")


@pytest.mark.parametrize(
    ("framework", "code", "expected"),
    [
        ("openqasm", STD + "qubit q; bit[2] c; x q; c[0] = measure q; x q; c[1] = measure q;", "10"),
        ("openqasm", STD + "qubit[2] q; bit[2] c; x q[0]; c[0] = measure q[0]; reset q[0]; c[1] = measure q[0];", "10"),
        ("openqasm", STD + "qubit[2] q; bit[2] c; x q[0]; c = measure q; if (c == 1) x q[1]; c[1] = measure q[1];", "11"),
        ("openqasm", STD + "qubit[2] q; bit[2] c; c = measure q; if (c[0]) x q[1]; else x q[0]; c = measure q;", "10"),
        ("openqasm", STD + "qubit q; bit c; x q; c = measure q; while (c) { x q; c = measure q; }", "0"),
        ("openqasm", QELIB + "qreg q[1]; creg c[2]; x q[0]; measure q[0]->c[1]; if(c==2) x q[0];"
         " measure q[0]->c[0];", "01"),
        ("qiskit", QISKIT + "circuit = QuantumCircuit(1, 1)\nwith circuit.for_loop(range(3)):\n    circuit.x(0)\n"
         "circuit.measure(0, 0)", "1"),
    ],
)  # fmt: skip
def test_measurement_mid_circuit_and_classical_control_are_faithful(framework: str, code: str, expected: str) -> None:
    assert counts(framework, code) == {expected: 100}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        # The importer binds parameters by the alphabet; the language binds them by position.
        (STD + "qubit[2] q; gate foo(b, a) p, r { rx(b) p; ry(a) r; } foo(pi, 0) q[0], q[1];", "10"),
        (STD + "qubit[2] q; gate foo(b, a) p { rx(b) p; } foo(pi, 0) q[0];", "10"),
        # A custom gate keeps its own meaning under a standard gate's name.
        ("OPENQASM 3.0; gate h a { U(pi, 0, pi) a; } qubit[2] q; h q[0];", "10"),
        ("OPENQASM 2.0; gate h a { U(pi,0,pi) a; } gate foo a { h a; } qreg q[2]; foo q[1];", "01"),
        (QELIB + "gate rzz(theta) a, b { x a; } qreg q[2]; rzz(0.3) q[0], q[1];", "10"),
        ("OPENQASM 3.0; gate x a { U(pi, 0, pi) a; } gate s a { x a; } gate cs a, b { s b; } qubit[2] q;"
         " cs q[0], q[1];", "01"),
        # Ranges of the language include their end; loop variables are constants.
        (STD + "qubit[4] q; for int i in [0:2] { x q[i]; }", "1110"),
        (STD + "qubit[4] q; for int i in [3:-2:0] { x q[i]; }", "0101"),
        (STD + "qubit[4] q; for int i in {0, 2} { x q[i]; }", "1010"),
        (STD + "const int n = 3; qubit[n] q; x q[n - 1];", "001"),
        (STD + "qubit[3] q; x q[-1];", "001"),
        (STD + "qubit[3] q; let a = q[{2, 0}]; x a[0];", "001"),
        (STD + "qubit[3] q; x q[0]; negctrl @ ctrl @ x q[2], q[0], q[1];", "110"),
        (STD + "qubit[2] q; pow(2) @ inv @ sx q[0]; x q[1];", "11"),
        (STD + "qubit q; h q; ctrl @ gphase(pi) q; h q;", "1"),
        # Gates that qiskit's exporter writes beyond qelib1.inc.
        (QELIB + "qreg q[1]; sx q[0]; sx q[0]; p(0.1) q[0];", "1"),
        # Files of some editors begin with a mark of their encoding.
        ("\ufeff" + STD + "qubit q; x q;", "1"),
        ("\ufeff" + QELIB + "qreg q[1]; x q[0];", "1"),
    ],
)  # fmt: skip
def test_openqasm_follows_the_language(code: str, expected: str) -> None:
    assert counts("openqasm", code) == {expected: 100}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("g = QuantumCircuit(1, name='h')\ng.x(0)\ncircuit = QuantumCircuit(2)\ncircuit.append(g.to_gate(), [0])", "10"),
        ("g = QuantumCircuit(1, 1, name='measure')\ng.x(0)\ng.measure(0, 0)\ncircuit = QuantumCircuit(2, 2)\n"
         "circuit.append(g.to_instruction(), [1], [0])", "10"),
        ("circuit = QuantumCircuit(2)\ncircuit.initialize([0, 1, 0, 0])", "10"),
        ("circuit = QuantumCircuit(1, 2)\ncircuit.x(0)\ncircuit.measure(0, 0)\n"
         "circuit.store(circuit.clbits[1], circuit.clbits[0])", "11"),
        ("circuit = QuantumCircuit(QuantumRegister(2), ClassicalRegister(2, 'a'))\n"
         "circuit.add_register(ClassicalRegister(name='b', bits=[circuit.clbits[1]]))\ncircuit.x(0)\n"
         "circuit.measure([0, 1], [0, 1])", "10"),
    ],
)  # fmt: skip
def test_qiskit_circuits_keep_their_meaning(code: str, expected: str) -> None:
    assert counts("qiskit", QISKIT + code) == {expected: 100}


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_every_optimization_level_gives_the_same_answer(level: int) -> None:
    code = STD + "qubit[4] q; x q[0]; swap q[0], q[3]; h q[1]; h q[1]; cx q[3], q[2];"
    assert counts("openqasm", code, optimization_level=level) == {"0011": 100}


def test_a_seed_repeats_the_counts_and_its_absence_does_not() -> None:
    code = STD + "qubit[10] q; h q;"
    assert counts("openqasm", code, seed=7) == counts("openqasm", code, seed=7)
    assert counts("openqasm", code, seed=7) != counts("openqasm", code, seed=8)
    assert counts("openqasm", code) != counts("openqasm", code)


@pytest.mark.parametrize("seed", [0, 2**63 - 1])
def test_the_smallest_and_the_largest_seed_work(seed: int) -> None:
    assert counts("openqasm", STD + "qubit q; x q;", seed=seed) == {"1": 100}


def test_circuit_facts_describe_the_circuit_that_was_run() -> None:
    given = answer("openqasm", STD + "qubit[2] q; bit[2] c; h q[0]; cx q[0], q[1]; c = measure q;")
    info = given["circuit_info"]
    assert info["gate_counts"] == {"h": 1, "cx": 1, "measure": 2}
    assert (info["num_qubits"], info["num_clbits"], info["depth"], info["size"]) == (2, 2, 3, 4)
    assert (info["two_qubit_gates"], info["num_measurements"]) == (1, 2)
    assert info["has_mid_circuit_measurement"] is False
    assert "H" in info["diagram"]


def test_the_digest_is_of_the_canonical_text_and_the_same_for_the_same_circuit() -> None:
    code = STD + "qubit[2] q; bit[2] c; h q[0]; c = measure q;"
    spaced = STD + "\n\n// a comment\nqubit[2]   q;\nbit[2] c;\nh q[0];\nc = measure q;\n"
    digests = {answer("openqasm", text)["circuit_sha256"] for text in (code, spaced)}
    assert len(digests) == 1
    assert answer("openqasm", STD + "qubit[2] q; bit[2] c; x q[0]; c = measure q;")["circuit_sha256"] not in digests


def test_what_qiskit_exports_comes_back_the_same() -> None:
    circuit = QuantumCircuit(3, 3)
    circuit.x(0)
    circuit.rzz(0.3, 0, 1)
    circuit.ccx(0, 1, 2)
    circuit.cu(0.1, 0.2, 0.3, 0.4, 0, 2)
    circuit.measure(range(3), range(3))
    assert sum(count for key, count in counts("openqasm", qasm3.dumps(circuit)).items() if key[0] == "1") == 100


@pytest.mark.parametrize(
    ("code", "expected", "warned"),
    [
        ("qc = QuantumCircuit(1)\ncircuit = QuantumCircuit(2)", "00", False),
        ("other = QuantumCircuit(1)\nqc = QuantumCircuit(2)", "00", False),
        ("only = QuantumCircuit(2)\nsame = only\ncount = 3", "00", False),
        ("a = QuantumCircuit(1)\nb = QuantumCircuit(2)\na = QuantumCircuit(3)", "000", True),
        ("def circuit():\n    pass\nbell = QuantumCircuit(2)", "00", False),
        ("import sys\nqc = QuantumCircuit(2)\nsys.exit(0)", "00", False),
        ("device = QuantumCircuit(2)\nx = device", "00", False),
        ("if __name__ == '__main__':\n    circuit = QuantumCircuit(params['n'])", "00", False),
    ],
)
def test_the_circuit_of_a_module_is_found_by_name_or_else_is_the_last(code: str, expected: str, warned: bool) -> None:
    given = answer("qiskit", QISKIT + code, params={"shots": 100, "backend": "aer-statevector", "n": 2})
    assert given["counts"] == {expected: 100}
    assert bool(given["warnings"]) is warned
    assert not warned or "'a'" in given["warnings"][0]
