"""Converts circuits of Amazon Braket with Braket's own OpenQASM exporter, one instruction at a time.

Qubit i of the program is Braket's qubit i. The exporter's gates that "stdgates.inc" does not have are written in terms
of it; every one is compared with Braket's own matrix. A circuit without measurements is measured on the qubits that it
uses, as in Braket.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from braket.circuits import Circuit, Gate, Instruction, Noise, observables, result_types
from braket.circuits.basis_state import BasisState
from braket.circuits.compiler_directives import Barrier, EndVerbatimBox, StartVerbatimBox
from braket.circuits.gates import PulseGate, Unitary
from braket.circuits.measure import Measure
from braket.circuits.observable import Observable
from braket.circuits.serialization import IRType, OpenQASMSerializationProperties
from scipy.linalg import fractional_matrix_power

from ..adapted_circuit import AdaptedCircuit
from ..circuits.braket_dialect import VERBATIM_AT_PROVIDER, VERBATIM_DROPPED
from ..circuits.braket_gates import BODIES
from ..circuits.inputs import values_of
from ..refusals import JobError, Unsupported
from .program import PROVEN_QUBITS_MAX, Matrix, Program, controlled, on, synthesised
from .readout import Readout, Terms, product, weighted_sum

_CALL = re.compile(r"(?P<modifiers>(?:[^@;]+@ )*)(?P<gate>\w+)(?:\((?P<values>[^)]*)\))? (?P<qubits>[^;]+);")
_QUBIT_REFERENCES = OpenQASMSerializationProperties()


def is_circuit(value: object) -> bool:
    """Whether this is a gate circuit of Braket."""
    return isinstance(value, Circuit)


def with_inputs(value: Circuit, params: Mapping[str, Any]) -> Circuit:
    """The circuit with the values that the job's parameters have for its free parameters."""
    values = values_of((str(parameter) for parameter in value.parameters), params)
    return value.make_bound_circuit(values) if values else value


def check_for_provider(value: Circuit) -> None:
    """Raises Unsupported for what only a simulator may leave out."""
    if any(isinstance(instruction.operator, StartVerbatimBox) for instruction in value.instructions):
        raise Unsupported(VERBATIM_AT_PROVIDER)


def to_found(value: Circuit, shots: int) -> AdaptedCircuit:  # noqa: ARG001
    """The circuit in OpenQASM 3. Raises Unsupported naming operation and qubit."""
    names = sorted(str(parameter) for parameter in value.parameters)
    if names:
        raise Unsupported(
            f"the parameter{'s' if len(names) > 1 else ''} {', '.join(names)} of the circuit has no value; set it in"
            " the job's params, or bind it with circuit.make_bound_circuit({...})"
        )
    used = sorted(int(qubit) for qubit in value.qubits)
    if not used:
        raise JobError("the circuit has no qubits: apply at least one gate or measurement")
    program = Program(used[-1] + 1)
    measured: list[int] = []
    boxed = False
    for instruction in value.instructions:
        if isinstance(instruction.operator, StartVerbatimBox | EndVerbatimBox):
            boxed = True
        else:
            _write(program, instruction, measured)
    readout = Readout(lambda qubit: qubit)
    warnings = [VERBATIM_DROPPED] if boxed else []
    if measured:
        readout.bits("b", measured)
    for result in value.result_types:
        _read(readout, result, used, warnings)
    if not measured and all(isinstance(result, result_types.StateVector) for result in value.result_types):
        readout.bits("b", used)
    if used != list(range(len(used))) and not value.result_types and not measured:
        warnings.append(f"the counts show the qubits that the circuit uses: {', '.join(map(str, used))}")
    names_shown, observed = readout.write(program)
    return AdaptedCircuit(program.proven(), names_shown, observed, warnings, readout.turned)


def _write(program: Program, instruction: Instruction, measured: list[int]) -> None:
    operator = instruction.operator
    qubits = [int(qubit) for qubit in (*instruction.control, *instruction.target)]
    if isinstance(operator, Measure):
        again = sorted(set(qubits) & set(measured))
        if again:
            raise Unsupported(f"measure{on(again)}: measured more than once, which Braket does not count")
        measured += qubits
        return
    late = sorted(set(qubits) & set(measured))
    if late and not isinstance(operator, Barrier):
        raise Unsupported(f"{operator.name}{on(late)}: operations after a measurement cannot be written for Braket")
    if isinstance(operator, Noise):
        raise Unsupported(f"{operator.name}{on(qubits)} is a noise channel (set noise in params.noise_model)")
    if isinstance(operator, Barrier):
        program.barrier(qubits or list(range(program.num_qubits)))
        return
    if not isinstance(operator, Gate) or isinstance(operator, PulseGate):
        raise Unsupported(f"{operator.name}{on(qubits)} cannot be written in OpenQASM 3 without pragmas")
    if not qubits:
        # A global phase does not affect any result.
        return
    if len(qubits) > len(set(qubits)):
        raise Unsupported(f"{operator.name}{on(qubits)} names a qubit twice")
    wide = len(qubits) > PROVEN_QUBITS_MAX
    if len(instruction.target) > PROVEN_QUBITS_MAX:
        raise Unsupported(f"{operator.name}{on(qubits)} acts on more than {PROVEN_QUBITS_MAX} qubits; take it apart")
    if wide:
        values = tuple(int(value) for value in BasisState(instruction.control_state, len(instruction.control)).as_tuple)
        matrix = _own_matrix(instruction)
        plain = _statements(Instruction(operator, instruction.target, power=instruction.power))
        statements = None if plain is None else controlled(plain, matrix, values)
        if statements is None:
            raise Unsupported(f"{operator.name}{on(qubits)} has no decomposition into the gates of OpenQASM 3")
        program.gate(operator.name, statements, qubits, matrix, controls=values)
        return
    statements = _statements(instruction)
    matrix = _matrix(instruction)
    if statements is None:
        statements = synthesised(operator.name, qubits, matrix)
    program.gate(operator.name, statements, qubits, matrix)


