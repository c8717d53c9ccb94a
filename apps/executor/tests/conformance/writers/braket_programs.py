"""Circuits as Python programs with Amazon Braket and with the marqov SDK."""

from __future__ import annotations

from ..circuit import Circuit, Gate, Measure
from ..gates import MATRICES, matrix_of
from .writing import Inexpressible, array, check_whole_registers

BRAKET: dict[str, str] = {
    "id": "i", "x": "x", "y": "y", "z": "z", "h": "h", "s": "s", "sdg": "si", "t": "t", "tdg": "ti", "sx": "v", "sxdg": "vi", "p": "phaseshift",
    "phase": "phaseshift", "u1": "phaseshift", "u3": "u", "U": "u", "rx": "rx", "ry": "ry", "rz": "rz", "gphase": "gphase", "cx": "cnot",
    "CX": "cnot", "cy": "cy", "cz": "cz", "csx": "cv", "cp": "cphaseshift", "cphase": "cphaseshift", "cu1": "cphaseshift", "swap": "swap",
    "iswap": "iswap", "ecr": "ecr", "rxx": "xx", "ryy": "yy", "rzz": "zz", "ccx": "ccnot", "cswap": "cswap",
}  # fmt: skip
CONTROLLED: dict[str, tuple[int, str]] = {
    "ch": (1, "h"), "cs": (1, "s"), "csdg": (1, "si"), "crx": (1, "rx"), "cry": (1, "ry"), "crz": (1, "rz"), "cu3": (1, "u"), "ccz": (2, "z"),
    "c3x": (3, "x"), "c3sqrtx": (3, "v"), "c4x": (4, "x"),
}  # fmt: skip
"""Gates that are another one with so many controls."""
CONTROLLED_FURTHER = {**CONTROLLED, "cx": (1, "x"), "CX": (1, "x"), "cy": (1, "y"), "cz": (1, "z"), "ccx": (2, "x")}
"""Those of them that have a name of their own, whose own control leaves no place for further ones."""
MARQOV = ("x", "y", "z", "h", "s", "t", "rx", "ry", "rz", "cx", "cz", "swap")


def braket(circuit: Circuit) -> str:
    """The circuit as a program. Raises Inexpressible."""
    lines = ["import numpy as np", "from braket.circuits import Circuit", "circuit = Circuit()"]
    gates, measured = _gates_then_bits(circuit)
    check_whole_registers(circuit)
    used = {qubit for gate in gates for qubit in gate.qubits} | set(measured)
    lines += [f"circuit.i({qubit})" for qubit in range(circuit.width) if qubit not in used]
    lines += [_braket_call(gate) for gate in gates]
    lines += [f"circuit.measure({measured!r})"] if measured else []
    return "\n".join(lines) + "\n"


def marqov(circuit: Circuit) -> str:
    """The circuit as a program. Raises Inexpressible."""
    gates, measured = _gates_then_bits(circuit)
    for gate in gates:
        if gate.modifiers:
            raise Inexpressible("modifiers")
        if gate.name not in MARQOV:
            raise Inexpressible(f"gate {gate.name}")
    if measured:
        raise Inexpressible("measurement")
    if max(qubit for gate in gates for qubit in gate.qubits) + 1 < circuit.width:
        raise Inexpressible("last qubit without gate")
    lines = ["from marqov import Circuit", "circuit = Circuit()"]
    for gate in gates:
        values = [*map(repr, gate.params), *map(str, gate.qubits)]
        lines.append(f"circuit.{gate.name}({', '.join(values)})")
    return "\n".join(lines) + "\n"


def _gates_then_bits(circuit: Circuit) -> tuple[list[Gate], list[int]]:
    """Gates, and the qubits that are measured at the end, in the order of the bits. Neither SDK has more."""
    end = len(circuit.steps) - circuit.final_measurements()
    gates = []
    for step in circuit.steps[:end]:
        if not isinstance(step, Gate):
            raise Inexpressible("only gates, then measurements")
        gates.append(step)
    order = list(circuit.registers)
    measures = [step for step in circuit.steps[end:] if isinstance(step, Measure)]
    measures.sort(key=lambda measure: (order.index(measure.register), measure.bit))
    return gates, [measure.qubit for measure in measures]


def _braket_call(gate: Gate) -> str:
    named = CONTROLLED_FURTHER if gate.controls else CONTROLLED
    controls, name = named.get(gate.name, (0, BRAKET.get(gate.name)))
    powers = [modifier.exponent for modifier in gate.modifiers if modifier.kind == "pow"]
    if name is None or len(powers) > 1:
        # The matrix alone, or with modifiers that its keyword arguments do not say.
        matrix = matrix_of(gate) if gate.modifiers else MATRICES[gate.name](*gate.params)
        return f"circuit.unitary(matrix={array(matrix)}, targets={list(gate.qubits)})"
    states = [int(modifier.kind == "ctrl") for modifier in gate.modifiers if modifier.kind in ("ctrl", "negctrl")]
    control = list(gate.qubits[: len(states) + controls])
    words = [*map(str, gate.qubits[len(control) :]), *map(repr, gate.params)]
    if control:
        words += [f"control={control}", f"control_state={states + [1] * controls}"]
    power = (powers or [1.0])[0] * (-1) ** sum(modifier.kind == "inv" for modifier in gate.modifiers)
    if power != 1:
        words.append(f"power={power!r}")
    return f"circuit.{name}({', '.join(words)})"
