"""Circuits and observables of Qiskit as the service reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import product

import numpy as np
from qiskit import QuantumCircuit, QuantumRegister, qasm3
from qiskit.circuit import Measure, Reset
from qiskit.circuit.controlflow import ForLoopOp, IfElseOp, SwitchCaseOp, WhileLoopOp
from qiskit.circuit.library import get_standard_gate_name_mapping
from qiskit.transpiler import Target

from .errors import unsupported

GATES = (
    *("id", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "rx", "ry", "rz", "p", "u", "cx", "cy", "cz", "ch"),
    *("cp", "crx", "cry", "crz", "cu", "swap", "ccx", "cswap"),
)
"""Those of stdgates.inc, which every circuit can be written with."""
TERMS_MAX = 1_000
"""Products of Pauli matrices of one job or point; docs/observables.md."""


def text_of(circuit: QuantumCircuit) -> str:
    """The circuit in OpenQASM 3, with its numbers exact and its registers under their names. Raises Refused for what
    cannot be written so."""
    bits = [bit for register in circuit.cregs for bit in register]
    if len(set(bits)) != len(bits):
        raise unsupported(f"circuit '{circuit.name}': registers that share bits cannot be sent")
    if circuit.parameters:
        names = ", ".join(parameter.name for parameter in circuit.parameters[:5])
        raise unsupported(f"circuit '{circuit.name}' has parameters without a value: {names}")
    taken = {register.name for register in circuit.cregs}
    name = "q"
    while name in taken:
        name += "_"
    # All qubits in one register, in the order of their index.
    loose = [bit for bit in circuit.clbits if bit not in set(bits)]
    whole = QuantumCircuit(QuantumRegister(circuit.num_qubits, name), loose, *circuit.cregs)
    whole.compose(circuit, whole.qubits, circuit.clbits, inplace=True)
    # A phase of the whole circuit shows nowhere, and Qiskit's writer has no statement for the gate.
    whole.data = [item for item in whole.data if item.operation.name != "global_phase"]
    try:
        text: str = qasm3.dumps(whole, disable_constants=True, includes=("stdgates.inc",))
    except Exception as error:
        raise unsupported(f"circuit '{circuit.name}' has no OpenQASM 3 form: {error}") from error
    if "gate global_phase(" in text:
        raise unsupported(f"circuit '{circuit.name}': a global phase within a gate cannot be sent; decompose the gate")
    for register in circuit.cregs:
        if f"bit[{register.size}] {register.name};" not in text:
            raise unsupported(f"register '{register.name}' cannot keep its name in OpenQASM 3: give it another")
    return text


def pauli_sum(observable: Mapping[str, complex]) -> str:
    """An observable of a pub as the service writes it: qubit 0 leftmost, and projectors (0, 1, +, -, r, l) as sums."""
    terms: dict[str, float] = {}
    for label, factor in observable.items():
        if np.imag(factor) != 0:
            raise unsupported(f"observable {label} has the complex factor {factor}; only Hermitian ones have a value")
        for letters in product(*(_LETTERS[letter] for letter in reversed(label))):
            word = "".join(letter for letter, _ in letters)
            share = float(np.real(factor)) * math.prod(part for _, part in letters)
            terms[word] = terms.get(word, 0.0) + share
        if len(terms) > TERMS_MAX:
            raise unsupported(f"an observable has more than {TERMS_MAX:,} products of Pauli matrices")
    return "".join(f"{'-' if factor < 0 else '+'}{abs(factor)!r}*{word}" for word, factor in terms.items())


_LETTERS: dict[str, list[tuple[str, float]]] = {
    **{letter: [(letter, 1.0)] for letter in "IXYZ"},
    **{
        plus_minus[sign]: [("I", 0.5), (letter, 0.5 if sign == 0 else -0.5)]
        for letter, plus_minus in (("Z", "01"), ("X", "+-"), ("Y", "rl"))
        for sign in (0, 1)
    },
}
"""A letter of a label as a sum of Pauli matrices."""


def target_of(num_qubits: int | None, simulator: bool) -> Target:
    """Every standard gate between any qubits; the service itself compiles for the couplings of a quantum computer."""
    target = Target(num_qubits=num_qubits)
    known = get_standard_gate_name_mapping()
    for name in GATES:
        target.add_instruction(known[name], name=name)
    target.add_instruction(Measure())
    if simulator:
        target.add_instruction(Reset())
        for operation, name in (
            (IfElseOp, "if_else"),
            (WhileLoopOp, "while_loop"),
            (ForLoopOp, "for_loop"),
            (SwitchCaseOp, "switch_case"),
        ):
            target.add_instruction(operation, name=name)
    return target
