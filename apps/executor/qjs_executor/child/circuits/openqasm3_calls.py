"""Reads long OpenQASM 3 programs that only call gates, as exporters and this service's own converters write them.

The parser takes about a millisecond for each statement. Such a program has tens of thousands of them and few different
gates, so each gate with its modifiers and angles is read once, by the reader of all programs, and placed wherever it is
called. What does not have exactly this form is left to that reader, with all errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister
from qiskit.circuit import CircuitInstruction

from ..refusals import JobError

STATEMENTS_MIN = 200
"""Shorter programs are read quickly enough as they are."""
_BEGIN = re.compile(
    r'OPENQASM 3(?:\.\d)?;\s*include "stdgates\.inc";\s*qubit\[(\d{1,4})\] q;\s*((?:bit\[\d{1,5}\] [A-Za-z]\w*;\s*)*)'
)
_BITS = re.compile(r"bit\[(\d+)\] (\w+);")
_CALL = re.compile(r"((?:ctrl(?:\(\d{1,2}\))? @ |inv @ )*[a-z]\w*(?:\([-0-9.e, ]*\))?) (q\[\d+\](?:, ?q\[\d+\])*);\s*")
_MEASURE = re.compile(r"(\w+)\[(\d+)\] = measure q\[(\d+)\];\s*")
_INDEX = re.compile(r"\d+")

Reader = Callable[[str, int], QuantumCircuit]
"""Reads a program for so many qubits. Raises JobError."""


def read_calls(text: str, max_qubits: int, read: Reader) -> QuantumCircuit | None:
    """The circuit of a program of calls and measurements; None for any other program, and for one with an error."""
    begin = _BEGIN.match(text) if text.count(";") >= STATEMENTS_MIN else None
    if begin is None or not 0 < int(begin[1]) <= max_qubits:
        return None
    num_qubits = int(begin[1])
    registers = {name: int(size) for size, name in _BITS.findall(begin[2])}
    if len(registers) < begin[2].count(";") or "q" in registers or not all(registers.values()):
        return None
    circuit = QuantumCircuit(QuantumRegister(num_qubits, "q"))
    for name, size in registers.items():
        circuit.add_register(ClassicalRegister(size, name))
    heads: dict[tuple[str, int], list[CircuitInstruction] | None] = {}
    place = begin.end()
    while place < len(text):
        call = _CALL.match(text, place)
        if call is None:
            measure = _MEASURE.match(text, place)
            if measure is None or not _measure(circuit, registers, measure[1], int(measure[2]), int(measure[3])):
                return None
            place = measure.end()
            continue
        qubits = [int(index) for index in _INDEX.findall(call[2])]
        if max(qubits) >= num_qubits or len(set(qubits)) < len(qubits):
            return None
        key = call[1], len(qubits)
        if key not in heads:
            heads[key] = _head(*key, read)
        parts = heads[key]
        if parts is None:
            return None
        for part in parts:
            circuit._append(part.replace(qubits=[circuit.qubits[qubits[bit._index]] for bit in part.qubits]))
        place = call.end()
    return circuit


def _measure(circuit: QuantumCircuit, registers: dict[str, int], name: str, bit: int, qubit: int) -> bool:
    if bit >= registers.get(name, 0) or qubit >= circuit.num_qubits:
        return False
    circuit.measure(qubit, next(register for register in circuit.cregs if register.name == name)[bit])
    return True


def _head(head: str, num_qubits: int, read: Reader) -> list[CircuitInstruction] | None:
    """The instructions of a call on the qubits 0, 1, ...; None where it has an error."""
    places = ", ".join(f"q[{place}]" for place in range(num_qubits))
    program = f'OPENQASM 3.0; include "stdgates.inc"; qubit[{num_qubits}] q; {head} {places};'
    try:
        circuit = read(program, num_qubits)
    except JobError:
        return None
    return list(circuit.data) if circuit.global_phase == 0 else None
