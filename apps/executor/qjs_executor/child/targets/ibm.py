"""Writes circuits for IBM in OpenQASM 3, in the instructions of one device (ISA): its basis gates, on its coupled
physical qubits.

Every step is first written in gates of one and two qubits, which is proved by matrices; then qiskit's transpiler
chooses qubits, routes and translates, which `routing_proof` follows. Where an optimisation cannot be followed, a
circuit that uses few qubits is compared as a whole, and any other one is compiled at a lower level, with a warning.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister, qasm3, transpile
from qiskit.circuit import Gate
from qiskit.circuit.library import get_standard_gate_name_mapping
from qiskit.exceptions import QiskitError
from qiskit.transpiler import CouplingMap
from qiskit.transpiler import Target as QiskitTarget

from .expansion import Expansion
from .matrices import SWAP, Matrix, equal_up_to_phase
from .program import Compiled, Input, by_clbits
from .proof import Statement, matrix_of, prove
from .routing_proof import routed_does
from .steps import Refused, Step
from .target import IBM_GATES, Target
from .whole_proof import whole_does

NAME = "IBM"
MEDIA_TYPE = "text/x-openqasm"
STANDARD_INCLUDE = frozenset(
    (
        *("id", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "rx", "ry", "rz", "p", "u1", "u2", "u3"),
        *("cx", "cy", "cz", "ch", "cp", "crx", "cry", "crz", "swap"),
    )
)
"""Gates of "stdgates.inc"; the device accepts its other gates by name, without a definition."""

_CLASSES = {name: type(gate) for name, gate in get_standard_gate_name_mapping().items() if name in IBM_GATES}
_STATEMENT = re.compile(r"([a-z][a-z0-9]*)(?:\(([^()]*)\))? ((?:\$\d+)(?:, \$\d+)*);")
_MEASUREMENT = re.compile(r"c\[(\d+)\] = measure \$(\d+);")
_QUBIT = re.compile(r"\$(\d+)")


def compile_ibm(given: Input, target: Target) -> Compiled:
    """The program of a circuit without classical control. Raises Refused."""
    cells = {clbit: cell for cell, clbit in enumerate(given.positions)}
    steps = [_in_cells(step, cells) for step in given.steps]
    plain, found = _in_small_gates(given, steps, len(cells))
    text, layout, level = _transpiled(plain, found, target)
    warnings = []
    if level != target.optimization_level:
        warnings.append(
            f"optimization_level {target.optimization_level} changed the circuit in a way that could not be proved to"
            f" keep what it does; level {level} was used"
        )
    bits = list(range(len(cells)))
    return Compiled(text, MEDIA_TYPE, by_clbits([("c", len(cells))], bits), warnings, {"layout": layout})


def _in_cells(step: Step, cells: dict[int, int]) -> Step:
    if step.conditions:
        raise step.refused(
            "depends on a measured bit (if), which is not compiled for IBM here; measure at the end only"
        )
    return step if step.clbit is None else replace(step, clbit=cells[step.clbit])


def _in_small_gates(given: Input, steps: list[Step], num_cells: int) -> tuple[QuantumCircuit, list[Statement]]:
    """The circuit in standard gates of one and two qubits, proved; and its meaning, for the next proof."""
    matrices = _Matrices()
    expansion = Expansion(IBM_GATES, NAME)
    plain = QuantumCircuit(QuantumRegister(given.num_qubits, "q"), ClassicalRegister(num_cells, "c"))
    found: list[Statement] = []
    counts = []
    for step in steps:
        before = len(found)
        if step.kind == "gate":
            for call in expansion.calls(step):
                qubits = tuple(step.qubits[place] for place in call.places)
                plain.append(_CLASSES[call.name](*call.params), qubits)
                found.append(Statement("gate", qubits, *matrices.of(call.name, call.params)))
        else:
            clbits = [] if step.clbit is None else [step.clbit]
            plain.append(step.operation, step.qubits, clbits)
            found.append(Statement(step.kind, step.qubits, cell=step.clbit))
        counts.append(len(found) - before)
    prove(steps, counts, found, NAME)
    return plain, found


def _transpiled(plain: QuantumCircuit, found: list[Statement], target: Target) -> tuple[str, list[int], int]:
    """A proved program, the physical qubit where each qubit starts, and the optimisation level that was used."""
    device = _device(target)
    # Where every pair is coupled, the layout is free, and without a layout the qubits would not become physical.
    fixed = list(range(plain.num_qubits)) if target.coupling_map is None else None
    for level in sorted({target.optimization_level, min(target.optimization_level, 1), 0}, reverse=True):
        try:
            routed = transpile(
                plain,
                target=device,
                initial_layout=fixed,
                optimization_level=level,
                seed_transpiler=target.seed,
            )
        except QiskitError as error:
            raise Refused(f"the circuit cannot be compiled for this device: {str(error)[:300]}", None, "") from None
        layout = [int(place) for place in routed.layout.initial_index_layout(filter_ancillas=True)]
        text = write(routed, target)
        program = read(text, target)
        if routed_does(found, program, dict(enumerate(layout))) or whole_does(found, program, layout):
            return text, layout, level
    raise Refused("the compiled program could not be proved to do what the circuit does", None, "")


def _device(target: Target) -> QiskitTarget:
    pairs = None
    if target.coupling_map is not None:
        pairs = CouplingMap(sorted(target.coupling_map))
        for qubit in range(target.num_qubits or 0):
            if qubit not in pairs.physical_qubits:
                pairs.add_physical_qubit(qubit)
    return QiskitTarget.from_configuration(
        basis_gates=[*target.basis_gates, "measure", "reset"], num_qubits=target.num_qubits, coupling_map=pairs
    )


def write(routed: QuantumCircuit, target: Target) -> str:
    """The program's text on physical qubits, numbers with all their digits."""
    own = tuple(name for name in target.basis_gates if name not in STANDARD_INCLUDE)
    text: str = qasm3.Exporter(includes=("stdgates.inc",), basis_gates=own, disable_constants=True).dumps(routed)
    return text


