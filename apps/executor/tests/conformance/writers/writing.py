"""What every writer of programs needs: the refusal of what a language cannot say, and numbers with all digits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..circuit import Circuit, Condition, Gate, If, Measure, Reset, Step, every
from ..gates import Matrix


class Inexpressible(Exception):
    """The language cannot express this; the text says what."""


@dataclass(frozen=True)
class Guarded:
    """A step with the conditions that have to hold for it: (condition, whether it has to hold or to fail)."""

    step: Gate | Measure | Reset
    guards: tuple[tuple[Condition, bool], ...] = ()


def flattened(steps: tuple[Step, ...], guards: tuple[tuple[Condition, bool], ...] = ()) -> Iterator[Guarded]:
    """Steps one by one under the conditions around them. Raises Inexpressible where a block could change its own
    condition."""
    for step in steps:
        if isinstance(step, If):
            for holds, block in ((True, step.then), (False, step.otherwise)):
                yield from flattened(block, (*guards, (step.condition, holds)))
        elif isinstance(step, Measure) and guards:
            raise Inexpressible("measurement under a condition")
        else:
            yield Guarded(step, guards)


def check_whole_registers(circuit: Circuit) -> None:
    """Raises Inexpressible for a register with bits that nothing measures, in a language whose registers are what a
    measurement returns."""
    written = {(measure.register, measure.bit) for measure in every(circuit.steps, Measure)}
    used = {register for register, _ in written}
    if any((name, bit) not in written for name in used for bit in range(circuit.registers[name])):
        raise Inexpressible("bits that nothing measures")


def array(matrix: Matrix) -> str:
    """A matrix as an expression of numpy, with all digits."""
    return f"np.array({matrix.tolist()!r})"


def qubit_names(circuit: Circuit, before: str = "q") -> list[tuple[str, int, int]]:
    """Register, index in it, and size, for each qubit; one register is `q`, several are `q0`, `q1`, ..."""
    single = len(circuit.qubits) == 1
    return [
        (before if single else f"{before}{number}", index, size)
        for number, size in enumerate(circuit.qubits)
        for index in range(size)
    ]
