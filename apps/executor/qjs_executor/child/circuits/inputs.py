"""Gives the free parameters of a circuit the values of the job's parameters of the same name: the inputs of a program
in OpenQASM 3, and Qiskit's `Parameter`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from qiskit import QuantumCircuit
from qiskit.circuit import Parameter

from ..refusals import JobError


def with_inputs(circuit: QuantumCircuit, params: Mapping[str, Any]) -> QuantumCircuit:
    """The circuit with the values that there are; other parameters stay free. Raises JobError for a value that is not
    a finite number."""
    values = {
        parameter: _number(parameter, params[parameter.name])
        for parameter in circuit.parameters
        if parameter.name in params
    }
    return circuit.assign_parameters(values) if values else circuit


def _number(parameter: Parameter, value: Any) -> float:
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise JobError(f"params.{parameter.name}: the circuit's parameter needs a number (got {str(value)[:60]!r})")
    return number
