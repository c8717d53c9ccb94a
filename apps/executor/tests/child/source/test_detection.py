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
    ],
)
def test_undetectable_code_is_refused_with_the_supported_frameworks(code: str) -> None:
    with pytest.raises(LanguageNotDetected) as caught:
        detect(code)
    assert "qiskit, cirq, pennylane, openqasm, marqov" in caught.value.message
    assert "import statement" in caught.value.message


@pytest.mark.parametrize(
    "code", ["import qiskit\nx = (", "(" * 100_000, "-" * 100_000 + "1", "[" * 90_000 + "]" * 90_000]
)
def test_text_that_is_not_a_program_is_a_syntax_error(code: str) -> None:
    with pytest.raises(JobError):
        detect(code)
