"""OpenQASM 3 where the importer reads something else than the language says: read as it says, or refused by name."""

from __future__ import annotations

import pytest

from ...support.direct import QELIB, QISKIT, STD, answer, counts, refusal

SLICES = {
    "x q[0:-1];": "1111",
    "x q[1:-2];": "0110",
    "x q[-3:-1];": "0111",
    "x q[:-2];": "1110",
    "x q[2:];": "0011",
    "x q[2:-1:0];": "1110",
    "x q[-1:-2:0];": "0101",
    "x q[3:-1:-3];": "0111",
    "x q[0:2:-1];": "1010",
    "x q[2:1];": "0000",
    "let a = q[1:-1]; x a[0:-2];": "0110",
    "for int i in [1:3] { x q[0:-i]; }": "1101",
    "bit[2] d; x q[3]; d[0:-1] = measure q[2:3]; if (d == 2) x q[0];": "1001",
    "bit[3] d; x q[3]; d[2] = measure q[3]; if (d[1:-1] == 2) x q[0];": "1001",
    "bit[3] d; x q[3]; d[0] = measure q[3]; if (d[2:-1:0] == 4) x q[0];": "1001",
}
"""By statements on four qubits: the bits that are then measured, qubit 0 leftmost."""


@pytest.mark.parametrize("statements", SLICES)
def test_a_slice_has_both_its_ends_and_counts_negative_indices_from_the_end(statements: str) -> None:
    found = counts("openqasm", f"{STD}qubit[4] q; {statements}\nbit[4] c; c = measure q;", shots=5)
    assert {key[-4:] for key in found} == {SLICES[statements]}


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("x q[0:4];", "the slice leaves a register of size 4"),
        ("x q[-5:1];", "the slice leaves a register of size 4"),
        ("x q[3:-1:-5];", "the slice leaves a register of size 4"),
        ("x q[:-1:0];", "a slice with a negative step needs both its ends"),
        ("x q[0:0:2];", "slice step cannot be zero"),
        ("ctrl @ gphase(0.3);", "gphase with 1 controls takes 1 qubits (got 0)"),
        ("negctrl @ ctrl(2) @ gphase(0.3);", "gphase with 3 controls takes 3 qubits (got 0)"),
        ("ctrl(0) @ x q[0];", "a gate needs at least one control (got 0)"),
        ("negctrl(-1) @ x q[0];", "a gate needs at least one control (got -1)"),
        ("ctrl(0) @ gphase(0.3);", "a gate needs at least one control (got 0)"),
        ("bit c; c += measure q[0];", "'+=' of a measurement is not supported"),
        ("bit[4] c; c ^= /* a comment */ measure q;", "'^=' of a measurement is not supported"),
        ("bit c; c <<=// to the end\nmeasure q[0];", "'<<=' of a measurement is not supported"),
        ("rx(1e400) q[0];", "an angle has to be finite (got inf)"),
        ("const float a = 1e300; rx(a*a - a*a) q[0];", "an angle has to be finite (got nan)"),
        ("gphase(-1e400);", "an angle has to be finite (got -inf)"),
        ("gate g(a) r { rx(a * 1e300) r; } g(1e300) q[0];", "attempted to bind infinite value to parameter"),
        (
            "bit[3] d; if (d[1:-1] == 2 && d[2]) x q[0];",
            "a condition on some bits of a register has to name them one by one",
        ),
    ],
)
def test_what_the_importer_would_drop_or_misread_is_refused_at_its_line(statement: str, message: str) -> None:
    found = refusal("openqasm", f"{STD}qubit[4] q;\n{statement}")
    assert found.message.removeprefix("OpenQASM 3: ") == message
    assert found.line == 3


@pytest.mark.parametrize("text", ["// c += measure q;", "/* c += measure q; */", "c = measure q; // += measure"])
def test_an_operator_in_a_comment_is_none(text: str) -> None:
    assert counts("openqasm", f"{STD}qubit q; bit c; x q;\n{text}\nc = measure q;", shots=5) == {"1": 5}


@pytest.mark.parametrize(
    ("framework", "code"),
    [
        ("openqasm", f"{QELIB}qreg q[1]; rx(1e400) q[0];"),
        ("qiskit", f"{QISKIT}qc = QuantumCircuit(1)\nqc.rx(float('nan'), 0)\nqc.measure_all()"),
        ("qiskit", f"{QISKIT}qc = QuantumCircuit(1)\nqc.rx(float('-inf'), 0)\nqc = qc.to_gate()\n"
                   "q = QuantumCircuit(1)\nq.append(qc, [0])\nq.measure_all()\nqc = q"),
    ],
)  # fmt: skip
def test_an_angle_that_is_not_finite_is_refused_in_every_framework(framework: str, code: str) -> None:
    assert "an angle of 'rx' is not finite" in refusal(framework, code).message


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        ("a[0] = measure q[1];", ("10", ["a"])),
        ("ab[3] = measure q[1];", ("01", ["b"])),
        ("ab[0] = measure q[1]; b[1] = measure q[1];", ("1001", ["a", "b"])),
    ],
)
def test_counts_show_a_bit_once_under_the_register_that_declares_it(
    measured: str, expected: tuple[str, list[str]]
) -> None:
    program = f"{STD}qubit[2] q; bit[2] a; bit[2] b; let ab = a ++ b; x q[1]; {measured}"
    found = answer("openqasm", program, shots=5)
    assert found["counts"] == {expected[0]: 5}
    assert [register["name"] for register in found["registers"]] == expected[1]
