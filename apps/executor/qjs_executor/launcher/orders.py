"""Defines the orders that the shell can give the launcher. An order is a record of one fixed size, so there is nothing
to parse: it names a set of packages or a kind of isolation by its place in a list, and a zygote or a group by the
number that the launcher assigned. It cannot express a path, command, environment or process id. A child is identified
by its pidfd."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import get_args

from ..job import Isolation, ZygoteSet

SETS: tuple[ZygoteSet, ...] = get_args(ZygoteSet)
ISOLATIONS: tuple[Isolation, ...] = get_args(Isolation)

_RECORD = struct.Struct("=BBBBI")
"""Kind, place of the set, place of the isolation, padding, number."""
ORDER_BYTES = _RECORD.size
ANSWER_BYTES_MAX = 4 * 1024
"""An answer is a JSON object: the shell may trust the launcher."""


class Kind(IntEnum):
    """The kinds of order, and whether each is answered."""

    START_ZYGOTE = 1
    """A set and an isolation. Answered with {zygote: number} and two descriptors: its control socket, its pidfd."""
    KILL_ZYGOTE = 2
    """A zygote's number. Not answered: its pidfd shows the exit."""
    MAKE_GROUP = 3
    """A zygote's number, and the pidfd of a child of it, which goes into the group. Answered with {group: number}."""
    ASK_GROUP = 4
    """A group's number. Answered with {out_of_memory: whether the kernel has killed a process of it for memory}."""
    REMOVE_GROUP = 5
    """A group's number. Not answered."""
    KILL_GROUP = 6
    """A group's number: every process of it is killed. Not answered."""


class BadOrder(Exception):
    """The shell never sends this; the launcher stops reading from a sender that does."""


@dataclass(frozen=True)
class Order:
    """One order. `number` is 0 when a zygote is started; only then do the other two matter."""

    kind: Kind
    number: int = 0
    zygote_set: ZygoteSet = SETS[0]
    isolation: Isolation = ISOLATIONS[0]

    def pack(self) -> bytes:
        """The order as a record."""
        places = (SETS.index(self.zygote_set), ISOLATIONS.index(self.isolation))
        return _RECORD.pack(self.kind, *places, 0, self.number)


def unpack(record: bytes, descriptors: int) -> Order:
    """The order in a record that arrived with this many descriptors. Raises BadOrder."""
    if len(record) != ORDER_BYTES:
        raise BadOrder(f"a record of {len(record)} bytes")
    code, set_place, isolation_place, nothing, number = _RECORD.unpack(record)
    try:
        kind = Kind(code)
    except ValueError:
        raise BadOrder(f"kind {code}") from None
    starts = kind is Kind.START_ZYGOTE
    if descriptors != (1 if kind is Kind.MAKE_GROUP else 0):
        raise BadOrder(f"{kind.name} with {descriptors} descriptors")
    if set_place >= (len(SETS) if starts else 1) or isolation_place >= (len(ISOLATIONS) if starts else 1):
        raise BadOrder(f"{kind.name} with set {set_place} and isolation {isolation_place}")
    if nothing or starts == (number > 0):
        raise BadOrder(f"{kind.name} with number {number}")
    return Order(kind, number, SETS[set_place], ISOLATIONS[isolation_place])
