"""The conformance table: circuits that a wrong order of bits, a lost register, a rounded angle or a wrong gate
changes."""

from __future__ import annotations

import math

import numpy as np
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.circuit import Parameter
from qiskit.circuit.library import QFTGate, UnitaryGate, get_standard_gate_name_mapping, real_amplitudes
from qiskit.quantum_info import random_unitary

A, B = Parameter("a"), Parameter("β[0]")


def _asymmetric() -> QuantumCircuit:
    circuit = QuantumCircuit(3)
    circuit.x(0)
    circuit.ry(0.3, 2)
    return circuit


def _registers() -> QuantumCircuit:
    circuit = QuantumCircuit(
        QuantumRegister(2, "left"),
        QuantumRegister(2, "right"),
        ClassicalRegister(2, "alpha"),
        ClassicalRegister(9, "wide"),
        ClassicalRegister(1, "unused"),
    )
    circuit.x(0)
    circuit.ry(1.1, 3)
    circuit.cx(3, 2)
    circuit.measure([0, 1], circuit.cregs[0])
    circuit.measure([3, 2], [circuit.cregs[1][7], circuit.cregs[1][0]])
    return circuit


def _exact_angle() -> QuantumCircuit:
    circuit = QuantumCircuit(1)
    circuit.h(0)
    # Near a fraction of pi, to which a pretty printer would round it.
    for _ in range(100):
        circuit.rz(math.pi / 2 + 4e-10, 0)
    circuit.h(0)
    return circuit


def _gates() -> QuantumCircuit:
    circuit = QuantumCircuit(4)
    for qubit in range(4):
        circuit.ry(0.3 + qubit, qubit)
    known = get_standard_gate_name_mapping()
    angles = iter(np.linspace(0.1, 3, 200))
    for name in sorted(known):
        gate = known[name]
        if gate.num_clbits or gate.num_qubits > 4 or name in ("measure", "delay", "reset"):
            continue
        named = type(gate)(*[next(angles) for _ in gate.params]) if gate.params else gate
        circuit.append(named, [3, 1, 0, 2][: gate.num_qubits])
    return circuit


def _custom() -> QuantumCircuit:
    inner = QuantumCircuit(2, name="x")
    inner.h(0)
    inner.crx(0.7, 1, 0)
    circuit = QuantumCircuit(3)
    circuit.append(inner.to_gate(), [2, 0])
    circuit.append(UnitaryGate(random_unitary(4, seed=3)), [1, 2])
    circuit.append(QFTGate(3), [0, 2, 1])
    circuit.append(inner.to_gate().control(1), [1, 0, 2])
    return circuit


def _parameters() -> QuantumCircuit:
    circuit = QuantumCircuit(2)
    circuit.ry(2 * A + 0.1, 0)
    circuit.cry(A * B, 0, 1)
    circuit.rz(B, 1)
    circuit.h(1)
    return circuit


STATES: dict[str, QuantumCircuit] = {
    "asymmetric": _asymmetric(),
    "exact angle": _exact_angle(),
    "every standard gate": _gates(),
    "custom gates": _custom(),
    "ansatz": real_amplitudes(3, reps=2).assign_parameters(np.linspace(-1, 2, 9)),
}
"""Without measurements and parameters."""
PARAMETERS = _parameters()
REGISTERS = _registers()


def measured(circuit: QuantumCircuit) -> QuantumCircuit:
    """With a measurement of every qubit."""
    copy = circuit.copy()
    copy.measure_all()
    return copy
