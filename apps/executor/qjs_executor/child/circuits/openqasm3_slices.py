"""Slices of registers as OpenQASM 3 reads them: both ends belong to the slice, and -1 is the last element.

The importer turns a slice into one of Python, which reads `q[0:-1]` and `q[2:-1:0]` as empty and cuts what leaves the
register.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from openqasm3 import ast
from qiskit_qasm3_import import types
from qiskit_qasm3_import.expression import ValueResolver
from qiskit_qasm3_import.state import State

from ..refusals import Unsupported
from .openqasm3_nodes import nodes


class FaithfulResolver(ValueResolver):  # type: ignore[misc]
    """The importer's values of expressions, but slices as the language has them."""

    def _index_collection(
        self, collection: Any, collection_type: types.Type, indexer: ast.IndexElement, base: ast.QASMNode
    ) -> tuple[Any, types.Type]:
        if isinstance(collection_type, types.BitArray | types.QubitArray):
            indexer = self.spelled_out(indexer, len(collection))
        found: tuple[Any, types.Type] = super()._index_collection(collection, collection_type, indexer, base)
        return found

    def spelled_out(self, indexer: ast.IndexElement, size: int) -> ast.IndexElement:
        """A slice of a register of this size as the set of its indices; any other index as it is."""
        if isinstance(indexer, ast.DiscreteSet) or len(indexer) != 1 or not isinstance(indexer[0], ast.RangeDefinition):
            return indexer
        places = _places(*_parts(self.visit(indexer[0])[0]), size)
        return ast.DiscreteSet([ast.IntegerLiteral(place) for place in places])


def without_slices(condition: ast.Expression, context: State) -> ast.Expression:
    """A condition with every slice as a set of indices: the importer reads conditions with its own resolver."""
    condition = copy.deepcopy(condition)
    resolver = FaithfulResolver(context)
    for node in nodes(condition):
        if isinstance(node, ast.IndexExpression):
            collection, kind = resolver.resolve(node.collection)
            if isinstance(kind, types.BitArray | types.QubitArray):
                node.index = resolver.spelled_out(node.index, len(collection))
    return condition


def _parts(found: slice) -> tuple[int | None, int | None, int]:
    """Start, end and step as the program wrote them; the importer moves the end by one."""
    step = 1 if found.step is None else found.step
    return found.start, None if found.stop is None else found.stop - (1 if step > 0 else -1), step


def _places(start: int | None, end: int | None, step: int, size: int) -> Sequence[int]:
    if step == 0:
        raise Unsupported("OpenQASM 3: slice step cannot be zero")
    if step < 0 and (start is None or end is None):
        raise Unsupported("OpenQASM 3: a slice with a negative step needs both its ends")
    first = _counted(0 if start is None else start, size)
    last = _counted(size - 1 if end is None else end, size)
    places = range(first, last + (1 if step > 0 else -1), step)
    if places and not (0 <= first < size and 0 <= last < size):
        raise Unsupported(f"OpenQASM 3: the slice leaves a register of size {size}")
    return places


def _counted(index: int, size: int) -> int:
    """A negative index counts from the end of the register."""
    return index + size if index < 0 else index
