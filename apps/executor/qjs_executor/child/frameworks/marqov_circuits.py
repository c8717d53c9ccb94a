"""Converts circuits of the marqov SDK with its own exporter to qiskit, one gate at a time.

Qubit i of the program is the SDK's qubit i; the width is the largest index plus one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import quantumflow as qf
from marqov import Circuit

from ..adapted_circuit import AdaptedCircuit
from ..refusals import Unsupported
from .program import PROVEN_QUBITS_MAX, Matrix, Program, on, synthesised, written


def is_circuit(value: object) -> bool:
    """Whether this is a circuit of the marqov SDK."""
    return isinstance(value, Circuit)


def to_found(value: Circuit, shots: int) -> AdaptedCircuit:  # noqa: ARG001
    """The circuit in OpenQASM 3. Raises Unsupported naming operation and qubit."""
    program = Program(value.num_qubits)
    pieces: dict[Any, tuple[list[str], Matrix]] = {}
    # The SDK has no public way to read its gates with their exact parameters.
    for operation in value._qf:
        qubits = [int(qubit) for qubit in operation.qubits]
        name = str(operation.name)
        if not isinstance(operation, qf.Gate) or len(qubits) > PROVEN_QUBITS_MAX:
            raise Unsupported(f"{name}{on(qubits)} cannot be written in OpenQASM 3")
        parameters = [_number(name, qubits, parameter) for parameter in getattr(operation, "params", ())]
        key = (type(operation), *parameters) if isinstance(operation, qf.StdGate) else id(operation)
        if key not in pieces:
            pieces[key] = _piece(name, operation)
        statements, matrix = pieces[key]
        program.gate(name, statements, qubits, matrix)
    return AdaptedCircuit(program.proven())


def _number(name: str, qubits: list[int], parameter: Any) -> float:
    try:
        return float(parameter)
    except (TypeError, ValueError):
        raise Unsupported(f"{name}{on(qubits)}: the parameter {parameter} has no value; bind it to a number") from None


def _piece(name: str, operation: Any) -> tuple[list[str], Matrix]:
    size = len(operation.qubits)
    matrix: Matrix = np.asarray(operation.asgate().tensor, dtype=complex).reshape(1 << size, 1 << size)
    alone = Circuit()
    alone._qf = qf.Circuit([operation.on(*range(size))])
    try:
        return written(alone.to_qiskit()), matrix
    except (ValueError, TypeError, NotImplementedError, KeyError):
        return synthesised(name, operation.qubits, matrix), matrix