def read(text: str, target: Target) -> list[Statement]:
    """A program's instructions. Raises Refused for anything that the device does not have: a gate outside the basis, a
    pair that is not coupled."""
    matrices = _Matrices()
    found = []
    for line in text.splitlines():
        if not line or line.startswith(("OPENQASM", "include", "bit[")):
            continue
        measurement = _MEASUREMENT.fullmatch(line)
        if measurement:
            found.append(Statement("measure", (int(measurement[2]),), cell=int(measurement[1])))
            continue
        statement = _STATEMENT.fullmatch(line)
        if statement is None:
            raise Refused(f"the compiled program has an unexpected line: {line[:100]}", None, "")
        name, angles = statement[1], tuple(float(angle) for angle in (statement[2] or "").split(",") if angle)
        qubits = tuple(int(qubit) for qubit in _QUBIT.findall(statement[3]))
        if name in ("barrier", "reset"):
            found.append(Statement(name, qubits))
            continue
        matrix, key = matrices.of(name, angles)
        if name not in target.basis_gates or not _coupled(qubits, matrix, target):
            shown = ", ".join(f"${qubit}" for qubit in qubits)
            raise Refused(f"the compiled program has {name} on {shown}, which the device does not have", None, "")
        found.append(Statement("gate", qubits, matrix, key))
    return found


def _coupled(qubits: tuple[int, ...], matrix: Matrix, target: Target) -> bool:
    if not all(qubit < (target.num_qubits or 0) for qubit in qubits):
        return False
    if len(qubits) == 1 or target.coupling_map is None or qubits in target.coupling_map:
        return True
    return qubits[::-1] in target.coupling_map and equal_up_to_phase(SWAP @ matrix @ SWAP, matrix)


class _Matrices:
    """Matrices of standard gates, each made once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[float, ...]], Matrix] = {}

    def of(self, name: str, params: Sequence[float]) -> tuple[Matrix, tuple[str, tuple[float, ...]]]:
        key = (name, tuple(params))
        if key not in self._known:
            gate: Gate = _CLASSES[name](*params)
            self._known[key] = np.asarray(matrix_of(gate))
        return self._known[key], key