def _own_matrix(instruction: Instruction) -> Matrix:
    """The matrix of the gate without its controls."""
    matrix: Matrix = np.asarray(instruction.operator.to_matrix(), dtype=complex).reshape(
        (1 << len(instruction.target),) * 2
    )
    power = instruction.power
    if power != 1:
        whole = float(power).is_integer()
        matrix = np.linalg.matrix_power(matrix, int(power)) if whole else fractional_matrix_power(matrix, power)
    return matrix


def _matrix(instruction: Instruction) -> Matrix:
    """The matrix on the controls first, then on the gate's own qubits."""
    matrix = _own_matrix(instruction)
    if not instruction.control:
        return matrix
    state = BasisState(instruction.control_state, len(instruction.control)).as_int
    full = np.eye(matrix.shape[0] << len(instruction.control), dtype=complex)
    start = state * matrix.shape[0]
    full[start : start + matrix.shape[0], start : start + matrix.shape[0]] = matrix
    return full


def _statements(instruction: Instruction) -> list[str] | None:
    """Braket's own export in terms of "stdgates.inc"; None for what only its matrix describes."""
    if isinstance(instruction.operator, Unitary):
        return None
    exported = instruction.to_ir(IRType.OPENQASM, _QUBIT_REFERENCES)
    call = _CALL.fullmatch(exported)
    if call is None or call["gate"] not in BODIES or "pow" in call["modifiers"] or "inv" in call["modifiers"]:
        return None
    body = BODIES[call["gate"]]
    for letter, value in zip("abc", (call["values"] or "").split(", "), strict=False):
        if value and not math.isfinite(float(value)):
            raise Unsupported(
                f"{instruction.operator.name}{on(list(instruction.target))}: the angle {value} is not a finite number"
            )
        body = body.replace(f"%{letter}", value)
    controls = len(instruction.control)
    statements = []
    for statement in body.split(";")[:-1]:
        own = re.sub(r"\{(\d)\}", lambda found: f"{{{int(found[1]) + controls}}}", statement.strip())
        gate, places = own.split(" {", 1)
        prefix = "".join(f"{{{place}}}, " for place in range(controls))
        statements.append(f"{call['modifiers']}{gate} {prefix}{{{places};")
    return statements


def _read(readout: Readout, result: object, used: Sequence[int], warnings: list[str]) -> None:
    name = type(result).__name__
    if isinstance(result, result_types.StateVector):
        warnings.append("StateVector: the counts of all qubits are given; set extract_state_vector for amplitudes")
    elif isinstance(result, result_types.Probability):
        readout.bits("probability", [int(q) for q in result.target] or used)
    elif isinstance(result, result_types.Expectation | result_types.Variance | result_types.Sample):
        if isinstance(result.observable, observables.Sum):
            _read_sum(readout, name, result)
            return
        targets = [int(qubit) for qubit in result.target]
        groups = [targets] if targets else [[qubit] for qubit in used]
        for group in groups:
            shown = f"{name}({_shown(result.observable)}{on(group)})"
            terms = _terms(readout, shown, result.observable, group)
            if isinstance(result, result_types.Sample):
                readout.basis_bits(shown, group, terms)
                warnings.append(f"{shown}: the bits measured in the observable's basis are given, 0 for +1")
            else:
                kind = "var" if isinstance(result, result_types.Variance) else "expval"
                readout.observable(shown, kind, terms)
    else:
        raise Unsupported(f"the result type {name} cannot be computed from measured counts")


def _read_sum(readout: Readout, name: str, result: object) -> None:
    """A sum of observables, each with qubits of its own."""
    summands = result.observable.summands  # type: ignore[attr-defined]
    targets = [[int(qubit) for qubit in target] for target in result.target]  # type: ignore[attr-defined]
    if len(targets) != len(summands):
        raise Unsupported(f"{name} of a sum: say the qubits of each of its {len(summands)} observables")
    parts = [f"{float(one.coefficient):g} {_shown(one)}{on(own)}" for one, own in zip(summands, targets, strict=True)]
    shown = f"{name}({' + '.join(parts)})"
    terms = [(1.0, _terms(readout, shown, one, own)) for one, own in zip(summands, targets, strict=True)]
    if isinstance(result, result_types.Sample):
        raise Unsupported(f"{shown}: a sum has no bits of its own; ask for its expectation value")
    readout.observable(shown, "var" if isinstance(result, result_types.Variance) else "expval", weighted_sum(terms))


def _shown(observable: Observable) -> str:
    if isinstance(observable, observables.TensorProduct):
        return " @ ".join(_shown(factor) for factor in observable.factors)
    return str(observable.name)


def _terms(readout: Readout, name: str, observable: Observable, targets: Sequence[int]) -> Terms:
    weight = float(observable.coefficient)
    if isinstance(observable, observables.TensorProduct):
        parts, rest = [], list(targets)
        for factor in observable.factors:
            parts.append(_terms(readout, name, factor, rest[: factor.qubit_count]))
            rest = rest[factor.qubit_count :]
        return weighted_sum([(weight, product(parts))])
    if isinstance(observable, observables.I):
        return {(): weight}
    if isinstance(observable, observables.X | observables.Y | observables.Z):
        return {((targets[0], type(observable).__name__),): weight}
    matrix = np.asarray(observable.to_matrix(), dtype=complex)
    return readout.eigenbasis(name, matrix, targets)
