"""The state before the final measurements: its order, and which circuits have none."""

from __future__ import annotations

import base64
import io
import math
from typing import Any

import numpy as np
import pytest
from qiskit.circuit.random import random_circuit
from qiskit.quantum_info import Statevector

from qjs_executor.child.engines.state_vector import state_vector

from ...support.direct import QISKIT, STD, answer, refusal


def amplitudes(framework: str, code: str, **fields: Any) -> list[complex]:
    pairs = answer(framework, code, extract_state_vector=True, **fields)["state_vector"]
    return [complex(re, im) for re, im in pairs]


def test_qubit_0_is_the_most_significant_bit_of_the_index() -> None:
    assert amplitudes("openqasm", STD + "qubit[3] q; x q[0];") == pytest.approx([0, 0, 0, 0, 1, 0, 0, 0])
    assert amplitudes("openqasm", STD + "qubit[3] q; x q[2];") == pytest.approx([0, 1, 0, 0, 0, 0, 0, 0])


def test_the_state_is_that_before_the_final_measurements_and_the_counts_are_there_too() -> None:
    code = STD + "qubit[2] q; bit[2] c; h q[0]; s q[0]; c[1] = measure q[0]; x q[1]; c[0] = measure q[1];"
    given = answer("openqasm", code, extract_state_vector=True)
    assert np.ravel(given["state_vector"]) == pytest.approx([0, 0, math.sqrt(0.5), 0, 0, 0, 0, math.sqrt(0.5)])
    assert set(given["counts"]) == {"10", "11"}


@pytest.mark.parametrize("seed", range(15))
def test_random_circuits_have_the_state_of_their_unitary_phase_included(seed: int) -> None:
    circuit = random_circuit(4, 6, max_operands=4, seed=seed)
    expected = Statevector(circuit).reverse_qargs().data
    assert np.allclose(state_vector(circuit, "statevector", None), expected, atol=1e-9)


@pytest.mark.parametrize("level", [0, 3])
def test_the_optimization_level_moves_no_qubit_of_the_state(level: int) -> None:
    code = STD + "qubit[3] q; x q[0]; swap q[0], q[2];"
    assert amplitudes("openqasm", code, optimization_level=level) == pytest.approx([0, 1, 0, 0, 0, 0, 0, 0])


def test_an_initialization_at_the_start_and_measuring_instructions_keep_their_state() -> None:
    code = QISKIT + "circuit = QuantumCircuit(2)\ncircuit.initialize([0, 0.6, 0, 0.8])\ncircuit.x(1)"
    assert amplitudes("qiskit", code) == pytest.approx([0, 0, 0.8, 0.6])
    code = (
        QISKIT + "part = QuantumCircuit(2, 1)\npart.x(0)\npart.measure(1, 0)\n"
        "circuit = QuantumCircuit(2, 1)\ncircuit.append(part.to_instruction(), [1, 0], [0])"
    )
    assert amplitudes("qiskit", code) == pytest.approx([0, 1, 0, 0])


def test_a_state_of_more_than_14_qubits_is_a_file_in_the_same_order() -> None:
    given = answer("openqasm", STD + "qubit[15] q; x q[0]; h q[14];", extract_state_vector=True)
    assert "state_vector" not in given
    state = np.load(io.BytesIO(base64.b64decode(given["state_vector_npy"])), allow_pickle=False)
    assert (state.dtype, state.shape) == (np.complex128, (2**15,))
    assert np.flatnonzero(abs(state) > 1e-9).tolist() == [2**14, 2**14 + 1]
    assert len(answer("openqasm", STD + "qubit[14] q;", extract_state_vector=True)["state_vector"]) == 2**14


@pytest.mark.parametrize(
    ("framework", "code", "fields", "message"),
    [
        ("openqasm", STD + "qubit q; bit c; c = measure q; x q;", {}, "'x' follows the measurement of qubit 0"),
        ("openqasm", STD + "qubit[2] q; bit[2] c; c = measure q; c[0] = measure q[1];", {}, "'measure' follows the measurement of qubit 1"),
        ("openqasm", STD + "qubit[2] q; reset q[1];", {}, "operation 'reset' on qubit 1 leaves no single state"),
        ("openqasm", STD + "qubit[2] q; bit c; c = measure q[0]; if (c) { x q[1]; }", {}, "'if_else'"),
        ("qiskit", QISKIT + "circuit = QuantumCircuit(1)\ncircuit.h(0)\ncircuit.initialize([0, 1])", {}, "'initialize' on qubit 0"),
        ("qiskit", QISKIT + "from qiskit.quantum_info import Kraus\ncircuit = QuantumCircuit(1)\ncircuit.append(Kraus([[[0.6, 0], [0, 0.6]], [[0, 0.8], [0.8, 0]]]), [0])", {}, "'kraus' on qubit 0"),
        ("openqasm", STD + "qubit[21] q;", {}, "up to 20 qubits, the circuit has 21"),
        ("openqasm", STD + "qubit q;", {"engine": "mps"}, "the engine 'mps' gives no state vector"),
        ("openqasm", STD + "qubit q;", {"engine": "noisy", "noise_model": {"t1_us": 1}}, "a noise_model has no state vector"),
    ],
)  # fmt: skip
def test_circuits_without_a_single_state_are_refused_by_name(
    framework: str, code: str, fields: dict[str, Any], message: str
) -> None:
    error = refusal(framework, code, extract_state_vector=True, **fields)
    assert message in error.message
    assert error.code == "unsupported_operation"
