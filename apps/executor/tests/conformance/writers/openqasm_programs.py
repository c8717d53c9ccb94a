"""Circuits as programs in OpenQASM 2 and 3. Gates beyond the libraries are defined in the program."""

from __future__ import annotations

from collections.abc import Sequence

from ..circuit import Circuit, Condition, Gate, If, Measure, Modifier, Reset, Step, every
from .writing import Inexpressible, qubit_names

STDGATES = frozenset((
    "p", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "sx", "rx", "ry", "rz", "cx", "cy", "cz", "cp", "crx", "cry",
    "crz", "ch", "swap", "ccx", "cswap", "cu", "CX", "phase", "cphase", "id", "u1", "u2", "u3", "U", "gphase",
))  # fmt: skip
"""Of version 3, the two gates of the language itself included."""
QELIB1 = frozenset((
    "u3", "u2", "u1", "cx", "id", "x", "y", "z", "h", "s", "sdg", "t", "tdg", "rx", "ry", "rz", "sx", "sxdg", "cz",
    "cy", "swap", "ch", "ccx", "cswap", "crx", "cry", "crz", "cu1", "cp", "cu3", "csx", "cu", "rxx", "rzz", "rccx",
    "rc3x", "c3x", "c3sqrtx", "c4x", "p", "U", "CX",
))  # fmt: skip
"""Of version 2, with the gates that qiskit's exporter writes beyond the paper's."""

_RZX = "h b; cx a,b; rz({0}) b; cx a,b; h b;"
DEFINITIONS: dict[str, str] = {
    "sxdg": "a { inv @ sx a; }",
    "cs": "a,b { cp(pi/2) a,b; }",
    "csdg": "a,b { cp(-pi/2) a,b; }",
    "csx": "a,b { ctrl @ sx a,b; }",
    "cu1": "(t) a,b { cp(t) a,b; }",
    "cu3": "(t,p1,l) a,b { cu(t,p1,l,0.0) a,b; }",
    "phase": "(t) a { p(t) a; }",
    "cphase": "(t) a,b { cp(t) a,b; }",
    "dcx": "a,b { cx a,b; cx b,a; }",
    "iswap": "a,b { s a; s b; h a; cx a,b; cx b,a; h b; }",
    "ecr": f"a,b {{ {_RZX.format('pi/4')} x a; {_RZX.format('-pi/4')} }}",
    "rxx": "(t) a,b { h a; h b; cx a,b; rz(t) b; cx a,b; h a; h b; }",
    "ryy": "(t) a,b { rx(pi/2) a; rx(pi/2) b; cx a,b; rz(t) b; cx a,b; rx(-pi/2) a; rx(-pi/2) b; }",
    "rzz": "(t) a,b { cx a,b; rz(t) b; cx a,b; }",
    "rzx": f"(t) a,b {{ {_RZX.format('t')} }}",
    "xx_plus_yy": "(t,beta) a,b { rz(-beta) b; h a; h b; cx a,b; rz(t/2.0) b; cx a,b; h a; h b; rx(pi/2) a; rx(pi/2) b;"
    " cx a,b; rz(t/2.0) b; cx a,b; rx(-pi/2) a; rx(-pi/2) b; rz(beta) b; }",
    "xx_minus_yy": "(t,beta) a,b { rz(-beta) b; h a; h b; cx a,b; rz(t/2.0) b; cx a,b; h a; h b; rx(pi/2) a;"
    " rx(pi/2) b; cx a,b; rz(-t/2.0) b; cx a,b; rx(-pi/2) a; rx(-pi/2) b; rz(beta) b; }",
    "ccz": "a,b,c { h c; ccx a,b,c; h c; }",
    "c3x": "a,b,c,d { ctrl(3) @ x a,b,c,d; }",
    "c3sqrtx": "a,b,c,d { ctrl(3) @ sx a,b,c,d; }",
    "c4x": "a,b,c,d,e { ctrl(4) @ x a,b,c,d,e; }",
    "rccx": "a,b,c { h c; t c; cx b,c; tdg c; cx a,c; t c; cx b,c; tdg c; h c; }",
    "rc3x": "a,b,c,d { h d; t d; cx c,d; tdg d; h d; cx a,d; t d; cx b,d; tdg d; cx a,d; t d; cx b,d; tdg d; h d; t d;"
    " cx c,d; tdg d; h d; }",
}


