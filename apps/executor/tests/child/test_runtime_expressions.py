"""Conditions over classical bits: run as they are written, and what a conversion writes runs to the same counts."""

from __future__ import annotations

import pytest

from qjs_executor.child.refusals import JobError

from ..support.direct import QISKIT, STD, answer, counts, refusal

CONDITIONS = {
    "c[0] ^ c[1]": "a != b",
    "c[0] & c[2]": "bool(a & c)",
    "c[0] | c[1]": "bool(a | b)",
    "c[0] && c[2]": "bool(a and c)",
    "c[0] || c[1]": "bool(a or b)",
    "c[0] == c[1]": "a == b",
    "c[0] != c[1]": "a != b",
    "c[0] != 1": "a == 0",
    "!c[1]": "b == 0",
    "!(c[0] ^ c[1] ^ c[2])": "(a + b + c) % 2 == 0",
    "~c[0] & c[1]": "a == 0 and b == 1",
    "c[0] && !c[1] || c[2] == true": "bool((a and not b) or c)",
    "(c[0] ^ c[1]) == (c[1] & c[2])": "(a ^ b) == (b & c)",
    "(c[0] | c[1]) == 0": "a == b == 0",
    "c == 5": "(a, b, c) == (1, 0, 1)",
    # Numbers that a register of three bits cannot have: the simulator would compare their lowest bits.
    "c == 13": "False",
    "c == 8": "False",
    "c != 13": "True",
    "c < 13": "True",
    "c != 5": "(a, b, c) != (1, 0, 1)",
    "c < 6 && c[0]": "a + 2 * b + 4 * c < 6 and bool(a)",
    "c >= 3": "a + 2 * b + 4 * c >= 3",
    "(c & 3) == 1": "(a, b) == (1, 0)",
    "2 < (c | 1)": "bool(b or c)",
    "(c ^ 7) == 2": "(a, b, c) == (1, 0, 1)",
}
"""By condition: when it holds for the bits a, b and c of the register, in Python."""


def program(condition: str, a: int, b: int, c: int, keyword: str = "if") -> str:
    """Measures these bits into `c`, and 1 into `d` if the condition holds."""
    flips = "".join(f"x q[{qubit}]; " for qubit, bit in enumerate((a, b, c)) if bit)
    ends = "c = measure r; " if keyword == "while" else ""
    return (
        f"{STD}qubit[3] q; qubit[3] r; qubit last; bit[3] c; bit d; {flips}c = measure q;\n"
        f"{keyword} ({condition}) {{ x last; d = measure last; {ends}}}\nd = measure last;"
    )


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_holds_for_exactly_its_bits(condition: str) -> None:
    for value in range(8):
        bits = (value & 1, value >> 1 & 1, value >> 2)
        holds = bool(eval(CONDITIONS[condition], dict(zip("abc", bits, strict=True))))
        expected = f"{bits[0]}{bits[1]}{bits[2]}{int(holds)}"
        assert counts("openqasm", program(condition, *bits), shots=5) == {expected: 5}, bits


@pytest.mark.parametrize("engine", ["density_matrix", "mps", "noisy"])
def test_a_condition_holds_on_every_engine(engine: str) -> None:
    assert counts("openqasm", program("c[0] ^ c[1] && c != 5", 0, 1, 1), engine=engine) == {"0111": 100}


@pytest.mark.parametrize("number", [2, 3, 4])
def test_a_register_never_equals_a_number_that_it_cannot_have(number: int) -> None:
    code = f"qubit[2] q; bit[1] m; bit[1] r; if (m == {number}) {{ x q[0]; }} else {{ x q[1]; }}"
    loop = f"while (m == {number}) {{ x q[0]; m[0] = measure q[0]; }}"
    assert counts("openqasm", f"{STD}{code} {loop} m[0] = measure q[0]; r[0] = measure q[1];") == {"01": 100}
    condition = f"if (m=={number}) x q[0];"
    version_2 = (
        f'OPENQASM 2.0; include "qelib1.inc"; qreg q[1]; creg m[1]; creg r[1]; {condition} measure q[0] -> r[0];'
    )
    assert counts("openqasm", version_2) == {"0": 100}


def test_a_loop_runs_while_an_expression_holds() -> None:
    assert counts("openqasm", program("c[0] && c[1]", 1, 1, 0, "while"), shots=5) == {"0001": 5}


def converted(framework: str, code: str) -> str:
    """The OpenQASM 3 of a program."""
    text: str = answer(framework, code, kind="convert")["openqasm3"]
    return text


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_converted_condition_runs_to_the_same_counts(condition: str) -> None:
    source = program(condition, 1, 1, 0)
    assert counts("openqasm", converted("openqasm", source)) == counts("openqasm", source)


