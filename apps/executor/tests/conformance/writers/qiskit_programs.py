"""Circuits as Python programs with qiskit."""

from __future__ import annotations

from collections.abc import Sequence

from ..circuit import Circuit, Condition, Gate, If, Measure, Reset, Step
from .writing import qubit_names

CLASSES = {
    "id": "IGate", "x": "XGate", "y": "YGate", "z": "ZGate", "h": "HGate", "s": "SGate", "sdg": "SdgGate", "t": "TGate", "tdg": "TdgGate",
    "sx": "SXGate", "sxdg": "SXdgGate", "p": "PhaseGate", "phase": "PhaseGate", "u1": "U1Gate", "u2": "U2Gate", "u3": "U3Gate", "U": "UGate",
    "rx": "RXGate", "ry": "RYGate", "rz": "RZGate", "gphase": "GlobalPhaseGate", "cx": "CXGate", "CX": "CXGate", "cy": "CYGate", "cz": "CZGate",
    "ch": "CHGate", "cs": "CSGate", "csdg": "CSdgGate", "csx": "CSXGate", "cp": "CPhaseGate", "cphase": "CPhaseGate", "cu1": "CU1Gate",
    "crx": "CRXGate", "cry": "CRYGate", "crz": "CRZGate", "cu": "CUGate", "cu3": "CU3Gate", "swap": "SwapGate", "dcx": "DCXGate",
    "iswap": "iSwapGate", "ecr": "ECRGate", "rxx": "RXXGate", "ryy": "RYYGate", "rzz": "RZZGate", "rzx": "RZXGate", "xx_plus_yy": "XXPlusYYGate",
    "xx_minus_yy": "XXMinusYYGate", "ccx": "CCXGate", "ccz": "CCZGate", "cswap": "CSwapGate", "c3x": "C3XGate", "c3sqrtx": "C3SXGate",
    "c4x": "C4XGate", "rccx": "RCCXGate", "rc3x": "RC3XGate",
}  # fmt: skip
METHODS = frozenset((
    "id", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "sxdg", "p", "rx", "ry", "rz", "cx", "cy", "cz", "ch",
    "cs", "csdg", "csx", "cp", "crx", "cry", "crz", "cu", "swap", "dcx", "iswap", "ecr", "rxx", "ryy", "rzz", "rzx",
    "ccx", "ccz", "cswap", "rccx",
))  # fmt: skip
"""Gates that a circuit has a method for."""


def qiskit(circuit: Circuit) -> str:
    """The circuit as a program."""
    names = [f"{register}[{index}]" for register, index, _ in qubit_names(circuit)]
    quantum = list({name: size for name, _, size in qubit_names(circuit)}.items())
    lines = [
        "from qiskit import ClassicalRegister, QuantumCircuit, QuantumRegister",
        "from qiskit.circuit.library import *",
        *(f"{name} = QuantumRegister({size}, '{name}')" for name, size in quantum),
        *(f"{name} = ClassicalRegister({size}, '{name}')" for name, size in circuit.registers.items()),
        f"circuit = QuantumCircuit({', '.join([*(name for name, _ in quantum), *circuit.registers])})",
        *_block(circuit.steps, names, ""),
    ]
    return "\n".join(lines) + "\n"


def _block(steps: Sequence[Step], names: list[str], indent: str) -> list[str]:
    lines: list[str] = []
    for number, step in enumerate(steps):
        match step:
            case Gate():
                lines.append(indent + _call(step, names))
            case Measure():
                lines.append(f"{indent}circuit.measure({names[step.qubit]}, {step.register}[{step.bit}])")
            case Reset():
                lines.append(f"{indent}circuit.reset({names[step.qubit]})")
            case If():
                other = f"else_{len(indent)}_{number}"
                named = f" as {other}" if step.otherwise else ""
                lines.append(f"{indent}with circuit.if_test({_test(step.condition)}){named}:")
                lines += _block(step.then, names, indent + "    ")
                if step.otherwise:
                    lines += [f"{indent}with {other}:", *_block(step.otherwise, names, indent + "    ")]
    return lines


def _test(condition: Condition) -> str:
    bit = "" if condition.bit is None else f"[{condition.bit}]"
    return f"({condition.register}{bit}, {condition.value})"


def _call(gate: Gate, names: list[str]) -> str:
    places = [names[qubit] for qubit in gate.qubits]
    if gate.name in METHODS and not gate.modifiers:
        return f"circuit.{gate.name}({', '.join([*map(repr, gate.params), *places])})"
    text = f"{CLASSES[gate.name]}({', '.join(map(repr, gate.params))})"
    for modifier in reversed(gate.modifiers):
        match modifier.kind:
            case "ctrl":
                text += ".control(1)"
            case "negctrl":
                text += ".control(1, ctrl_state=0)"
            case "inv":
                text += ".inverse()"
            case "pow":
                text += f".power({modifier.exponent!r})"
    return f"circuit.append({text}, [{', '.join(places)}])"
