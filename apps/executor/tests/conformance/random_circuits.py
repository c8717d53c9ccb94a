"""Random circuits of the table's words, for property-based tests and for those that count their cases."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Collection

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from ..support.lanes import examples
from .circuit import Circuit, Condition, Gate, If, Measure, Modifier, Reset, Step

WIDTH = 3
_FIXED_1 = ("x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "sxdg")
_ROTATIONS_1 = ("rx", "ry", "rz", "p")
_FIXED_2 = ("cx", "cy", "cz", "ch", "swap", "iswap", "ecr", "csx", "dcx")
_ROTATIONS_2 = ("cp", "crx", "cry", "crz", "rxx", "ryy", "rzz", "rzx")
_FIXED_3 = ("ccx", "ccz", "cswap", "rccx")

_angles = st.floats(-4 * math.pi, 4 * math.pi) | st.integers(-16, 16).map(lambda k: k * math.pi / 8)


def _places(count: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.permutations(range(WIDTH)).map(lambda order: tuple(order[:count]))


def _gates(names: tuple[str, ...], qubits: int, params: int) -> st.SearchStrategy[Gate]:
    values = st.tuples(*[_angles] * params)
    return st.builds(Gate, st.sampled_from(names), _places(qubits), values)


_KINDS = {
    **dict.fromkeys(_FIXED_1, (1, 0)),
    **dict.fromkeys(_ROTATIONS_1, (1, 1)),
    "u3": (1, 3),
    **dict.fromkeys(_FIXED_2, (2, 0)),
    **dict.fromkeys(_ROTATIONS_2, (2, 1)),
    **dict.fromkeys(_FIXED_3, (3, 0)),
}
"""How many qubits and parameters a gate has."""


def random_gates(draw: random.Random, width: int, count: int, names: Collection[str] = tuple(_KINDS)) -> list[Gate]:
    """Gates from a generator, for tests that say how often they may fail by chance; `names` are those to choose
    from."""
    fitting = [name for name, (qubits, _) in _KINDS.items() if name in names and qubits <= width]
    gates = []
    for name in draw.choices(fitting, k=count):
        qubits, params = _KINDS[name]
        angles = tuple(draw.uniform(-4 * math.pi, 4 * math.pi) for _ in range(params))
        gates.append(Gate(name, tuple(draw.sample(range(width), qubits)), angles))
    return gates


plain_gates: st.SearchStrategy[Gate] = st.one_of(
    _gates(_FIXED_1, 1, 0),
    _gates(_ROTATIONS_1, 1, 1),
    _gates(("u3",), 1, 3),
    _gates(_FIXED_2, 2, 0),
    _gates(_ROTATIONS_2, 2, 1),
    _gates(_FIXED_3, 3, 0),
)

_INV = Modifier("inv")
_modified_1 = st.lists(st.sampled_from([Modifier("ctrl"), Modifier("negctrl")]), max_size=2).flatmap(
    lambda controls: st.builds(
        lambda name, values, places, rest: Gate(
            name, places, values if name in _ROTATIONS_1 else (), (*controls, *rest)
        ),
        st.sampled_from((*_FIXED_1, *_ROTATIONS_1)),
        st.tuples(st.floats(-3, 3)),
        _places(1 + len(controls)),
        st.sampled_from([(), (_INV,), (Modifier("pow", 2.0),), (Modifier("pow", 0.5),), (_INV, Modifier("pow", 3.0))]),
    )
)
modified_gates: st.SearchStrategy[Gate] = _modified_1


def unitary_circuits(gates: st.SearchStrategy[Gate]) -> st.SearchStrategy[Circuit]:
    """Of gates alone, every qubit measured in the end; in one quantum register or in two."""
    return st.builds(
        lambda steps, split: Circuit(tuple(steps), (WIDTH,) if split is None else (split, WIDTH - split)),
        st.lists(gates, min_size=1, max_size=10),
        st.sampled_from([None, 1, 2]),
    )


@st.composite
def dynamic_circuits(draw: st.DrawFn) -> Circuit:
    """Registers measured in the middle, resets, nested conditions on what was measured, and measurements at the end in
    any order of the bits."""
    steps: list[Step] = [Gate("ry", (q,), (0.7 + 0.6 * q,)) for q in range(WIDTH)]
    registers: dict[str, int] = {}

    def some_gates() -> list[Step]:
        return list(draw(st.lists(plain_gates, min_size=1, max_size=3)))

    def conditional(depth: int) -> If:
        name = draw(st.sampled_from(sorted(registers)))
        size = registers[name]
        bit = draw(st.none() | st.integers(0, size - 1))
        value = draw(st.integers(0, 1 if bit is not None else (1 << size) - 1))
        then: list[Step] = some_gates()
        if depth and draw(st.booleans()):
            then.append(conditional(depth - 1))
        otherwise = some_gates() if draw(st.booleans()) else []
        return If(Condition(name, bit, value), tuple(then), tuple(otherwise))

    for name in draw(st.permutations(["m", "k"]))[: draw(st.integers(1, 2))]:
        steps += some_gates()
        measured = draw(st.permutations(range(WIDTH)))[: draw(st.integers(1, 2))]
        registers[name] = len(measured)
        steps += [Measure(qubit, name, bit) for bit, qubit in enumerate(measured)]
        if draw(st.booleans()):
            steps.append(Reset(draw(st.sampled_from(range(WIDTH)))))
        steps.append(conditional(1))
    last = draw(st.permutations(range(WIDTH)))[: draw(st.integers(1, WIDTH))]
    registers["last"] = len(last)
    steps += some_gates()
    steps += [Measure(qubit, "last", bit) for bit, qubit in enumerate(last)]
    return Circuit(tuple(steps), (WIDTH,), registers)


LONG = "CONFORMANCE_LONG" in os.environ


def profile(count: int) -> settings:
    """The same examples in every run; CONFORMANCE_LONG takes that many times more, different ones each time."""
    number = examples(count) * int(os.environ.get("CONFORMANCE_LONG") or 1)
    return settings(
        derandomize=not LONG,
        database=None,
        deadline=None,
        max_examples=number,
        # A failing example is small enough as it is; making it smaller takes minutes.
        phases=list(Phase) if LONG else [Phase.explicit, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        print_blob=True,
    )