SWITCHES = {
    "a register": ("circuit.cregs[0]", "case(1)", "case(2, 3)"),
    "a bit": ("circuit.clbits[0]", "case(True)", "case(False)"),
}


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("value", range(4))
def test_a_converted_switch_runs_to_the_same_counts(name: str, value: int) -> None:
    target, first, second = SWITCHES[name]
    code = (
        f"from qiskit.circuit.classical import expr\n{QISKIT}circuit = QuantumCircuit(4, 3)\n"
        f"for k in range(2):\n  if {value} >> k & 1: circuit.x(k)\ncircuit.measure([0, 1], [0, 1])\n"
        f"with circuit.switch({target}) as case:\n  with {first}: circuit.x(2)\n  with {second}: circuit.x(3)\n"
        "circuit.measure([2], [2])\ncircuit.measure([3], [0])"
    )
    assert counts("openqasm", converted("qiskit", code)) == counts("qiskit", code)


def test_a_switch_of_the_language_needs_no_variable() -> None:
    code = (
        STD
        + "qubit[2] q; bit[2] c; x q[1]; c = measure q; switch (c) { case 2 { x q[0]; } default { x q[1]; } } c = measure q;"
    )
    assert counts("openqasm", code) == {"11": 100}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("if (c >> 1 == 1) x q[0];", "'>>' in a condition is not supported"),
        ("if (c[0] + c[1] == 1) x q[0];", "'+'"),
        ("if (c & 3) x q[0];", "has to be true or false"),
        ("if (c[0] && c) x q[0];", "'&&' takes bits and comparisons"),
        ("if (c[0] == c) x q[0];", "'==' takes two bits, or two registers or numbers"),
        ("if ((c & 9) == 1) x q[0];", "9 has more bits than the register"),
        ("if (c[0] < c[1]) x q[0];", "'<' compares registers and numbers"),
        ("if (!c && c[0]) x q[0];", "'!' takes a bit or a comparison"),
        ("int n;\nn = c;\nx q[0];\nswitch (n) { case 1 { x q[0]; } }", "'n' in switch has to be assigned in the statement before it"),
        ("int n;\nn = 3;", "declarations of type 'int'"),
        ("switch (c[0] ^ c[1]) { case 1 { x q[0]; } }", "switch takes a bit or a register"),
        ("if (float(c) == 1) x q[0];", "a cast in a condition is to 'bool' or 'uint[n]'"),
    ],
)  # fmt: skip
def test_a_condition_that_cannot_be_run_is_refused_by_name(code: str, message: str) -> None:
    assert message in refusal("openqasm", STD + "qubit[2] q; bit[2] c; c = measure q;\n" + code).message


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("circuit.delay(circuit.add_stretch('s'), 0)", "the stretch 's' cannot be converted"),
        ("circuit.add_var('n', expr.lift(3))", "the classical variable 'n' cannot be converted"),
        ("circuit.measure(0, 0)\nwith circuit.if_test(expr.equal(expr.shift_right(circuit.cregs[0], 1), 1)): circuit.x(0)",
         "cannot be converted to a program that runs here (OpenQASM 3: '>>' in a condition is not supported"),
        ("circuit.measure(0, 0)\ncircuit.store(circuit.clbits[1], circuit.clbits[0])", "an assignment to a classical variable"),
    ],
)  # fmt: skip
def test_a_conversion_refuses_what_could_not_be_run(code: str, message: str) -> None:
    head = f"from qiskit.circuit.classical import expr\n{QISKIT}circuit = QuantumCircuit(2, 2)\n"
    with pytest.raises(JobError) as caught:
        converted("qiskit", head + code)
    assert message in caught.value.message


def test_a_cast_that_a_conversion_writes_is_read() -> None:
    code = (
        f"from qiskit.circuit.classical import expr\n{QISKIT}circuit = QuantumCircuit(QuantumRegister(2), ClassicalRegister(2, 'a'),"
        " ClassicalRegister(1, 'd'))\ncircuit.x(0)\ncircuit.measure(0, 1)\n"
        "with circuit.if_test(expr.less(1, circuit.cregs[0])): circuit.x(1)\ncircuit.measure(1, 2)"
    )
    assert counts("openqasm", converted("qiskit", code)) == counts("qiskit", code) == {"011": 100}


def test_a_switch_over_an_expression_is_refused_by_name() -> None:
    code = (
        f"from qiskit.circuit.classical import expr\n{QISKIT}circuit = QuantumCircuit(1, 2)\ncircuit.measure(0, 0)\n"
        "with circuit.switch(expr.bit_and(circuit.cregs[0], 1)) as case:\n  with case(1): circuit.x(0)"
    )
    assert "a switch over an expression" in refusal("qiskit", code).message


def test_an_expression_that_the_simulator_does_not_evaluate_is_refused_by_name() -> None:
    code = (
        f"from qiskit.circuit.classical import expr\n{QISKIT}circuit = QuantumCircuit(2, 2)\ncircuit.measure(0, 0)\n"
        "with circuit.if_test(expr.equal(expr.shift_right(circuit.cregs[0], 1), 1)): circuit.x(0)"
    )
    error = refusal("qiskit", code)
    assert (error.code, "'shift_right' in a condition" in error.message) == ("unsupported_operation", True)
    assert answer("qiskit", code.replace("expr.shift_right(circuit.cregs[0], 1)", "circuit.cregs[0]"))["warnings"] == []
