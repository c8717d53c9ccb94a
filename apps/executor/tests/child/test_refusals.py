"""What cannot be run faithfully is refused by name, with the line where it is known."""

from __future__ import annotations

import pytest

from ..support.direct import QELIB, QISKIT, STD, refusal


def doubling(header: str, register: str, parameter: str = "") -> str:
    """Sixty gate definitions that stand for 2^60 operations."""
    lines = [f"gate g0{parameter} a {{ x a; x a; }}"]
    lines += [f"gate g{i}{parameter} a {{ g{i - 1}{parameter} a; g{i - 1}{parameter} a; }}" for i in range(1, 60)]
    return header + "\n".join([*lines, register, f"g59{parameter.replace('t', '1.0')} q[0];"])


@pytest.mark.parametrize(
    ("code", "message", "line"),
    [
        ('\n// OpenQASM 2\ninclude "qelib1.inc";\nqreg q[2];', "has to begin with 'OPENQASM 2.0;'", 3),
        ("OPENQASM three;\nqubit q;", "has to begin with", 1),
        ("qubit q;\n\nx q;", "gate 'x' is not defined", 3),
        ("qubit[2] q\n;h", "syntax error", 2),
        ("OPENQASM 4.0;", "version 4.0 is not known", 1),
        (STD + "qubit q;\nx q", "syntax error", 3),
        (STD + "qubit[2] q;\n\nfoo q[0];", "gate 'foo' is not defined", 4),
        (STD + "qubit[2] q;\nrx q[0];", "takes 1 parameters (got 0)", 3),
        (STD + "qubit[2] q; bit[2] c;\nc = measure q[0];", "1 qubits cannot be measured into 2 bits", 3),
        (STD + "qubit[2] q;\nrx(1/2) q[0];", "1/2 divides integers inexactly", 3),
        (STD + "input float theta;\nqubit q;\nrx(theta) q;", "unbound parameters: theta (operation 'rx' on qubit 0)", 2),
        (STD + "qubit[2] q;\nctrl @ U(pi, 0, pi) q[0], q[1];", "the phase of the built-in U", 3),
        (STD + "gate f a { U(pi, 0, pi) a; }\nqubit[2] q;\nctrl @ f q[0], q[1];", "'f' with ctrl", 4),
        (STD + "qubit q;\nbox { x q; }", "operation 'box' on qubit 0", 3),
        (STD + "qubit q;\ndef f() { }", "'def' (a subroutine", 3),
        (STD + "bit c;\nc = 1;", "an assignment to a classical variable", 3),
        (STD + "bit[2] c = \"01\";", "initialisation of classical bits", 2),
        (STD + "qubit[4] q; bit c;\nfor int i in [0:3] { x q[i]; if (c) break; }", "index has to be a constant", 3),
        (STD + "qubit[1000000000] q;", "circuit needs 1000000000 qubits, aer-statevector has 28", 2),
        (STD + "qubit q;\nbit[1000000000] c;", "1000000000 classical bits", 3),
        (STD + "const int n = 1000000000;\nqubit[n] q;", "circuit needs 1000000000 qubits", 3),
        (STD + "qubit[29] q;", "circuit needs 29 qubits, aer-statevector has 28", 2),
        (STD + "qubit q; for int i in [0:1000000000] { x q; }", "expands to more than", None),
        (STD + "qubit q; for int i in [0:1000000000] { rx(i * 0.1) q; }", "longer than 100000 statements", 2),
        (doubling(STD, "qubit[1] q;"), "expands to more than", 25),
        (doubling(STD, "qubit[1] q;", "(t)"), "expands to more than", None),
        (doubling(QELIB, "qreg q[1];"), "expands to more than", None),
        (STD + "qubit q; rx(" + "(" * 3000 + "1" + ")" * 3000 + ") q;", "nested too deeply", None),
        (STD, "the circuit has no qubits", None),
        ('OPENQASM 3.0;\ninclude "/etc/passwd";', "non-stdgates", 2),
        ('OPENQASM 2.0;\ninclude "/etc/passwd";', "unable to find", 2),
        (QELIB + "qreg q[1000000000];", "circuit needs 1000000000 qubits, aer-statevector has 28", 2),
        (QELIB + "qreg q[20];\nqreg r[20];", "circuit needs 40 qubits", 3),
        (QELIB + "qreg q[1];\nbar q[0];", "'bar' is not defined", 3),
        (QELIB + "opaque foo a;\nqreg q[1];\nfoo q[0];", "operation 'foo' on qubit 0 cannot be simulated", 2),
    ],
)  # fmt: skip
def test_an_openqasm_program_is_refused_with_its_reason_and_line(code: str, message: str, line: int | None) -> None:
    error = refusal("openqasm", code)
    assert message in error.message
    if line is not None:
        assert error.line == line


