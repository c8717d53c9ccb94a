"""Which framework a program is detected as, by its text alone."""

from __future__ import annotations

import pytest

from qjs_executor.child.refusals import JobError
from qjs_executor.child.source.detection import LanguageNotDetected, detect


@pytest.mark.parametrize(
    ("code", "framework"),
    [
        ("// a comment\nOPENQASM 3.0; qubit q;", "openqasm"),
        ("\ufeffOPENQASM 2.0;", "openqasm"),
        ("qubit[2] q;\nU(0, 0, 0) q[0];", "openqasm"),
        ("// a comment\n\nbit[2] c; qubit [2] q;", "openqasm"),
        ('include "stdgates.inc";\nx $0;', "openqasm"),
        ("x $0;", "openqasm"),
        ("gate g(a) q { U(a, 0, 0) q; }\nqreg r[2];\ng(pi) r[0];", "openqasm"),
        ("qubit q;\nh q\nx q;", "openqasm"),
        ('import qiskit\ntext = """\nqubit q;\n"""', "qiskit"),
        ("from qiskit import QuantumCircuit", "qiskit"),
        ("from qiskit_aer import AerSimulator", "qiskit"),
        ("import qiskit.circuit as c", "qiskit"),
        ("import cirq\nimport numpy", "cirq"),
        ("import pennylane as qml", "pennylane"),
        ("from braket.circuits import Circuit", "marqov"),
        ("def f():\n    from marqov import Circuit", "marqov"),
        ("import cirq\nfrom qiskit import QuantumCircuit\nc = cirq.Circuit()", "cirq"),
        ("import cirq\nfrom qiskit import QuantumCircuit as QC\nc = QC(2)", "qiskit"),
        ("import cirq\nfrom qiskit import *\nc = QuantumCircuit(2)", "qiskit"),
        ("import qiskit\nimport pennylane as qml\n@qml.qnode(qml.device('default.qubit'))\ndef f(): pass", "pennylane"),
        ("import cirq\nimport braket.circuits\nc = braket.circuits.Circuit()", "marqov"),
        ("text = 'import cirq'\nimport qiskit", "qiskit"),
    ],
)
def test_the_framework_is_detected_by_header_imports_or_circuit_object(code: str, framework: str) -> None:
    assert detect(code) == framework


@pytest.mark.parametrize(
    "code",
    [
        "x = 1",
        "# import qiskit",
        "import cirq, qiskit",
        "import cirq, qiskit\na = cirq.Circuit()\nb = qiskit.QuantumCircuit(1)",
        "from .qiskit import QuantumCircuit",
        "Please entangle two qubits (Bell pair), and measure: both.",
        "Dear all,\nthe result = 3 shots;\nfor example: import the thing.",
        "h q[0];\ncx q[0], q[1];\nc = measure q;",
        'text = """\nqubit q;\n"""',
    ],
)
def test_undetectable_code_is_refused_with_the_supported_frameworks(code: str) -> None:
    with pytest.raises(LanguageNotDetected) as caught:
        detect(code)
    assert "qiskit, cirq, pennylane, openqasm, marqov" in caught.value.message
    assert "import statement" in caught.value.message


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import qiskit\nx = (", 2),
        ("qc = QuantumCircuit(2\nqc.h(0)", 1),
        ("def f(x):\n  return x\nf(1))", 3),
        ('# qubit q;\ncircuit = """\nqubit q;\n"""\nx = f(1))', 5),
        ("for i in range(3)\n    print(i)", 1),
    ],
)
def test_python_with_a_mistake_is_a_syntax_error_with_its_line(code: str, line: int) -> None:
    with pytest.raises(JobError) as caught:
        detect(code)
    assert caught.value.message.startswith("SyntaxError")
    assert caught.value.line == line


@pytest.mark.parametrize("code", ["(" * 100_000, "-" * 100_000 + "1", "[" * 90_000 + "]" * 90_000, "\n;" * 200_000])
def test_text_of_any_depth_or_length_is_refused(code: str) -> None:
    with pytest.raises(JobError):
        detect(code)
