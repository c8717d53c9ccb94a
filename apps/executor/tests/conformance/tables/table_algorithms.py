"""The table's rows of whole algorithms, and of random circuits with fixed seeds."""

from __future__ import annotations

import math
import random
from typing import Any

from ..circuit import Circuit, circuit

Steps = list[tuple[Any, ...]]

_CLIFFORDS = (
    ("h", 1),
    ("s", 1),
    ("sdg", 1),
    ("x", 1),
    ("y", 1),
    ("z", 1),
    ("sx", 1),
    ("cx", 2),
    ("cz", 2),
    ("cy", 2),
    ("swap", 2),
)


def fourier(size: int) -> Steps:
    """The quantum Fourier transform, on a register whose qubit 0 is the most significant."""
    steps: Steps = []
    for target in range(size):
        steps.append(("h", target))
        steps += [("cp", math.pi / 2 ** (low - target), low, target) for low in range(target + 1, size)]
    return steps + [("swap", q, size - 1 - q) for q in range(size // 2)]


def inverse_fourier(size: int) -> Steps:
    """Its inverse: the gates turned round and in the opposite order."""
    return [("cp", -step[1], *step[2:]) if step[0] == "cp" else step for step in reversed(fourier(size))]


def _ghz(size: int) -> Steps:
    return [("h", 0), *(("cx", q, q + 1) for q in range(size - 1))]


def _w(size: int) -> Steps:
    """One excitation, shared by all qubits alike."""
    steps: Steps = [("x", 0)]
    for q in range(size - 1):
        angle = 2 * math.acos(math.sqrt(1 / (size - q)))
        steps += [("ry", angle / 2, q + 1), ("cz", q, q + 1), ("ry", -angle / 2, q + 1), ("cx", q + 1, q)]
    return steps


def _grover_2(marked: str) -> Steps:
    flips: Steps = [("x", q) for q, bit in enumerate(marked) if bit == "0"]
    diffusion: Steps = [("h", 0), ("h", 1), ("x", 0), ("x", 1), ("cz", 0, 1), ("x", 0), ("x", 1), ("h", 0), ("h", 1)]
    return [("h", 0), ("h", 1), *flips, ("cz", 0, 1), *flips, *diffusion]


def _grover_3() -> Steps:
    """Marks 101, in two rounds."""
    everywhere: Steps = [("h", q) for q in range(3)]
    flips: Steps = [("x", q) for q in range(3)]
    reflection: Steps = [("h", 2), ("ccx", 0, 1, 2), ("h", 2)]
    once: Steps = [("x", 1), *reflection, ("x", 1), *everywhere, *flips, *reflection, *flips, *everywhere]
    return [*everywhere, *once, *once]


def _phase_estimation(counting: int, fraction: float) -> Steps:
    """Of a phase gate on the last qubit; its eigenvalue is e^(2 pi i fraction)."""
    steps: Steps = [("x", counting), *(("h", q) for q in range(counting))]
    for q in range(counting):
        steps.append(("cp", 2 * math.pi * fraction * 2 ** (counting - 1 - q), q, counting))
    return steps + inverse_fourier(counting)


def _bernstein(secret: str) -> Steps:
    last = len(secret)
    around: Steps = [("h", q) for q in range(last)]
    return [
        ("x", last),
        ("h", last),
        *around,
        *(("cx", q, last) for q, bit in enumerate(secret) if bit == "1"),
        *around,
    ]


def _adder() -> Steps:
    """1 + 1 with a carry: qubits a, b, carry, sum of two bits."""
    return [("x", 0), ("x", 1), ("h", 2), ("ccx", 0, 1, 3), ("cx", 0, 1), ("ccx", 1, 2, 3), ("cx", 1, 2), ("cx", 0, 1)]


def _ansatz(size: int, layers: int, seed: int) -> Steps:
    """Rotations with bound parameters and a ring of controlled gates, as variational programs have it."""
    dice = random.Random(seed)
    steps: Steps = []
    for _ in range(layers):
        steps += [(name, dice.uniform(-math.pi, math.pi), q) for q in range(size) for name in ("ry", "rz")]
        steps += [("cx", q, (q + 1) % size) for q in range(size)]
    return steps


def _trotter(size: int, rounds: int) -> Steps:
    """A Heisenberg chain in a field."""
    bonds: Steps = [(name, 0.3, q, q + 1) for q in range(size - 1) for name in ("rxx", "ryy", "rzz")]
    field: Steps = [("rx", 0.2 + 0.1 * q, q) for q in range(size)]
    return [("x", 0), *(bonds + field) * rounds]


def random_clifford(size: int, length: int, seed: int) -> Steps:
    """Random gates of the Clifford group."""
    dice = random.Random(seed)
    steps: Steps = [("h", q) for q in range(size)]
    for _ in range(length):
        name, qubits = dice.choice(_CLIFFORDS)
        steps.append((name, *dice.sample(range(size), qubits)))
    return steps


def random_dense(size: int, layers: int, seed: int) -> Steps:
    """Layers of random one-qubit gates on every qubit, and of two-qubit gates on random pairs."""
    dice = random.Random(seed)
    steps: Steps = []
    for _ in range(layers):
        steps += [("u3", *(dice.uniform(-math.pi, math.pi) for _ in range(3)), q) for q in range(size)]
        order = dice.sample(range(size), size)
        for left, right in zip(order[::2], order[1::2], strict=False):
            name = dice.choice(("cx", "cz", "iswap", "rzz", "crx", "cp"))
            angle = (dice.uniform(-math.pi, math.pi),) if name in ("rzz", "crx", "cp") else ()
            steps.append((name, *angle, left, right))
    return steps


ALGORITHM_ROWS: dict[str, Circuit] = {
    name: circuit(steps)
    for name, steps in {
        "bell": _ghz(2),
        "bell the other way": [("h", 1), ("cx", 1, 0)],
        "ghz of 3": _ghz(3),
        "ghz of 6": _ghz(6),
        "w of 3": _w(3),
        "w of 4": _w(4),
        "x on the first of 4": [("x", 0), ("id", 3)],
        "x on the last of 4": [("x", 3)],
        "fourier of 3": [("x", 0), ("ry", 0.7, 1), *fourier(3), ("ry", 0.3, 0), ("rx", 0.4, 2)],
        "fourier of 4": [("x", 1), ("ry", 0.7, 2), *fourier(4), ("ry", 0.3, 0), ("rx", 0.4, 3)],
        "fourier of 5": [("x", 4), ("ry", 0.7, 1), *fourier(5), ("ry", 0.3, 0), ("rx", 0.4, 2)],
        "fourier there and back": [("x", 0), ("ry", 0.7, 2), *fourier(3), *inverse_fourier(3)],
        "grover for 01": _grover_2("01"),
        "grover for 11": _grover_2("11"),
        "grover of 3": _grover_3(),
        "deutsch and jozsa": [("x", 2), ("h", 0), ("h", 1), ("h", 2), ("cx", 0, 2), ("cx", 1, 2), ("h", 0), ("h", 1)],
        "bernstein and vazirani": _bernstein("1011"),
        "simon": [("h", 0), ("h", 1), ("cx", 0, 2), ("cx", 0, 3), ("cx", 1, 2), ("cx", 1, 3), ("h", 0), ("h", 1)],
        "phase estimation of 3/8": _phase_estimation(3, 3 / 8),
        "phase estimation of a third": _phase_estimation(4, 1 / 3),
        "teleportation with deferred control": [
            ("ry", 1.1, 0), ("rz", 0.6, 0), ("h", 1), ("cx", 1, 2), ("cx", 0, 1), ("h", 0), ("cx", 1, 2), ("cz", 0, 2), ("rx", 0.4, 2),
        ],
        "superdense coding of 10": [("h", 0), ("cx", 0, 1), ("z", 0), ("cx", 0, 1), ("h", 0)],
        "adder": _adder(),
        "swap test": [("ry", 0.9, 1), ("ry", 0.3, 2), ("h", 0), ("cswap", 0, 1, 2), ("h", 0)],
        "ansatz of 4": _ansatz(4, 3, 11),
        "ansatz of the marqov gates": [("rx", 0.3, 0), ("ry", 0.4, 1), ("rz", 0.5, 0), ("h", 2), ("s", 2), ("t", 1), ("cz", 0, 2), ("swap", 1, 2), ("cx", 2, 0), ("rx", 0.8, 2), ("y", 1), ("h", 1)],
        "heisenberg chain": _trotter(4, 2),
        **{f"random clifford {seed}": random_clifford(4, 30, seed) for seed in range(4)},
        **{f"random dense {seed}": random_dense(4, 4, 100 + seed) for seed in range(4)},
        "random dense of 6": random_dense(6, 4, 200),
    }.items()
}  # fmt: skip