@pytest.mark.parametrize(
    ("code", "kind", "message", "line"),
    [
        ("x = 1", "execution_error", "No circuit found: assign your circuit to a variable named 'circuit'", None),
        ("x = (", "execution_error", "SyntaxError", 2),
        ("import json\n\n1 / 0", "execution_error", "ZeroDivisionError", 4),
        ("def f():\n    raise ValueError('inner')\n\nf()", "execution_error", "ValueError: inner", 3),
        ("import sys\nsys.exit(3)", "execution_error", "exited with 3", 3),
        ("import no_such_module", "execution_error", "No module named 'no_such_module'", 2),
        ("def f():\n    f()\nf()", "execution_error", "RecursionError", 3),
        ("circuit = QuantumCircuit(0)", "unsupported_operation", "no qubits", 2),
        ("circuit = QuantumCircuit(30)", "unsupported_operation", "circuit needs 30 qubits", 2),
        ("from qiskit.circuit import Parameter\ncircuit = QuantumCircuit(2)\ncircuit.rx(Parameter('t'), 1)",
         "unsupported_operation", "unbound parameters: t (operation 'rx' on qubit 1)", 3),
        ("from qiskit.circuit import Gate\ncircuit = QuantumCircuit(2)\ncircuit.append(Gate('foo', 1, []), [1])",
         "unsupported_operation", "operation 'foo' on qubit 1 cannot be simulated", 3),
        ("from qiskit.circuit import Gate\ncircuit = QuantumCircuit(2)\ncircuit.append(Gate('h', 1, []), [1])",
         "unsupported_operation", "'h' is not the standard one", 3),
        ("circuit = QuantumCircuit(1, 300)\nfor i in range(300):\n    circuit.measure(0, i)",
         "unsupported_operation", "300 classical bits", 2),
        ("circuit = QuantumCircuit(1)\nwith circuit.for_loop(range(10**9)):\n    circuit.x(0)",
         "unsupported_operation", "expands to more than", 2),
        ("circuit = QuantumCircuit(1, 1)\ncircuit.add_var('a', False)", "unsupported_operation", "variable 'a'", 2),
    ],
)  # fmt: skip
def test_python_source_is_refused_with_its_reason_and_the_users_own_line(
    code: str, kind: str, message: str, line: int | None
) -> None:
    error = refusal("qiskit", QISKIT + code)
    assert (error.code, error.line) == (kind, line)
    assert message in error.message


def test_a_payload_that_is_not_in_its_declared_format_is_refused() -> None:
    source = {"kind": "circuit", "format": "qasm2", "payload": STD + "qubit q;"}
    assert "declared as qasm2" in refusal("", "", source=source).message


def test_saved_simulator_data_is_named_as_ignored() -> None:
    from ..support.direct import answer

    given = answer("qiskit", QISKIT + "import qiskit_aer\ncircuit = QuantumCircuit(1)\ncircuit.save_statevector()")
    assert any("save_statevector is ignored" in warning for warning in given["warnings"])
