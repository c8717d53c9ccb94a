"""Writes QIR, textual LLVM IR of the base profile, with the QIR alliance's own library.

All gates come first, then every qubit is measured at most once, then the results are recorded: result k is the
k-th canonical bit that something measures. The finished text is parsed again by LLVM.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pyqir
from pyqir import qis, rt

from .expansion import Expansion
from .matrices import HADAMARD, SWAP, Matrix, X, Y, Z, controlled, phase, rotation
from .program import Compiled, Input, by_clbits, left_out, terminal
from .proof import Statement, prove
from .steps import Refused, Step

NAME = "QIR (base profile)"
MEDIA_TYPE = "text/plain"
ENTRY_POINT = "ENTRYPOINT__main"
GATES: dict[str, Callable[..., None]] = {
    "x": qis.x,
    "y": qis.y,
    "z": qis.z,
    "h": qis.h,
    "s": qis.s,
    "sdg": qis.s_adj,
    "t": qis.t,
    "tdg": qis.t_adj,
    "rx": qis.rx,
    "ry": qis.ry,
    "rz": qis.rz,
    "cx": qis.cx,
    "cz": qis.cz,
    "ccx": qis.ccx,
    "swap": qis.swap,
}

_MEANING: dict[str, Matrix] = {
    "x__body": X,
    "y__body": Y,
    "z__body": Z,
    "h__body": HADAMARD,
    "s__body": phase(math.pi / 2),
    "s__adj": phase(-math.pi / 2),
    "t__body": phase(math.pi / 4),
    "t__adj": phase(-math.pi / 4),
    "cnot__body": controlled(X, 1),
    "cz__body": controlled(Z, 1),
    "ccx__body": controlled(X, 2),
    "swap__body": SWAP,
}
_ROTATIONS = {"rx__body": X, "ry__body": Y, "rz__body": Z}
_GATE, _RECORD = "__quantum__qis__", "__quantum__rt__result_record_output"


def compile_qir(given: Input) -> Compiled:
    """The program of a circuit that measures at the end. Raises Refused."""
    steps, measured, warnings = terminal(given.steps, NAME, barriers=False)
    recorded = [clbit for clbit in given.positions if clbit in measured]
    text, counts = write(given, steps, [measured[clbit] for clbit in recorded])
    warnings += left_out(steps, counts)
    sources = {step.clbit: step for step in given.steps if step.kind == "measure"}
    ends = [
        Step("measure", "measure", sources[clbit].operation, (measured[clbit],), sources[clbit].index, cell)
        for cell, clbit in enumerate(recorded)
    ]
    prove([*steps, *ends], [*counts, *(1 for _ in ends)], read(text, len(ends)), NAME)
    cells = {clbit: cell for cell, clbit in enumerate(recorded)}
    bits = [cells.get(clbit, len(cells)) for clbit in given.positions]
    return Compiled(text, MEDIA_TYPE, by_clbits([("results", len(cells))], bits), warnings)


def write(given: Input, steps: list[Step], measured: list[int]) -> tuple[str, list[int]]:
    """The module's text, and how many gates each step has become. `measured`: the qubit of each result."""
    context = pyqir.Context()
    module = pyqir.qir_module(context, "circuit", qir_major_version=2, qir_minor_version=0)
    results = len(measured)
    entry = pyqir.entry_point(module, ENTRY_POINT, given.num_qubits, results, "base_profile", "labeled")
    builder = pyqir.Builder(context)
    builder.insert_at_end(pyqir.BasicBlock(context, "entry", entry))
    rt.initialize(builder, pyqir.Constant.null(pyqir.PointerType(pyqir.Type.void(context))))
    qubits = [pyqir.qubit(context, index) for index in range(given.num_qubits)]
    cells = [pyqir.result(context, index) for index in range(results)]
    expansion = Expansion(GATES, NAME)
    counts = []
    for step in steps:
        calls = expansion.calls(step)
        for call in calls:
            GATES[call.name](builder, *call.params, *(qubits[step.qubits[place]] for place in call.places))
        counts.append(len(calls))
    for cell, qubit in enumerate(measured):
        qis.mz(builder, qubits[qubit], cells[cell])
    size = pyqir.const(pyqir.IntType(context, 64), results)
    rt.array_record_output(builder, size, pyqir.global_byte_string(module, b"results"))
    for cell in range(results):
        rt.result_record_output(builder, cells[cell], pyqir.global_byte_string(module, f"results[{cell}]".encode()))
    builder.ret(None)
    problem = module.verify()
    if problem is not None:
        raise Refused(f"the program in the form of {NAME} is not valid: {problem[:300]}", None, "")
    return str(module), counts


def read(text: str, results: int) -> list[Statement]:
    """The instructions of a module's entry point. Raises Refused when the results are not recorded in order."""
    context = pyqir.Context()
    module = pyqir.Module.from_ir(context, text)
    [entry] = [function for function in module.functions if pyqir.is_entry_point(function)]
    [block] = entry.basic_blocks
    found: list[Statement] = []
    recorded: list[int | None] = []
    for instruction in block.instructions:
        if isinstance(instruction, pyqir.Call):
            name = instruction.callee.name
            if name.startswith(_GATE):
                found.append(_gate(name.removeprefix(_GATE), instruction.args))
            elif name == _RECORD:
                recorded.append(pyqir.ptr_id(instruction.args[0]))
    if recorded != list(range(results)):
        raise Refused(f"the program in the form of {NAME} does not record its results in order", None, "")
    return found


def _gate(name: str, arguments: list[Any]) -> Statement:
    if name == "mz__body":
        qubit, cell = map(pyqir.ptr_id, arguments)
        return Statement("measure", (int(qubit or 0),), cell=cell)
    if name not in _ROTATIONS:
        return Statement("gate", _indices(arguments), _MEANING[name], name)
    angle = arguments[0].value
    return Statement("gate", _indices(arguments[1:]), rotation(_ROTATIONS[name], angle), (name, angle))


def _indices(arguments: list[Any]) -> tuple[int, ...]:
    indices = tuple(pyqir.ptr_id(argument) for argument in arguments)
    if None in indices:
        raise Refused(f"the program in the form of {NAME} has a qubit without a number", None, "")
    return tuple(index for index in indices if index is not None)
