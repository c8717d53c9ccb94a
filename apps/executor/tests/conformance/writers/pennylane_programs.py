"""Circuits as Python programs with PennyLane. Gates that it does not have are given by their matrix."""

from __future__ import annotations

from ..circuit import Circuit, Condition, Gate, Measure, Reset, every
from ..gates import MATRICES
from .writing import Guarded, Inexpressible, array, check_whole_registers, flattened, qubit_names

GATES: dict[str, str] = {
    "id": "Identity", "x": "X", "y": "Y", "z": "Z", "h": "Hadamard", "s": "S", "t": "T", "sx": "SX", "p": "PhaseShift", "phase": "PhaseShift",
    "u1": "U1", "u2": "U2", "u3": "U3", "U": "U3", "rx": "RX", "ry": "RY", "rz": "RZ", "cx": "CNOT", "CX": "CNOT", "cy": "CY", "cz": "CZ", "ch": "CH",
    "cp": "ControlledPhaseShift", "cphase": "CPhase", "cu1": "ControlledPhaseShift", "crx": "CRX", "cry": "CRY", "crz": "CRZ", "swap": "SWAP",
    "iswap": "ISWAP", "ecr": "ECR", "rxx": "IsingXX", "ryy": "IsingYY", "rzz": "IsingZZ", "ccx": "Toffoli", "ccz": "CCZ", "cswap": "CSWAP",
    "c3x": "MultiControlledX", "c4x": "MultiControlledX",
}  # fmt: skip
INVERSES = {"sdg": "S", "tdg": "T", "sxdg": "SX"}


def pennylane(circuit: Circuit) -> str:
    """The circuit as a program. Raises Inexpressible."""
    check_whole_registers(circuit)
    wires = (
        list(range(circuit.width))
        if len(circuit.qubits) == 1
        else [f"{register}_{index}" for register, index, _ in qubit_names(circuit)]
    )
    body = _Body(circuit, [repr(wire) for wire in wires])
    lines = [
        "import numpy as np",
        "import pennylane as qml",
        f"@qml.qnode(qml.device('default.qubit', wires={wires!r}))",
        "def circuit():",
        *(f"    {line}" for line in body.lines()),
    ]
    return "\n".join(lines) + "\n"


class _Body:
    def __init__(self, circuit: Circuit, wires: list[str]) -> None:
        self._circuit = circuit
        self._wires = wires
        early = circuit.steps[: len(circuit.steps) - circuit.final_measurements()]
        # A register whose bits are all measured at the end is requested by its wires.
        self._plain = set(circuit.registers) - {measure.register for measure in every(early, Measure)}
        self._written: dict[tuple[str, int], str] = {}

    def lines(self) -> list[str]:
        found: list[str] = []
        asked: dict[tuple[str, int], str] = {}
        for number, step in enumerate(flattened(self._circuit.steps)):
            if isinstance(step.step, Measure) and step.step.register in self._plain:
                asked[step.step.register, step.step.bit] = self._wires[step.step.qubit]
            else:
                found += self._step(step, number)
        return [*found, f"return {', '.join(self._asked(asked))}"]

    def _asked(self, asked: dict[tuple[str, int], str]) -> list[str]:
        if not self._circuit.registers:
            return [f"qml.counts(wires=[{', '.join(self._wires)}])"]
        parts = []
        for name in self._circuit.registers:
            listed = asked if name in self._plain else self._written
            bits = [listed[bit] for bit in sorted(listed) if bit[0] == name]
            if bits:
                parts.append(f"qml.counts({'wires' if name in self._plain else 'op'}=[{', '.join(bits)}])")
        return parts

    def _step(self, step: Guarded, number: int) -> list[str]:
        if isinstance(step.step, Measure):
            name = f"m{number}"
            self._written[step.step.register, step.step.bit] = name
            return [f"{name} = qml.measure({self._wires[step.step.qubit]})"]
        if isinstance(step.step, Reset):
            if step.guards:
                raise Inexpressible("reset under a condition")
            return [f"qml.measure({self._wires[step.step.qubit]}, reset=True)"]
        text = self._gate(step.step)
        if not step.guards:
            return [text]
        tests = [self._test(condition, holds) for condition, holds in step.guards]
        return [f"qml.cond({' & '.join(tests)}, lambda: {text})()"]

    def _test(self, condition: Condition, holds: bool) -> str:
        size = self._circuit.registers[condition.register]
        bits = range(size) if condition.bit is None else [condition.bit]
        values = {bit: condition.value >> bit & 1 if condition.bit is None else condition.value for bit in bits}
        if any((condition.register, bit) not in self._written for bit in values):
            raise Inexpressible("condition on a bit that nothing has written yet")
        tests = [f"({self._written[condition.register, bit]} == {value})" for bit, value in values.items()]
        joined = " & ".join(tests)
        return f"({joined})" if holds else f"(~({joined}))"

    def _gate(self, gate: Gate) -> str:
        places = [self._wires[qubit] for qubit in gate.qubits]
        own = f"wires=[{', '.join(places[gate.controls :])}]"
        if gate.name == "gphase":
            text = f"qml.GlobalPhase({-gate.params[0]!r})"
        elif gate.name in GATES:
            text = f"qml.{GATES[gate.name]}({', '.join([*map(repr, gate.params), own])})"
        elif gate.name in INVERSES:
            text = f"qml.adjoint(qml.{INVERSES[gate.name]}({own}))"
        else:
            text = f"qml.QubitUnitary({array(MATRICES[gate.name](*gate.params))}, {own})"
        control = gate.controls
        for modifier in reversed(gate.modifiers):
            match modifier.kind:
                case "inv":
                    text = f"qml.adjoint({text})"
                case "pow":
                    text = f"qml.pow({text}, {modifier.exponent!r})"
                case kind:
                    control -= 1
                    text = f"qml.ctrl({text}, control={places[control]}, control_values={int(kind == 'ctrl')})"
        return text
