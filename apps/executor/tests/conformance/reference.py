"""What a circuit does, exactly, by numpy alone: its unitary, and the probabilities of its bit strings.

Measurement and reset branch: every branch is a state that is not normalised, so that its norm is its probability, and
the classical bits that led to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from .circuit import Circuit, Condition, Gate, If, Measure, Reset, Step, every
from .gates import Matrix, matrix_of

NEGLIGIBLE = 1e-24
"""Squared norm of a branch that rounding alone has made."""


@dataclass(frozen=True)
class Branch:
    """One way that the measurements may go: a state with an axis per qubit, qubit 0 first, and the bits so far."""

    state: Matrix
    bits: dict[tuple[str, int], int]

    def applied(self, matrix: Matrix, qubits: Sequence[int]) -> Branch:
        """The state after a matrix on some qubits, the first the most significant."""
        return replace(self, state=apply(self.state, matrix, qubits))

    def outcomes(self, qubit: int) -> list[tuple[int, Branch]]:
        """The values that a measurement of a qubit may give, each with what is then left."""
        found = []
        for value in (0, 1):
            state = self.state.copy()
            state[(slice(None),) * qubit + (1 - value,)] = 0
            if float(np.vdot(state, state).real) > NEGLIGIBLE:
                found.append((value, replace(self, state=state)))
        return found

    def measured(self, qubit: int, bit: tuple[str, int]) -> list[Branch]:
        """The branches after a measurement into a bit."""
        return [replace(left, bits={**self.bits, bit: value}) for value, left in self.outcomes(qubit)]

    def reset(self, qubit: int) -> list[Branch]:
        """The branches after a reset."""
        flip: Matrix = np.array([[0, 1], [1, 0]], dtype=complex)
        return [left.applied(flip, [qubit]) if value else left for value, left in self.outcomes(qubit)]


def start(width: int) -> Branch:
    """All qubits 0, nothing measured."""
    state: Matrix = np.zeros((2,) * width, dtype=complex)
    state[(0,) * width] = 1
    return Branch(state, {})


def apply(tensor: Matrix, matrix: Matrix, qubits: Sequence[int]) -> Matrix:
    """A matrix on some axes of a tensor."""
    size = len(qubits)
    parted = matrix.reshape((2,) * (2 * size))
    moved = np.tensordot(parted, tensor, axes=(range(size, 2 * size), list(qubits))).astype(np.complex128)
    return np.moveaxis(moved, range(size), list(qubits))


def unitary(circuit: Circuit) -> Matrix:
    """The matrix of a circuit's gates, qubit 0 most significant; measurements at its end are left out."""
    size = 1 << circuit.width
    tensor: Matrix = np.eye(size, dtype=np.complex128).reshape((2,) * circuit.width + (size,))
    for step in circuit.steps[: len(circuit.steps) - circuit.final_measurements()]:
        assert isinstance(step, Gate), f"{step} has no matrix"
        tensor = apply(tensor, matrix_of(step), step.qubits)
    return tensor.reshape(size, size)


def probabilities(circuit: Circuit) -> dict[str, float]:
    """Exact, by bit string as the counts show it: the registers that are measured into somewhere, in order, each
    register's bit 0 leftmost; or every qubit, qubit 0 leftmost."""
    if not circuit.registers:
        chances = np.abs(_run(circuit.steps, [start(circuit.width)])[0].state.ravel()) ** 2
        return {f"{k:0{circuit.width}b}": float(chance) for k, chance in enumerate(chances) if chance > NEGLIGIBLE}
    shown = [
        (register, bit)
        for register, size in circuit.registers.items()
        for bit in range(size)
        if any(measure.register == register for measure in every(circuit.steps, Measure))
    ]
    return by_bits(_run(circuit.steps, [start(circuit.width)]), shown)


def by_bits(branches: Sequence[Branch], shown: Sequence[tuple[str, int]]) -> dict[str, float]:
    """The branches' probabilities by the values of some bits; one that a branch never wrote is 0."""
    found: dict[str, float] = {}
    for branch in branches:
        key = "".join(str(branch.bits.get(bit, 0)) for bit in shown)
        found[key] = found.get(key, 0.0) + float(np.vdot(branch.state, branch.state).real)
    return found


def _run(steps: Sequence[Step], branches: list[Branch]) -> list[Branch]:
    for step in steps:
        branches = [after for branch in branches for after in _after(step, branch)]
    return branches


def _after(step: Step, branch: Branch) -> list[Branch]:
    match step:
        case Gate():
            return [branch.applied(matrix_of(step), step.qubits)]
        case Measure():
            return branch.measured(step.qubit, (step.register, step.bit))
        case Reset():
            return branch.reset(step.qubit)
        case If():
            return _run(step.then if _holds(step.condition, branch) else step.otherwise, [branch])


def _holds(condition: Condition, branch: Branch) -> bool:
    if condition.bit is not None:
        return branch.bits.get((condition.register, condition.bit), 0) == condition.value
    value = sum(value << bit for (register, bit), value in branch.bits.items() if register == condition.register)
    return value == condition.value
