"""Checks whether a routed and optimised circuit does what the circuit specifies, for any number of qubits.

Both are brought into the same form: a list of blocks, each a unitary of two wires, and of measurements and resets. A
one-qubit gate waits on its wire for the next block; gates on the same two wires in a row become one block; a block that
entangles nothing dissolves, and so does a swap, which only renames wires. Then the routed circuit is walked along the
other: each of its blocks has to be the next block of the same wires, except for gates of one qubit, which are carried
forward, and for swaps. The work is linear in the operations; no matrix is larger than that of two qubits.

It proves what a router and a one-qubit optimiser do. It does not follow rewriting across blocks, such as commutation:
it then returns False, and never a wrong True.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from .matrices import SWAP, TOLERANCE, Matrix, equal_up_to_phase, tensor, tensor_factors
from .proof import Statement

_ONE: Matrix = np.eye(2, dtype=complex)


@dataclass
class _Item:
    """A block (two wires, a matrix) or an event (one wire; what the gates before it do is `matrix`)."""

    kind: str
    wires: tuple[int, ...]
    matrix: Matrix
    before: tuple[_Item | None, ...]
    cell: int | None = None
    alive: bool = True


def routed_does(plain: Iterable[Statement], routed: Iterable[Statement], layout: Mapping[int, int]) -> bool:
    """Whether `routed`, on physical qubits, does what `plain` does. `layout`: the physical qubit where each qubit of
    `plain` starts. Gates are of one or two qubits; all qubits start in 0."""
    return _Walk(_Blocks(plain), _Blocks(routed), layout).agrees()


class _Blocks:
    """The blocks of a circuit. Wires have the number of the qubit that they start as."""

    def __init__(self, found: Iterable[Statement]) -> None:
        self.pending: dict[int, Matrix] = {}
        self._items: list[_Item] = []
        self._last: dict[int, _Item | None] = {}
        self._wire: dict[int, int] = {}
        for item in found:
            self._add(item, tuple(self._wire.get(qubit, qubit) for qubit in item.qubits))

    @property
    def items(self) -> list[_Item]:
        return [item for item in self._items if item.alive]

    def _add(self, found: Statement, wires: tuple[int, ...]) -> None:
        if found.kind == "gate":
            assert found.matrix is not None
            if len(wires) == 1:
                self.pending[wires[0]] = found.matrix @ self.pending.get(wires[0], _ONE)
            else:
                self._merge(found.matrix, *wires)
        elif found.kind in ("measure", "reset"):
            self._event(found, wires[0])

    def _event(self, found: Statement, wire: int) -> None:
        matrix = self.pending.pop(wire, _ONE)
        last = self._last.get(wire)
        if found.kind == "reset" and (last is None or last.kind == "reset"):
            return  # The qubit is untangled and is set to 0 as it was.
        item = _Item(found.kind, (wire,), matrix, (last,), found.cell)
        self._items.append(item)
        self._last[wire] = item

    def _merge(self, matrix: Matrix, first: int, second: int) -> None:
        matrix = matrix @ tensor(self.pending.pop(first, _ONE), self.pending.pop(second, _ONE))
        block = self._last.get(first)
        if block is not None and block.kind == "block" and block is self._last.get(second):
            if block.wires != (first, second):
                matrix = SWAP @ matrix @ SWAP
            block.matrix = matrix @ block.matrix
        else:
            before = (self._last.get(first), self._last.get(second))
            block = _Item("block", (first, second), matrix, before)
            self._items.append(block)
            self._last[first] = self._last[second] = block
        self._dissolve(block)

    def _dissolve(self, block: _Item) -> None:
        factors = tensor_factors(block.matrix)
        swapped = factors is None
        if factors is None:
            factors = tensor_factors(SWAP @ block.matrix)
        if factors is None:
            return
        block.alive = False
        for wire, factor, before in zip(block.wires, factors, block.before, strict=True):
            self.pending[wire] = factor
            self._last[wire] = before
        if swapped:
            one, other = block.wires
            for qubit in (one, other):
                self._wire.setdefault(qubit, qubit)
            exchanged = {one: other, other: one}
            self._wire = {qubit: exchanged.get(wire, wire) for qubit, wire in self._wire.items()}


class _Walk:
    def __init__(self, plain: _Blocks, routed: _Blocks, layout: Mapping[int, int]) -> None:
        self._plain = plain
        self._routed = routed
        # Physical qubits that no qubit starts on have wires of their own, with negative numbers.
        self._place = {physical: qubit for qubit, physical in layout.items()}
        self._ahead: dict[int, Matrix] = {}
        self._waiting: dict[int, deque[_Item]] = {}
        self._cells: dict[int, deque[_Item]] = {}
        for item in plain.items:
            for wire in item.wires:
                self._waiting.setdefault(wire, deque()).append(item)
            if item.cell is not None:
                self._cells.setdefault(item.cell, deque()).append(item)

    def agrees(self) -> bool:
        for item in self._routed.items:
            wires = [self._of(wire) for wire in item.wires]
            if not (self._block(item, *wires) if item.kind == "block" else self._event(item, wires[0])):
                return False
        return not any(self._waiting.values()) and self._same_ends()

    def _of(self, wire: int) -> int:
        return self._place.setdefault(wire, -1 - wire)

    def _front(self, wire: int) -> _Item | None:
        waiting = self._waiting.get(wire)
        return waiting[0] if waiting else None

    def _block(self, item: _Item, first: int, second: int) -> bool:
        meant = self._front(first)
        if meant is None or meant.kind != "block" or meant is not self._front(second):
            return False
        matrix = meant.matrix if meant.wires == (first, second) else SWAP @ meant.matrix @ SWAP
        ahead = tensor(self._ahead.get(first, _ONE), self._ahead.get(second, _ONE))
        rest = item.matrix @ ahead @ matrix.conj().T
        factors = tensor_factors(rest)
        if factors is None:
            factors = tensor_factors(SWAP @ rest)
            if factors is None:
                return False
            one, other = item.wires
            self._place[one], self._place[other] = second, first
        self._ahead[first], self._ahead[second] = factors
        for wire in (first, second):
            self._waiting[wire].popleft()
        return True

    def _event(self, item: _Item, wire: int) -> bool:
        meant = self._front(wire)
        if meant is None or meant.kind != item.kind or meant.cell != item.cell:
            return False
        if item.cell is not None and self._cells[item.cell].popleft() is not meant:
            return False
        rest = item.matrix @ self._ahead.pop(wire, _ONE) @ meant.matrix.conj().T
        self._waiting[wire].popleft()
        # Measuring a qubit removes a phase between 0 and 1; a reset removes everything.
        return item.kind == "reset" or max(abs(rest[0, 1]), abs(rest[1, 0])) <= TOLERANCE

    def _same_ends(self) -> bool:
        ends = {self._of(wire): matrix for wire, matrix in self._routed.pending.items()}
        return all(
            equal_up_to_phase(ends.get(wire, _ONE) @ self._ahead.get(wire, _ONE), self._plain.pending.get(wire, _ONE))
            for wire in {*ends, *self._ahead, *self._plain.pending}
        )
