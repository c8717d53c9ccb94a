"""The table's rows of registers, measured subsets, mid-circuit measurement, reset and classical control."""

from __future__ import annotations

from ..circuit import Circuit, Row, circuit

_HALF: Row = [("ry", 0.8, 0), ("ry", 1.9, 1), ("ry", 2.6, 2), ("cx", 0, 1)]
"""Three qubits with probabilities of their own, so that no two bits can be exchanged unnoticed."""


def _all(size: int, register: str = "c") -> list[tuple[object, ...]]:
    return [("measure", q, register, q) for q in range(size)]


DYNAMIC_ROWS: dict[str, Circuit] = {
    "all measured": circuit([*_HALF, *_all(3)]),
    "all measured the other way round": circuit([*_HALF, ("measure", 0, "c", 2), ("measure", 1, "c", 1), ("measure", 2, "c", 0)]),
    "all measured in a circle": circuit([*_HALF, ("measure", 0, "c", 1), ("measure", 1, "c", 2), ("measure", 2, "c", 0)]),
    "two of three measured": circuit([*_HALF, ("measure", 2, "c", 0), ("measure", 0, "c", 1)]),
    "one of three measured": circuit([*_HALF, ("measure", 1, "c", 0)]),
    "bits that nothing writes": circuit([*_HALF, ("measure", 2, "c", 3), ("measure", 0, "c", 1)], registers={"c": 5}),
    "two registers": circuit([*_HALF, ("measure", 0, "a", 0), ("measure", 1, "b", 0), ("measure", 2, "b", 1)]),
    "three registers of one bit": circuit([*_HALF, ("measure", 2, "a", 0), ("measure", 0, "b", 0), ("measure", 1, "c", 0)]),
    "registers in an order not of the alphabet": circuit([*_HALF, ("measure", 1, "m", 0), ("measure", 2, "m", 1), ("measure", 0, "a", 0)]),
    "two quantum registers": circuit([*_HALF, *_all(3)], qubits=(1, 2)),
    "three quantum registers, two classical": circuit([*_HALF, ("cz", 3, 0), ("ry", 0.4, 3), ("measure", 3, "b", 0), ("measure", 0, "b", 1), ("measure", 2, "a", 0), ("measure", 1, "a", 1)], qubits=(1, 2, 1)),
    "quantum registers without measurement": circuit([*_HALF, ("h", 4)], qubits=(2, 3)),
    "one register measured, one not": circuit([*_HALF, ("measure", 0, "a", 0), ("measure", 1, "a", 1)], qubits=(2, 1)),
    "measured in the middle": circuit([*_HALF, ("measure", 0, "a", 0), ("ry", 0.6, 0), ("measure", 0, "b", 0)]),
    "measured in the middle, entangled": circuit([("h", 0), ("cx", 0, 1), ("measure", 0, "a", 0), ("h", 0), ("ry", 0.3, 1), ("measure", 0, "b", 0), ("measure", 1, "b", 1)]),
    "a register measured in the middle": circuit([*_HALF, ("measure", 1, "a", 0), ("measure", 0, "a", 1), ("cx", 0, 2), ("h", 1), ("measure", 2, "b", 0), ("measure", 1, "b", 1)]),
    "a register measured in parts": circuit([*_HALF, ("measure", 0, "c", 1), ("h", 0), ("measure", 0, "c", 0), ("measure", 2, "c", 2)]),
    "a bit measured twice": circuit([*_HALF, ("measure", 0, "c", 0), ("ry", 0.6, 0), ("measure", 0, "c", 0), ("measure", 1, "d", 0)]),
    "reset at the start": circuit([("reset", 0), ("ry", 0.8, 0), ("cx", 0, 1)]),
    "reset in the middle": circuit([*_HALF, ("reset", 0), ("ry", 0.3, 0), ("cx", 0, 1), *_all(3)]),
    "reset of an entangled qubit": circuit([("ry", 0.8, 0), ("cx", 0, 1), ("reset", 1), ("cx", 0, 2), ("h", 1), *_all(3)]),
    "measured and reset": circuit([("ry", 0.8, 0), ("measure", 0, "a", 0), ("reset", 0), ("ry", 2.1, 0), ("measure", 0, "b", 0)]),
    "one qubit used three times": circuit([("h", 0), ("measure", 0, "a", 0), ("reset", 0), ("ry", 0.8, 0), ("measure", 0, "b", 0), ("reset", 0), ("ry", 2.2, 0), ("measure", 0, "c", 0)]),
    "if on a register of one bit": circuit([("ry", 0.8, 0), ("measure", 0, "a", 0), ("if", ("a", 1), [("ry", 0.9, 1)]), ("measure", 1, "b", 0)]),
    "if on zero": circuit([("ry", 0.8, 0), ("measure", 0, "a", 0), ("if", ("a", 0), [("ry", 0.9, 1)]), ("measure", 1, "b", 0)]),
    "if on a bit": circuit([*_HALF, ("measure", 0, "a", 0), ("measure", 2, "a", 1), ("if", ("a", 1, 1), [("ry", 0.9, 1)]), ("measure", 1, "b", 0)]),
    "if on a bit being zero": circuit([*_HALF, ("measure", 0, "a", 0), ("measure", 2, "a", 1), ("if", ("a", 0, 0), [("ry", 0.9, 1)]), ("measure", 1, "b", 0)]),
    "if on a register of two bits": circuit([*_HALF, ("measure", 0, "a", 0), ("measure", 2, "a", 1), ("if", ("a", 2), [("ry", 0.9, 1)]), ("measure", 1, "b", 0)]),
    "if on each value of a register": circuit([*_HALF, ("measure", 0, "a", 0), ("measure", 2, "a", 1), *(("if", ("a", value), [("ry", 0.3 + value, 1)]) for value in range(4)), ("measure", 1, "b", 0)]),
    "if on a register of three bits": circuit([*_HALF, *_all(3, "a"), ("if", ("a", 6), [("h", 0), ("x", 1)]), ("if", ("a", 1), [("ry", 0.5, 2)]), ("measure", 0, "b", 0), ("measure", 1, "b", 1), ("measure", 2, "b", 2)]),
    "if with several gates": circuit([("ry", 0.8, 0), ("measure", 0, "a", 0), ("if", ("a", 1), [("h", 1), ("cx", 1, 2), ("rz", 0.4, 2), ("rx", 0.7, 2)]), ("measure", 1, "b", 0), ("measure", 2, "b", 1)]),
    "else on one bit": circuit([("ry", 0.8, 0), ("measure", 0, "a", 0), ("if", ("a", 1), [("ry", 0.9, 1)], [("ry", 2.5, 1)]), ("measure", 1, "b", 0)]),
    "else on a register": circuit([*_HALF, ("measure", 0, "a", 0), ("measure", 2, "a", 1), ("if", ("a", 1), [("ry", 0.9, 1)], [("ry", 2.5, 1), ("cx", 1, 2)]), ("measure", 1, "b", 0), ("measure", 2, "b", 1)]),
    "nested if": circuit([*_HALF, ("measure", 0, "a", 0), ("measure", 2, "d", 0), ("if", ("a", 1), [("if", ("d", 1), [("ry", 0.9, 1)])]), ("measure", 1, "b", 0)]),
    "nested if and else": circuit([*_HALF, ("measure", 0, "a", 0), ("measure", 2, "d", 0), ("if", ("a", 1), [("h", 0), ("if", ("d", 1), [("ry", 0.9, 1)], [("ry", 2.0, 1)])], [("if", ("d", 1), [("x", 1)])]), ("measure", 1, "b", 0), ("measure", 0, "b", 1)]),
    "measured under a condition": circuit([("ry", 0.8, 0), ("ry", 1.2, 1), ("measure", 0, "a", 0), ("if", ("a", 1), [("measure", 1, "b", 0)])]),
    "reset under a condition": circuit([("ry", 0.8, 0), ("ry", 1.2, 1), ("measure", 0, "a", 0), ("if", ("a", 1), [("reset", 1)]), ("measure", 1, "b", 0)]),
    "teleportation": circuit([("ry", 1.1, 0), ("rz", 0.6, 0), ("h", 1), ("cx", 1, 2), ("cx", 0, 1), ("h", 0), ("measure", 0, "a", 0), ("measure", 1, "b", 0), ("if", ("b", 1), [("x", 2)]), ("if", ("a", 1), [("z", 2)]), ("rx", 0.4, 2), ("measure", 2, "c", 0)]),
    "correction of a flipped bit": circuit([("ry", 0.7, 0), ("cx", 0, 1), ("cx", 0, 2), ("x", 1), ("cx", 0, 3), ("cx", 1, 3), ("cx", 1, 4), ("cx", 2, 4), ("measure", 3, "err", 0), ("measure", 4, "err", 1), ("if", ("err", 1), [("x", 0)]), ("if", ("err", 3), [("x", 1)]), ("if", ("err", 2), [("x", 2)]), *((("measure", q, "d", q)) for q in range(3))]),
    "phase estimation with one counting qubit": circuit([("x", 1), ("h", 0), ("cp", 2.748893571891069, 0, 1), ("cp", 2.748893571891069, 0, 1), ("h", 0), ("measure", 0, "a", 0), ("reset", 0), ("h", 0), ("cp", 2.748893571891069, 0, 1), ("if", ("a", 1), [("p", -1.5707963267948966, 0)]), ("h", 0), ("measure", 0, "b", 0)]),
    "reset until zero, unrolled": circuit([("ry", 2.0, 0), ("measure", 0, "a", 0), ("if", ("a", 1), [("x", 0), ("ry", 2.0, 0)]), ("measure", 0, "b", 0), ("if", ("b", 1), [("x", 0)]), ("measure", 0, "c", 0)]),
}  # fmt: skip
