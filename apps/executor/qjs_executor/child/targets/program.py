"""The input and the output of every target's writer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .steps import Step


@dataclass(frozen=True)
class Input:
    """A measured circuit. `positions[k]` is the clbit that stands at place k of the canonical bit string; `registers`
    are all classical registers with their clbits, bit 0 first, in declaration order, every clbit once."""

    num_qubits: int
    steps: list[Step]
    positions: list[int]
    registers: list[tuple[str, list[int]]]


@dataclass(frozen=True)
class Compiled:
    """A proven program. `readout` is explained in `compilation`."""

    program: str
    media_type: str
    readout: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)


def by_qubits(measured: dict[int, int], given: Input) -> dict[str, Any]:
    """The readout of a provider that reports results by qubit. `measured`: the qubit behind each clbit."""
    bits = [measured.get(clbit, given.num_qubits) for clbit in given.positions]
    return {"kind": "qubits", "bits": bits, "registers": []}


def by_clbits(registers: Sequence[tuple[str, int]], bits: list[int]) -> dict[str, Any]:
    """The readout of a provider that reports results by the program's classical bits."""
    return {"kind": "clbits", "bits": bits, "registers": [{"name": name, "size": size} for name, size in registers]}


def terminal(steps: list[Step], target: str, barriers: bool) -> tuple[list[Step], dict[int, int], list[str]]:
    """For targets that know gates and one measurement at the end: the gates, the qubit behind each clbit, and warnings.
    Raises Refused for a reset, a condition, and any operation after a measurement."""
    kept: list[Step] = []
    measured: dict[int, int] = {}
    done: set[int] = set()
    dropped: set[str] = set()
    for step in steps:
        if step.conditions:
            raise step.refused(f"depends on a measured bit (if), which {target} does not have; measure at the end only")
        if step.kind == "reset":
            raise step.refused(f"is a reset, which {target} does not have; use another qubit instead")
        late = sorted(done.intersection(step.qubits)) if step.kind != "barrier" else []
        if late:
            what = "is measured twice" if step.kind == "measure" else f"comes after the measurement of qubit {late[0]}"
            raise step.refused(f"{what}; {target} measures each qubit once, at the end")
        if step.kind == "measure":
            if step.clbit in measured:
                raise step.refused(f"is measured into a bit that already holds another result; {target} keeps both")
            assert step.clbit is not None
            measured[step.clbit] = step.qubits[0]
            done.update(step.qubits)
        elif step.kind == "gate" or barriers:
            kept.append(step)
        else:
            dropped.add(step.name)
    return kept, measured, [f"{name} has no form in {target} and was left out" for name in sorted(dropped)]


def left_out(steps: Sequence[Step], counts: Sequence[int]) -> list[str]:
    """Warnings for gates that were left out because they have no effect and the target has no gate for that."""
    names = {step.name for step, count in zip(steps, counts, strict=True) if step.kind == "gate" and count == 0}
    return [f"{name} does nothing and was left out" for name in sorted(names)]
