"""Circuits of Cirq, PennyLane, Braket and the marqov SDK as objects, and the exact meaning of what adapters make of them."""

from __future__ import annotations

from typing import Any

import cirq
import numpy as np
from braket.circuits import Circuit as BraketCircuit
from braket.devices import LocalSimulator
from qiskit.quantum_info import Statevector

from qjs_executor.child.adapted_circuit import AdaptedCircuit
from qjs_executor.child.circuits.openqasm import load

from ..conformance.circuit import circuit
from ..conformance.converters import WRITERS

Row = list[tuple[Any, ...]]


def made(language: str, row: Row) -> Any:
    """The framework's own circuit object of a row of gates."""
    names: dict[str, Any] = {}
    exec(WRITERS[language](circuit(row)), names)
    return names["circuit"]


def in_cirq(row: Row) -> Any:
    """A row in Cirq."""
    return made("cirq", row)


def in_pennylane(row: Row) -> Any:
    """A row in PennyLane."""
    return made("pennylane", row)


def in_braket(row: Row) -> Any:
    """A row in Braket."""
    return made("braket", row)


def in_marqov(row: Row) -> Any:
    """A row in the marqov SDK."""
    return made("marqov", row)


def cirq_probabilities(circuit: cirq.Circuit) -> Any:
    return np.abs(cirq.Simulator(dtype=np.complex128).simulate(circuit).final_state_vector) ** 2


def braket_probabilities(circuit: BraketCircuit) -> Any:
    alone = BraketCircuit(circuit.instructions).state_vector()
    return np.abs(LocalSimulator().run(alone, shots=0).result().values[0]) ** 2


def probabilities(found: AdaptedCircuit) -> Any:
    """Exact, by basis state with qubit 0 leftmost, measurements left out."""
    circuit = load(found.openqasm3, 30, "test").remove_final_measurements(inplace=False)
    return Statevector(circuit).reverse_qargs().probabilities()


def bit_probabilities(found: AdaptedCircuit) -> dict[str, float]:
    """Exact probabilities of the counts' bit strings, each register's bit 0 leftmost, for measurements at the end."""
    circuit = load(found.openqasm3, 30, "test")
    qubits = {
        circuit.find_bit(i.clbits[0]).index: circuit.find_bit(i.qubits[0]).index
        for i in circuit.data
        if i.operation.name == "measure"
    }
    circuit = circuit.remove_final_measurements(inplace=False)
    state = Statevector(circuit).probabilities()
    shown: dict[str, float] = {}
    for value, chance in enumerate(state):
        if chance > 1e-12:
            key = "".join(str(value >> qubits[place] & 1) for place in sorted(qubits))
            shown[key] = shown.get(key, 0.0) + float(chance)
    return shown


def expectation(found: AdaptedCircuit, which: int) -> float:
    """An observable's exact value from the bits' probabilities."""
    assert found.observables is not None
    observable = found.observables[which]

    def value(bits: str) -> float:
        return observable.constant + sum(
            c * (-1.0) ** sum(bits[p] == "1" for p in places) for c, places in observable.terms
        )

    chances = bit_probabilities(found)
    mean = sum(chance * value(bits) for bits, chance in chances.items())
    if observable.kind == "expval":
        return mean
    return sum(chance * value(bits) ** 2 for bits, chance in chances.items()) - mean**2
