"""How circuits are measured for a job's values: in a basis, one circuit after the other, on an engine or elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from qiskit import QuantumCircuit
from qiskit.circuit import Clbit, Measure, Qubit

from ..circuits.measurement import added_register, measured_layout
from ..replay import derived_seed
from .engine import simulate
from .noise import NoiseSpec
from .state_vector import written_out

Sampler = Callable[[QuantumCircuit, str, int], dict[str, int]]
"""Counts of all qubits at the end of a circuit, qubit 0 leftmost, in a basis of one letter for each. The number, from
1, says which of the job's circuits it is: each draws for itself."""


@dataclass(frozen=True)
class Sampling:
    """How a circuit is sampled here: as the counts of the job are."""

    engine: str
    shots: int
    seed: int | None
    optimization_level: int
    source: str | None
    noise: NoiseSpec | None

    def counts(self, circuit: QuantumCircuit, basis: str, number: int) -> dict[str, int]:
        """A `Sampler`."""
        measured = measured_in(circuit, basis)
        seed = None if self.seed is None else derived_seed(self.seed, number)
        memory = simulate(measured, self.engine, self.shots, seed, self.optimization_level, self.source, self.noise)
        counts: dict[str, int] = {}
        for value, count in memory.items():
            key = format(value >> circuit.num_clbits & (1 << circuit.num_qubits) - 1, f"0{circuit.num_qubits}b")[::-1]
            counts[key] = counts.get(key, 0) + count
        return counts


def measured_in(circuit: QuantumCircuit, basis: str) -> QuantumCircuit:
    """The circuit with a measurement of all its qubits in a basis, into a register behind all others."""
    measured = circuit.copy()
    register = added_register(measured, "observed")
    for qubit, letter in zip(measured.qubits, basis, strict=True):
        if letter == "Y":
            measured.sdg(qubit)
        if letter in "XY":
            measured.h(qubit)
    measured.measure(measured.qubits, register)
    return measured


def without_final_measurements(circuit: QuantumCircuit) -> QuantumCircuit:
    """The circuit without the measurements after which nothing happens to the qubit or to the bit."""
    kept: list[Any] = []
    used: set[Qubit | Clbit] = set()
    for item in reversed(circuit.data):
        if item.operation.name == "barrier":
            # One that only separates the measurements says nothing about what is left.
            if not used.isdisjoint(item.qubits):
                kept.append(item)
            continue
        if isinstance(item.operation, Measure) and used.isdisjoint([*item.qubits, *item.clbits]):
            continue
        used.update(_touched(circuit, item))
        kept.append(item)
    left = circuit.copy_empty_like()
    for item in reversed(kept):
        left._append(item)
    return left


def measured_qubits(circuit: QuantumCircuit) -> dict[int, int] | None:
    """The qubit that each place of a bit string shows; bits that nothing measures have none. None for a circuit that
    does not measure at its end only."""
    flat = written_out(circuit)
    if any(item.clbits or getattr(item.operation, "blocks", ()) for item in without_final_measurements(flat).data):
        return None
    qubits = {
        flat.find_bit(item.clbits[0]).index: flat.find_bit(item.qubits[0]).index
        for item in flat.data
        if isinstance(item.operation, Measure)
    }
    positions = measured_layout(circuit).positions
    return {place: qubits[position] for place, position in enumerate(positions) if position in qubits}


def counts_by_qubit(circuit: QuantumCircuit, counts: Mapping[str, int]) -> dict[str, int] | None:
    """The counts of a circuit as those of all its qubits, qubit 0 leftmost; None where it does not measure them all at
    its end. They are then also those of the basis Z."""
    qubits = measured_qubits(circuit)
    if qubits is None or len(qubits) != circuit.num_qubits:
        return None
    places = sorted(qubits, key=lambda place: qubits[place])
    by_qubit: dict[str, int] = {}
    for key, count in counts.items():
        own = "".join(key[place] for place in places)
        by_qubit[own] = by_qubit.get(own, 0) + count
    return by_qubit


def _touched(circuit: QuantumCircuit, item: Any) -> Iterator[Qubit | Clbit]:
    yield from item.qubits
    yield from item.clbits
    # Conditions on variables read bits that the instruction does not list.
    if item.operation.name == "store" or getattr(item.operation, "blocks", ()):
        yield from circuit.clbits
