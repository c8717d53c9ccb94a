"""Families of circuits as collections of benchmarks have them, in several sizes, with what they are known to answer.

The rows are made here from the textbook's definition of each algorithm; no program of a collection is copied.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

from ..circuit import Circuit, circuit

Steps = list[tuple[Any, ...]]


def measured(steps: Steps, qubits: list[int], register: str = "c") -> Steps:
    """The steps, then each qubit into the bit of its place."""
    return [*steps, *(("measure", qubit, register, bit) for bit, qubit in enumerate(qubits))]


def all_h(size: int) -> Steps:
    return [("h", q) for q in range(size)]


def ghz(size: int) -> Steps:
    return [("h", 0), *(("cx", q, q + 1) for q in range(size - 1))]


def cat(size: int) -> Steps:
    return [("h", 0), *(("cx", 0, q) for q in range(1, size)), ("z", 0)]


def w_state(size: int) -> Steps:
    steps: Steps = [("x", 0)]
    for q in range(size - 1):
        steps += [("cry", 2 * math.acos(math.sqrt(1 / (size - q))), q, q + 1), ("cx", q + 1, q)]
    return steps


def qft(qubits: list[int]) -> Steps:
    steps: Steps = []
    for place, target in enumerate(qubits):
        steps.append(("h", target))
        steps += [("cp", math.pi / 2 ** (k - place), qubits[k], target) for k in range(place + 1, len(qubits))]
    return steps + [("swap", qubits[k], qubits[-1 - k]) for k in range(len(qubits) // 2)]


def inverse(steps: Steps) -> Steps:
    """The inverse of gates that are their own inverse or have one angle."""
    return [
        (name, -words[0], *words[1:]) if isinstance(words[0], float) else (name, *words) for name, *words in steps[::-1]
    ]


def phase_estimation(counting: int, turns: float) -> Steps:
    steps: Steps = [("x", counting), *all_h(counting)]
    steps += [("cp", 2 * math.pi * turns * 2 ** (counting - 1 - q), q, counting) for q in range(counting)]
    return measured(steps + inverse(qft(list(range(counting)))), list(range(counting)))


def deutsch_jozsa(size: int, mask: int) -> Steps:
    """The function is constant for mask 0, else the parity of the masked bits."""
    oracle: Steps = [("cx", q, size) for q in range(size) if mask >> q & 1]
    return measured([("x", size), *all_h(size + 1), *oracle, *all_h(size)], list(range(size)))


def grover(size: int, marked: int, rounds: int) -> Steps:
    flip: Steps = [("x", q) for q in range(size) if not marked >> (size - 1 - q) & 1]
    phase: Steps = [(" @ ".join(["ctrl"] * (size - 1) + ["z"]), *range(size))]
    turn = [*all_h(size), *(("x", q) for q in range(size)), *phase, *(("x", q) for q in range(size)), *all_h(size)]
    return all_h(size) + [step for _ in range(rounds) for step in [*flip, *phase, *flip, *turn]]


def walk(steps: int) -> Steps:
    """A walk on a circle of four places; qubit 2 is the coin."""
    shift: Steps = [
        ("ccx", 2, 1, 0),
        ("cx", 2, 1),
        ("x", 2),
        ("x", 1),
        ("ccx", 2, 1, 0),
        ("x", 1),
        ("cx", 2, 1),
        ("x", 2),
    ]
    return [step for _ in range(steps) for step in [("h", 2), *shift]]


def amplitude_estimation(counting: int, theta: float) -> Steps:
    steps: Steps = [("ry", 2 * theta, counting), *all_h(counting)]
    for q in range(counting):
        steps.append(("cry", 4 * theta * 2 ** (counting - 1 - q), q, counting))
    return measured(steps + inverse(qft(list(range(counting)))), list(range(counting)))


def rotations(random_: random.Random, names: tuple[str, ...], size: int) -> Steps:
    return [(name, random_.uniform(-math.pi, math.pi), q) for q in range(size) for name in names]


def ansatz(kind: str, size: int, layers: int) -> Steps:
    names = {
        "real amplitudes": ("ry",),
        "efficient su2": ("ry", "rz"),
        "two local": ("rx", "rz"),
        "dnn": ("ry", "rx", "ry"),
    }[kind]
    random_ = random.Random(f"{kind} {size} {layers}")
    steps = rotations(random_, names, size)
    for _ in range(layers):
        pairs = (
            [(a, b) for a in range(size) for b in range(a + 1, size)]
            if kind == "real amplitudes"
            else [(q, q + 1) for q in range(size - 1)]
        )
        steps += [("cz" if kind == "two local" else "cx", a, b) for a, b in pairs] + rotations(random_, names, size)
    return steps


def qaoa(size: int, layers: int) -> Steps:
    steps = all_h(size)
    for layer in range(layers):
        steps += [("rzz", 0.4 + 0.3 * layer, q, (q + 1) % size) for q in range(size if size > 2 else 1)]
        steps += [("rx", 1.1 - 0.2 * layer, q) for q in range(size)]
    return steps


def trotter(kind: str, size: int, rounds: int) -> Steps:
    terms = {"ising": ("rzz",), "heisenberg": ("rxx", "ryy", "rzz"), "xy": ("rxx", "ryy")}[kind]
    step: Steps = [(name, 0.2, q, q + 1) for q in range(size - 1) for name in terms]
    return [("x", 0), *(one for _ in range(rounds) for one in [*step, *(("rx", 0.3, q) for q in range(size))])]


def ripple_adder(size: int, a: int, b: int) -> Steps:
    """Adds a to b with a carry in front: qubit 0 is the first carry, then b and a alternate, the last is the carry out."""
    bs, as_ = [1 + 2 * k for k in range(size)], [2 + 2 * k for k in range(size)]
    last = 1 + 2 * size
    steps: Steps = [("x", bs[k]) for k in range(size) if b >> k & 1] + [
        ("x", as_[k]) for k in range(size) if a >> k & 1
    ]
    carries = [0, *as_]
    for k in range(size):
        steps += [("cx", as_[k], bs[k]), ("cx", as_[k], carries[k]), ("ccx", carries[k], bs[k], as_[k])]
    steps.append(("cx", as_[-1], last))
    for k in reversed(range(size)):
        steps += [("ccx", carries[k], bs[k], as_[k]), ("cx", as_[k], carries[k]), ("cx", carries[k], bs[k])]
    return measured(steps, [*bs, last])


def draper_adder(size: int, a: int, b: int) -> Steps:
    """b + a modulo 2^size; qubit 0 is the most significant."""
    qubits = list(range(size))
    steps: Steps = [("x", q) for q in qubits if b >> (size - 1 - q) & 1]
    # Without the swaps at its end the transform leaves the qubits in this order already.
    turns: Steps = [("p", 2 * math.pi * a / 2 ** (size - q), q) for q in qubits]
    forward = qft(qubits)
    return [
        *steps,
        *forward[: len(forward) - size // 2],
        *turns,
        *inverse(forward[: len(forward) - size // 2]),
    ]


def multiplier(a: int, b: int) -> Steps:
    """Two bits times two bits into four, by ANDs and a half adder each."""
    steps: Steps = [("x", q) for q, bit in enumerate((a & 1, a >> 1, b & 1, b >> 1)) if bit]
    steps += [("ccx", 0, 2, 4), ("ccx", 1, 2, 5), ("ccx", 0, 3, 6), ("ccx", 1, 3, 7)]
    return measured([*steps, ("ccx", 5, 6, 8), ("cx", 6, 5), ("ccx", 7, 8, 9), ("cx", 8, 7)], [4, 5, 7, 9])


def swap_test(angle: float) -> Steps:
    return measured([("ry", angle, 1), ("ry", 0.4, 2), ("h", 0), ("cswap", 0, 1, 2), ("h", 0)], [0])


def teleportation(theta: float, phi: float) -> Steps:
    pair: Steps = [
        ("ry", theta, 0),
        ("rz", phi, 0),
        ("h", 1),
        ("cx", 1, 2),
        ("cx", 0, 1),
        ("h", 0),
        ("measure", 0, "a", 0),
    ]
    corrections: Steps = [("measure", 1, "b", 0), ("if", ("b", 1), [("x", 2)]), ("if", ("a", 1), [("z", 2)])]
    return [*pair, *corrections, ("rz", -phi, 2), ("ry", -theta, 2), ("measure", 2, "c", 0)]


def repetition_code(flipped: int | None, state: int) -> Steps:
    steps: Steps = [
        *([("x", 0)] if state else []),
        ("cx", 0, 1),
        ("cx", 0, 2),
        *([("x", flipped)] if flipped is not None else []),
    ]
    steps += [
        ("cx", 0, 3),
        ("cx", 1, 3),
        ("cx", 1, 4),
        ("cx", 2, 4),
        ("measure", 3, "syndrome", 0),
        ("measure", 4, "syndrome", 1),
    ]
    steps += [("if", ("syndrome", value), [("x", q)]) for value, q in ((1, 0), (3, 1), (2, 2))]
    return measured(steps, [0, 1, 2])


def repeated_syndrome(rounds: int) -> Steps:
    steps: Steps = [("h", 0), ("cx", 0, 1)]
    for number in range(rounds):
        steps += [("cx", 0, 2), ("cx", 1, 2), ("measure", 2, f"s{number}", 0), ("reset", 2)]
    return measured(steps, [0, 1])


def simon(secret: int) -> Steps:
    low = (secret & -secret).bit_length() - 1
    oracle: Steps = [("cx", q, q + 2) for q in range(2)] + [("cx", low, q + 2) for q in range(2) if secret >> q & 1]
    return measured([*all_h(2), *oracle, *all_h(2)], [0, 1])


def order_finding(base: int) -> Steps:
    """The hidden period of multiplication modulo 3 on one qubit: an x for the base 2, nothing for 1."""
    return measured([*all_h(2), *([("cx", 1, 2)] if base == 2 else []), *inverse(qft([0, 1]))], [0, 1])


def clifford_t(size: int, seed: int) -> Steps:
    random_ = random.Random(seed)
    steps: Steps = []
    for _ in range(12 * size):
        name = random_.choice(["h", "s", "sdg", "t", "tdg", "x", "cx", "cx", "cz"])
        steps.append((name, *random_.sample(range(size), 2 if name in ("cx", "cz") else 1)))
    return steps


def basis_change(size: int, seed: int) -> Steps:
    random_ = random.Random(seed)
    steps: Steps = [("x", q) for q in range(size // 2)]
    for a in range(size - 1):
        steps += [("rz", random_.uniform(-3, 3), a), ("xx_plus_yy", random_.uniform(-3, 3), 0.0, a, a + 1)]
    return steps


def qram(address: int) -> Steps:
    """Reads one of four bits (1, 0, 1, 1) by a superposed or fixed address."""
    steps: Steps = all_h(2) if address == 4 else [("x", q) for q in range(2) if address >> q & 1]
    for cell in (0, 2, 3):
        around: Steps = [("x", q) for q in range(2) if not cell >> q & 1]
        steps += [*around, ("ccx", 0, 1, 2), *around]
    return steps


def knn(angle: float) -> Steps:
    return measured(
        [
            ("h", 0),
            ("ry", angle, 1),
            ("ry", 0.9, 3),
            ("cx", 3, 4),
            ("cx", 1, 2),
            ("cswap", 0, 1, 3),
            ("cswap", 0, 2, 4),
            ("h", 0),
        ],
        [0],
    )


def random_dynamic(seed: int, bits: int = 2) -> Steps:
    """Conditions also compare with numbers that the register cannot have."""
    random_ = random.Random(seed)
    steps: Steps = all_h(3)
    for _ in range(10):
        q = random_.randrange(3)
        kind = random_.choice(["gate", "measure", "reset", "if"])
        gate = (random_.choice(["x", "h", "s", "t"]), q)
        choices: dict[str, Steps] = {
            "gate": [gate, ("cx", q, (q + 1) % 3)],
            "measure": [("measure", q, "m", random_.randrange(bits))],
            "reset": [("reset", q)],
            "if": [("if", ("m", random_.randrange(4)), [gate])],
        }
        steps += choices[kind]
    return measured([("measure", 0, "m", 0), *steps], [0, 1, 2])


def _rows() -> Iterator[tuple[str, str, Circuit]]:
    def of(family: str, size: object, steps: Steps, **fields: Any) -> tuple[str, str, Circuit]:
        return family, f"{family} {size}", circuit(steps, **fields)

    for size in range(2, 8):
        yield of("ghz", size, ghz(size))
        yield of("cat", size, cat(size))
        yield of("w", size, w_state(size))
        yield of("draper adder", size, draper_adder(size, 3, 5 % 2**size))
    for size in range(2, 7):
        yield of("fourier", size, [("x", 0), *qft(list(range(size)))])
        yield of("fourier back", size, [("ry", 0.7, 1), *inverse(qft(list(range(size))))])
        yield of("ising", size, trotter("ising", size, 3))
        yield of("heisenberg", size, trotter("heisenberg", size, 2))
        yield of("xy chain", size, trotter("xy", size, 2))
        yield of("basis change", size, basis_change(size, size))
        for kind in ("real amplitudes", "efficient su2", "two local", "dnn"):
            yield of(kind, size, ansatz(kind, size, 2))
        for layers in (1, 2):
            yield of("qaoa", f"{size} in {layers} layers", qaoa(size, layers))
        for seed in (1, 2):
            yield of("clifford and t", f"{size} number {seed}", clifford_t(size, 10 * size + seed))
    for counting, turns in ((2, 1 / 4), (3, 5 / 8), (4, 3 / 16), (3, 1 / 3), (4, 0.21), (5, 1 / 7)):
        yield of("phase estimation", f"{counting} of {turns:.3f}", phase_estimation(counting, turns))
    for counting, theta in ((2, math.pi / 4), (3, math.pi / 8), (3, 0.5), (4, 0.9)):
        yield of("amplitude estimation", f"{counting} of {theta:.2f}", amplitude_estimation(counting, theta))
    for mask in (0, 1, 5, 7):
        yield of("deutsch-jozsa", mask, deutsch_jozsa(3, mask))
    for mask in (1, 6, 11, 15, 21):
        yield of("bernstein-vazirani", mask, deutsch_jozsa(5, mask))
    for size, marked, rounds in ((2, 3, 1), (2, 0, 1), (3, 5, 1), (3, 5, 2), (4, 9, 3)):
        yield of("grover", f"{size} for {marked} in {rounds}", grover(size, marked, rounds))
    for steps in range(1, 6):
        yield of("walk", steps, walk(steps))
    for size, a, b in ((1, 1, 1), (2, 3, 1), (2, 2, 3), (3, 5, 6)):
        yield of("ripple adder", f"{a} + {b}", ripple_adder(size, a, b))
    for a, b in ((1, 1), (2, 3), (3, 3), (3, 0)):
        yield of("multiplier", f"{a} * {b}", multiplier(a, b))
    for angle in (0.0, 0.4, 1.3, math.pi):
        yield of("swap test", f"{angle:.1f}", swap_test(angle))
        yield of("knn", f"{angle:.1f}", knn(angle))
    for theta, phi in ((0.3, 0.0), (1.2, 0.7), (2.9, -2.0)):
        yield of("teleportation", theta, teleportation(theta, phi))
    for flipped in (None, 0, 1, 2):
        for state in (0, 1):
            yield of("repetition code", f"{state}, error {flipped}", repetition_code(flipped, state))
    for rounds in (1, 2, 3):
        yield of("repeated syndrome", rounds, repeated_syndrome(rounds))
    for secret in (1, 2, 3):
        yield of("simon", secret, simon(secret))
    for base in (1, 2):
        yield of("order finding", base, order_finding(base))
    for address in range(5):
        yield of("qram", address, qram(address))
    for seed in range(12):
        yield of("random dynamic", seed, random_dynamic(seed), registers={"m": 2, "c": 3})
        yield of("random dynamic narrow", seed, random_dynamic(seed, 1), registers={"m": 1, "c": 3})
    for power in (0.5, 2.0, -1.0):
        for modifier in ("ctrl", "negctrl", "inv", "ctrl @ negctrl", "ctrl @ inv"):
            controls = modifier.count("ctrl")
            yield of(
                "modifiers",
                f"{modifier} {power}",
                [
                    *all_h(controls + 1),
                    (f"{modifier} @ pow({power}) @ s", *range(controls + 1)),
                    ("ry", 0.6, controls),
                    *all_h(controls + 1),
                ],
            )
    for first in (1, 2, 3):
        yield of("several registers", first, ghz(5), qubits=(first, 5 - first))
        yield of("unmeasured bits", first, measured(ghz(3), list(range(first))), registers={"c": 4, "never": 2})


ROWS = list(_rows())
FAMILIES: dict[str, Circuit] = {name: row for _, name, row in ROWS}
FAMILY_OF: dict[str, str] = {name: family for family, name, _ in ROWS}

ANSWERS: dict[str, str] = {
    "phase estimation 3 of 0.625": "101",
    "phase estimation 4 of 0.188": "0011",
    "deutsch-jozsa 0": "000",
    "bernstein-vazirani 11": "11010",
    "grover 2 for 3 in 1": "11",
    "ripple adder 5 + 6": "1101",
    "draper adder 4": "1000",
    "multiplier 3 * 3": "1001",
    "multiplier 2 * 3": "0110",
    "qram 2": "011",
}
"""The one outcome that an algorithm is known to give."""
