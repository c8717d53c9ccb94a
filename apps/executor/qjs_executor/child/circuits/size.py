"""Counts the operations of a circuit once custom gates and loops are written out, and looks at their angles.

A few lines of nested definitions stand for 2^60 operations, so they are counted, without being written out, before any
other step.
"""

from __future__ import annotations

import math
from typing import Any

from qiskit import QuantumCircuit
from qiskit.circuit import AnnotatedOperation, ControlFlowOp, ForLoopOp, Operation

from ..refusals import Unsupported
from .gate_names import is_misnamed, is_standard, source_key

OPERATIONS_MAX = 10_000_000
"""Above this no execution finishes within the longest time limit."""
VISITS_MAX = 1_000_000
"""Custom operations examined before the count gives up."""


def survey(circuit: QuantumCircuit, named_by_source: bool) -> bool:
    """Refuses a circuit that expands beyond the limits or has an angle that is not finite, which a simulator takes for
    some other angle; returns whether a custom operation anywhere in it has a
    standard name. `named_by_source`: it was written in OpenQASM, where equal gate names mean equal definitions."""
    counting = _Survey(named_by_source)
    if counting.circuit(circuit) > OPERATIONS_MAX:
        raise Unsupported(
            f"the circuit expands to more than {OPERATIONS_MAX} operations once its gate definitions and loops are"
            " written out"
        )
    return counting.misnamed


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or math.isfinite(value)


class _Survey:
    def __init__(self, named_by_source: bool) -> None:
        self.misnamed = False
        self._named_by_source = named_by_source
        self._known: dict[Any, tuple[int, Any]] = {}
        self._visits = 0

    def circuit(self, circuit: QuantumCircuit) -> int:
        if not _is_finite(circuit.global_phase):
            raise Unsupported(f"the global phase of the circuit is not finite ({circuit.global_phase})")
        size = 0
        for item in circuit.data:
            for value in item.params:
                if not _is_finite(value):
                    raise Unsupported(f"an angle of '{item.name}' is not finite ({value})")
            size += 1 if item.is_standard_gate() else self._operation(item.operation)
        return size

    def _operation(self, operation: Operation) -> int:
        if isinstance(operation, ControlFlowOp):
            turns = len(operation.params[0]) if isinstance(operation, ForLoopOp) else 1
            return turns * (1 + sum(self.circuit(block) for block in operation.blocks))
        if isinstance(operation, AnnotatedOperation):
            return self._operation(operation.base_op)
        if is_standard(operation):
            return 1
        self.misnamed = self.misnamed or is_misnamed(operation)
        key: Any = source_key(operation)
        if self._named_by_source and key in self._known:
            return self._known[key][0]
        self._visits += 1
        if self._visits > VISITS_MAX:
            raise Unsupported(f"the circuit has more than {VISITS_MAX} custom operations, nested ones included")
        definition = getattr(operation, "definition", None)
        if definition is None:
            return 1
        if not self._named_by_source:
            key = id(definition)
        if key not in self._known:
            # The definition is kept too: its id is unique only while it lives.
            self._known[key] = (self.circuit(definition), definition)
        return self._known[key][0]
