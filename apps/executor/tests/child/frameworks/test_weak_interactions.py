"""Gates that do almost nothing keep the little that they do: exporters and syntheses take it for rounding."""

from __future__ import annotations

import numpy as np
import pytest
from qiskit.quantum_info import Operator

from ...conformance.converters import canonical, equal_up_to_phase, read

ANGLES = (1e-8, 1e-7, 3e-6, 1e-5, 1e-4, 1e-3)
HALF = "import numpy as np\nc, s = np.cos({angle} / 2), -1j * np.sin({angle} / 2)\n"
MATRIX = HALF + "u = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, c, s], [0, 0, s, c]])\n"
PROGRAMS = {
    "cirq, a controlled gate": (
        "cirq",
        "import cirq\ncircuit = cirq.Circuit(cirq.ControlledGate(cirq.rx({angle}))(*cirq.LineQubit.range(2)))",
    ),
    "cirq, a matrix": (
        "cirq",
        MATRIX + "import cirq\ncircuit = cirq.Circuit(cirq.MatrixGate(u)(*cirq.LineQubit.range(2)))",
    ),
    "pennylane, a matrix": (
        "pennylane",
        MATRIX
        + "import pennylane as qml\nwith qml.tape.QuantumTape() as tape:\n    qml.QubitUnitary(u, wires=[0, 1])\n"
        "    qml.sample(wires=[0, 1])\ncircuit = tape",
    ),
    "qiskit, a matrix": (
        "qiskit",
        MATRIX + "from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(2)\ncircuit.unitary(u, [1, 0])",
    ),
}


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rotation_by_a_small_angle_under_a_control_is_kept_to_its_last_digits(name: str, angle: float) -> None:
    framework, program = PROGRAMS[name]
    circuit = read(canonical(framework, program.replace("{angle}", repr(angle))))
    circuit.remove_final_measurements()
    cosine, sine = np.cos(angle / 2), -1j * np.sin(angle / 2)
    expected = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, cosine, sine], [0, 0, sine, cosine]])
    assert equal_up_to_phase(np.asarray(Operator(circuit.reverse_bits()).data), expected)


WIDE = "import numpy as np\nu = np.diag([1, 1, 1, 1, 1, 1, np.exp(-0.5j * {angle}), np.exp(0.5j * {angle})])\n"
WIDE_PROGRAMS = {
    "cirq, a gate": (
        "cirq",
        "import cirq\na, b, c = cirq.LineQubit.range(3)\ncircuit = cirq.Circuit(cirq.rz({angle})(c).controlled_by(a, b))",
    ),
    "cirq, a matrix": (
        "cirq",
        WIDE + "import cirq\ncircuit = cirq.Circuit(cirq.MatrixGate(u)(*cirq.LineQubit.range(3)))",
    ),
    "pennylane, a matrix": (
        "pennylane",
        WIDE
        + "import pennylane as qml\nwith qml.tape.QuantumTape() as tape:\n    qml.QubitUnitary(u, wires=[0, 1, 2])\n"
        "    qml.sample(wires=[0, 1, 2])\ncircuit = tape",
    ),
    "qiskit, a matrix": (
        "qiskit",
        WIDE + "from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(3)\ncircuit.unitary(u, [2, 1, 0])",
    ),
}


@pytest.mark.parametrize("angle", ANGLES)
@pytest.mark.parametrize("name", WIDE_PROGRAMS)
def test_a_rotation_by_a_small_angle_under_two_controls_is_kept_to_its_last_digits(name: str, angle: float) -> None:
    framework, program = WIDE_PROGRAMS[name]
    circuit = read(canonical(framework, program.replace("{angle}", repr(angle))))
    circuit.remove_final_measurements()
    expected = np.diag([1, 1, 1, 1, 1, 1, np.exp(-0.5j * angle), np.exp(0.5j * angle)])
    assert equal_up_to_phase(np.asarray(Operator(circuit.reverse_bits()).data), expected)