def openqasm3(circuit: Circuit) -> str:
    """The circuit in OpenQASM 3."""
    names = [f"{register}[{index}]" for register, index, _ in qubit_names(circuit)]
    lines = ["OPENQASM 3.0;", 'include "stdgates.inc";']
    lines += _definitions(circuit, STDGATES)
    lines += [f"qubit[{size}] {name};" for name, size in _quantum_registers(circuit)]
    lines += [f"bit[{size}] {name};" for name, size in circuit.registers.items()]
    lines += _block(circuit.steps, names)
    return "\n".join(lines) + "\n"


def openqasm2(circuit: Circuit) -> str:
    """The circuit in OpenQASM 2. Raises Inexpressible."""
    names = [f"{register}[{index}]" for register, index, _ in qubit_names(circuit)]
    for gate in every(circuit.steps, Gate):
        if gate.modifiers:
            raise Inexpressible("modifiers")
        if gate.name == "gphase":
            raise Inexpressible("gphase")
    lines = ["OPENQASM 2.0;", 'include "qelib1.inc";']
    lines += _definitions(circuit, QELIB1)
    lines += [f"qreg {name}[{size}];" for name, size in _quantum_registers(circuit)]
    lines += [f"creg {name}[{size}];" for name, size in circuit.registers.items()]
    for step in circuit.steps:
        lines += _statements_2(step, names, circuit)
    return "\n".join(lines) + "\n"


def _quantum_registers(circuit: Circuit) -> list[tuple[str, int]]:
    return list({name: size for name, _, size in qubit_names(circuit)}.items())


def _definitions(circuit: Circuit, known: frozenset[str]) -> list[str]:
    wanted = dict.fromkeys(gate.name for gate in every(circuit.steps, Gate) if gate.name not in known)
    return [f"gate {name}{'' if DEFINITIONS[name][0] == '(' else ' '}{DEFINITIONS[name]}" for name in wanted]


def _call(gate: Gate, names: list[str]) -> str:
    modifiers = "".join(f"{_modifier(modifier)} @ " for modifier in gate.modifiers)
    params = f"({', '.join(map(repr, gate.params))})" if gate.params else ""
    return f"{modifiers}{gate.name}{params} {', '.join(names[qubit] for qubit in gate.qubits)}".rstrip() + ";"


def _modifier(modifier: Modifier) -> str:
    return f"pow({modifier.exponent!r})" if modifier.kind == "pow" else modifier.kind


def _block(steps: Sequence[Step], names: list[str]) -> list[str]:
    lines: list[str] = []
    for step in steps:
        match step:
            case Gate():
                lines.append(_call(step, names))
            case Measure():
                lines.append(f"{step.register}[{step.bit}] = measure {names[step.qubit]};")
            case Reset():
                lines.append(f"reset {names[step.qubit]};")
            case If():
                lines += [f"if ({_test(step.condition)}) {{", *_block(step.then, names)]
                if step.otherwise:
                    lines += ["} else {", *_block(step.otherwise, names)]
                lines.append("}")
    return lines


def _test(condition: Condition) -> str:
    if condition.bit is None:
        return f"{condition.register} == {condition.value}"
    return f"{'' if condition.value else '!'}{condition.register}[{condition.bit}]"


def _statements_2(step: Step, names: list[str], circuit: Circuit) -> list[str]:
    match step:
        case Gate():
            return [_call(step, names)]
        case Measure():
            return [f"measure {names[step.qubit]} -> {step.register}[{step.bit}];"]
        case Reset():
            return [f"reset {names[step.qubit]};"]
    size = circuit.registers[step.condition.register]
    if step.condition.bit is not None and size > 1:
        raise Inexpressible("condition on one bit of a register")
    if any(measure.register == step.condition.register for measure in every([step], Measure)):
        raise Inexpressible("block that writes its own condition")
    others = [value for value in range(1 << size) if value != step.condition.value]
    lines = []
    for values, block in (([step.condition.value], step.then), (others, step.otherwise)):
        for value in values:
            for inner in block:
                if isinstance(inner, If):
                    raise Inexpressible("nested conditions")
                lines += [
                    f"if({step.condition.register}=={value}) {text}" for text in _statements_2(inner, names, circuit)
                ]
    return lines
