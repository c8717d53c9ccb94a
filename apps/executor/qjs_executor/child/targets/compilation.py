"""Compiles a circuit into a provider's form, proves that it does the same, and describes how to read the provider's
results.

`readout` of the answer: the provider's results, brought into a list `own` of bits per shot, give the canonical bit
string as `own[bits[0]], own[bits[1]], ...`. For kind "qubits" `own[i]` is the measured value of qubit i; for kind
"clbits" `own` is the program's `registers` one after the other, bit 0 of each first. The answer's own `registers` say
where the canonical string splits, as in the answer of an execution.

A classical bit that nothing measures is 0. Where the program has no such bit, `own` is followed by one 0: its index is
the length of `own`, and `qubits` counts it for kind "qubits".
"""

from __future__ import annotations

from typing import Any

from qiskit import QuantumCircuit
from qiskit.exceptions import QiskitError

from ..circuits.info import describe
from ..circuits.measurement import measured_layout, with_measurements
from ..circuits.openqasm import line_of
from ..circuits.openqasm_text import too_many_qubits
from ..refusals import Unsupported
from .lines import statement_line
from .program import Compiled, Input
from .proof import provable
from .steps import Refused, steps_of
from .target import Target


def compile_circuit(circuit: QuantumCircuit, source: str | None, target: Target) -> dict[str, Any]:
    """The answer to a compilation: format, program (text), media_type, qubits, readout, registers, circuit_info and
    warnings; for `ibm` also layout, the physical qubit where each qubit starts. `source` is the OpenQASM text that the
    circuit came from, for lines. Raises Unsupported naming operation, qubits and line; no operation is ever left out,
    rounded or merged silently."""
    if circuit.num_qubits == 0:
        raise Unsupported("the circuit has no qubits")
    if target.num_qubits is not None and circuit.num_qubits > target.num_qubits:
        wide = too_many_qubits(circuit.num_qubits, "the target", target.num_qubits)
        raise Unsupported(wide, line_of(source, "qubit") or line_of(source, "qreg"))
    if circuit.parameters:
        names = ", ".join(parameter.name for parameter in circuit.parameters[:5])
        raise Unsupported(
            f"the circuit has unbound parameters: {names}; give them values",
            line_of(source, circuit.parameters[0].name),
        )
    measured = with_measurements(circuit)
    layout = measured_layout(measured)
    try:
        registers = _registers(measured)
        given = Input(measured.num_qubits, provable(steps_of(measured)), layout.positions, registers)
        compiled = _compiled(given, target)
    except Refused as refused:
        line = statement_line(source, measured, refused.index, refused.name)
        raise Unsupported(f"target {target.format}: {refused.message}", line) from None
    except QiskitError as error:
        raise Unsupported(f"target {target.format}: the circuit cannot be written ({str(error)[:300]})") from None
    return {
        "format": target.format,
        "program": compiled.program,
        "media_type": compiled.media_type,
        "qubits": _bits_by_qubit(measured.num_qubits, compiled.readout),
        "readout": compiled.readout,
        "registers": layout.registers,
        "circuit_info": describe(measured),
        "warnings": compiled.warnings,
        **compiled.extra,
    }


def _compiled(given: Input, target: Target) -> Compiled:
    """Imports only the target's own libraries: together they take seconds."""
    match target.format:
        case "braket":
            from .braket import compile_braket

            return compile_braket(given, target)
        case "ionq":
            from .ionq import compile_ionq

            return compile_ionq(given)
        case "ibm":
            from .ibm import compile_ibm

            return compile_ibm(given, target)
        case "qasm2":
            from .qasm2 import compile_qasm2

            return compile_qasm2(given)
        case "quil":
            from .quil import compile_quil

            return compile_quil(given)
        case _:
            from .qir import compile_qir

            return compile_qir(given)


def _bits_by_qubit(num_qubits: int, readout: dict[str, Any]) -> int:
    """How many bits `own` has where a provider reports results by qubit: the qubits, and the 0 after them if a bit of
    the canonical string is that one."""
    return num_qubits + 1 if readout["kind"] == "qubits" and num_qubits in readout["bits"] else num_qubits


def _registers(circuit: QuantumCircuit) -> list[tuple[str, list[int]]]:
    """Every classical bit once; one of several registers belongs to the first, a loose one to a register of its own."""
    found: list[tuple[str, list[int]]] = []
    taken: set[Any] = set()
    for register in circuit.cregs:
        bits = [bit for bit in register if bit not in taken]
        taken.update(bits)
        if bits:
            found.append((register.name, [circuit.find_bit(bit).index for bit in bits]))
    loose = [circuit.find_bit(bit).index for bit in circuit.clbits if bit not in taken]
    return [*found, *(("loose", [bit]) for bit in loose)]
