"""Keeps custom gates apart from the standard ones.

The transpiler and the simulator recognise operations by name, so a custom gate called `h` would be executed as a
Hadamard whatever its definition says. A custom operation with such a name is renamed before anything reads it.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

import numpy as np
from qiskit import QuantumCircuit
from qiskit.circuit import AnnotatedOperation, ControlFlowOp, Gate, Instruction, Operation
from qiskit.circuit.equivalence_library import SessionEquivalenceLibrary
from qiskit.circuit.library import get_standard_gate_name_mapping
from qiskit.quantum_info import Operator
from qiskit_aer import AerSimulator

from ..refusals import Unsupported

SUFFIX = "_custom"

STANDARD_NAMES = frozenset(
    {
        *AerSimulator(method="statevector").target.operation_names,
        *get_standard_gate_name_mapping(),
        *(key.name for key in SessionEquivalenceLibrary.keys()),  # noqa: SIM118
        *(plugin.name.partition(".")[0] for plugin in entry_points(group="qiskit.synthesis")),
        "barrier",
    }
)
"""The transpiler also looks its plugins for synthesis up by the name of a gate, and fails on any other gate."""

_LIBRARY_MODULES = ("qiskit.circuit.", "qiskit.quantum_info.", "qiskit_aer.library.", "qiskit_aer.noise.")
_BARE_CLASSES = ("Gate", "Instruction", "ControlledGate")
_STANDARD_GATES = {
    name: gate for name, gate in get_standard_gate_name_mapping().items() if isinstance(gate, Gate) and gate.num_qubits
}
TRIED_ANGLES = (0.7390851332, -1.9021605831, 2.5029078750, 0.5671432904)
"""Values for the parameters of a gate at which its definition is compared with the standard one: nothing special."""
_SAME = 1e-9
_DATA_OPERATIONS = ("kraus",)
"""Bare instructions that qiskit itself makes and whose parameters fully describe them."""


def distinct(name: str) -> str:
    """A name for a custom gate that no standard gate has."""
    return name + SUFFIX if name in STANDARD_NAMES else name


def is_standard(operation: Operation) -> bool:
    """Whether an operation is the library's own, so that its name says what it does."""
    # `base_class` sees through the private classes of shared instances such as Measure().
    kind = getattr(operation, "base_class", type(operation))
    if kind.__name__ in _BARE_CLASSES and kind.__module__.startswith("qiskit.circuit."):
        return operation.name in _DATA_OPERATIONS
    return kind.__module__.startswith(_LIBRARY_MODULES)


def is_misnamed(operation: Operation) -> bool:
    """Whether an operation has a standard name without being the standard operation."""
    return operation.name in STANDARD_NAMES and not is_standard(operation)


def standard_gate(name: str, definition: QuantumCircuit, num_params: int) -> type[Gate] | None:
    """The standard gate of this name if the definition, whose parameters have the values of `TRIED_ANGLES`, does the
    same, its phase included."""
    known = _STANDARD_GATES.get(name)
    if known is None or (known.num_qubits, len(known.params)) != (definition.num_qubits, num_params):
        return None
    kind: type[Gate] = known.base_class
    meant = Operator(kind(*TRIED_ANGLES[:num_params])).data
    return kind if np.allclose(Operator(definition).data, meant, rtol=0, atol=_SAME) else None


def source_key(operation: Operation) -> tuple[Any, ...]:
    """Equal for the calls of one gate with equal parameters in a program of OpenQASM."""
    # A fractional power under control has a matrix as its parameter.
    return (operation.name, *(v.tobytes() if isinstance(v, np.ndarray) else v for v in operation.params))


def with_distinct_names(circuit: QuantumCircuit, named_by_source: bool) -> QuantumCircuit:
    """A copy in which no custom operation, however deep, has a standard name. Equal definitions are converted once;
    `named_by_source`: in OpenQASM equal names and parameters mean equal definitions."""
    return _Renamer(named_by_source).circuit(circuit)


class _Renamer:
    def __init__(self, named_by_source: bool) -> None:
        self._named_by_source = named_by_source
        self._done: dict[Any, tuple[Operation, Any]] = {}

    def circuit(self, circuit: QuantumCircuit) -> QuantumCircuit:
        renamed = circuit.copy_empty_like()
        for item in circuit.data:
            renamed._append(
                item if item.is_standard_gate() else item.replace(operation=self._operation(item.operation))
            )
        return renamed

    def _operation(self, operation: Operation) -> Operation:
        if isinstance(operation, ControlFlowOp):
            return operation.replace_blocks([self.circuit(block) for block in operation.blocks])
        if isinstance(operation, AnnotatedOperation):
            return AnnotatedOperation(self._operation(operation.base_op), operation.modifiers)
        definition = getattr(operation, "definition", None)
        if is_standard(operation):
            return operation
        if definition is None:
            if is_misnamed(operation):
                raise Unsupported(f"operation '{operation.name}' is not the standard one and has no definition")
            return operation
        key = source_key(operation) if self._named_by_source else id(definition)
        if key not in self._done:
            # The definition is kept too: its id is unique only while it lives.
            self._done[key] = (self._copy(operation, self.circuit(definition)), definition)
        return self._done[key][0]

    def _copy(self, operation: Operation, definition: QuantumCircuit) -> Operation:
        name = distinct(operation.name)
        if isinstance(operation, Gate):
            copy: Instruction = Gate(name, operation.num_qubits, list(operation.params))
        else:
            copy = Instruction(name, operation.num_qubits, operation.num_clbits, list(operation.params))
        copy.definition = definition
        return copy
