"""Gives the free parameters of a circuit the values of the job's parameters of the same name: the inputs of a program
in OpenQASM 3, and the parameters of Qiskit, Cirq and Braket."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from qiskit import QuantumCircuit

from ..refusals import JobError


def with_inputs(circuit: QuantumCircuit, params: Mapping[str, Any]) -> QuantumCircuit:
    """The circuit with the values that there are; other parameters stay free. Raises JobError for a value that is not
    a finite number."""
    values = values_of((parameter.name for parameter in circuit.parameters), params)
    return circuit.assign_parameters(values) if values else circuit


def values_of(names: Iterable[str], params: Mapping[str, Any]) -> dict[str, float]:
    """The values of those names that the job's parameters have. Raises JobError for one that is not a finite number."""
    return {name: _number(name, params[name]) for name in names if name in params}


def _number(name: str, value: Any) -> float:
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise JobError(f"params.{name}: the circuit's parameter needs a number (got {str(value)[:60]!r})")
    return number
