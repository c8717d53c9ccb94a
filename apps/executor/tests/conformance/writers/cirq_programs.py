"""Circuits as Python programs with Cirq. Gates that it does not have are given by their matrix."""

from __future__ import annotations

from ..circuit import Circuit, Condition, Gate, Measure, Reset, every
from ..gates import MATRICES
from .writing import Guarded, Inexpressible, array, check_whole_registers, flattened, qubit_names

GATES: dict[str, str] = {
    "id": "cirq.I", "x": "cirq.X", "y": "cirq.Y", "z": "cirq.Z", "h": "cirq.H", "s": "cirq.S", "t": "cirq.T", "sdg": "cirq.S**-1",
    "tdg": "cirq.T**-1", "sx": "cirq.X**0.5", "sxdg": "cirq.X**-0.5", "p": "cirq.ZPowGate(exponent={0}/np.pi)",
    "phase": "cirq.ZPowGate(exponent={0}/np.pi)", "u1": "cirq.ZPowGate(exponent={0}/np.pi)", "rx": "cirq.rx({0})", "ry": "cirq.ry({0})",
    "rz": "cirq.rz({0})", "gphase": "cirq.GlobalPhaseGate(np.exp(1j*{0}))", "cx": "cirq.CX", "CX": "cirq.CNOT", "cz": "cirq.CZ",
    "cy": "cirq.ControlledGate(cirq.Y)", "ch": "cirq.ControlledGate(cirq.H)", "cs": "cirq.CZ**0.5", "csdg": "cirq.CZ**-0.5", "csx": "cirq.CX**0.5",
    "cp": "cirq.CZPowGate(exponent={0}/np.pi)", "cphase": "cirq.cphase({0})", "cu1": "cirq.CZPowGate(exponent={0}/np.pi)",
    "crx": "cirq.ControlledGate(cirq.rx({0}))", "cry": "cirq.ControlledGate(cirq.ry({0}))", "crz": "cirq.ControlledGate(cirq.rz({0}))",
    "swap": "cirq.SWAP", "iswap": "cirq.ISWAP", "rxx": "cirq.XXPowGate(exponent={0}/np.pi, global_shift=-0.5)",
    "ryy": "cirq.YYPowGate(exponent={0}/np.pi, global_shift=-0.5)", "rzz": "cirq.ZZPowGate(exponent={0}/np.pi, global_shift=-0.5)",
    "ccx": "cirq.CCX", "ccz": "cirq.CCZ", "cswap": "cirq.CSWAP", "c3x": "cirq.ControlledGate(cirq.X, num_controls=3)",
    "c4x": "cirq.ControlledGate(cirq.X, num_controls=4)", "c3sqrtx": "cirq.ControlledGate(cirq.X**0.5, num_controls=3)",
}  # fmt: skip


def cirq(circuit: Circuit) -> str:
    """The circuit as a program. Raises Inexpressible."""
    check_whole_registers(circuit)
    if len(circuit.qubits) == 1:
        qubits = f"q = cirq.LineQubit.range({circuit.width})"
    else:
        named = [f"cirq.NamedQubit('{register}_{index}')" for register, index, _ in qubit_names(circuit)]
        qubits = f"q = [{', '.join(named)}]"
    steps = list(flattened(circuit.steps))
    keys = _Keys(circuit)
    operations = []
    place = 0
    while place < len(steps):
        step = steps[place]
        if isinstance(step.step, Measure):
            text, place = keys.measure(steps, place)
        else:
            text, place = _operation(step, keys), place + 1
        operations.append(text)
    keys.check()
    used = {qubit for step in steps for qubit in _qubits(step)}
    idle = [f"cirq.I(q[{qubit}])" for qubit in range(circuit.width) if qubit not in used]
    lines = ["import cirq", "import numpy as np", "import sympy", qubits]
    body = "".join(f"    {text},\n" for text in [*idle, *operations])
    # A moment for each operation: measurements keep their order.
    return "\n".join(lines) + f"\ncircuit = cirq.Circuit([\n{body}], strategy=cirq.InsertStrategy.NEW)\n"


def _qubits(step: Guarded) -> tuple[int, ...]:
    return step.step.qubits if isinstance(step.step, Gate) else (step.step.qubit,)


def _operation(step: Guarded, keys: _Keys) -> str:
    if isinstance(step.step, Reset):
        text = f"cirq.reset(q[{step.step.qubit}])"
    else:
        assert isinstance(step.step, Gate)
        places = ", ".join(f"q[{qubit}]" for qubit in step.step.qubits)
        text = f"({_gate(step.step)})({places})"
    if not step.guards:
        return text
    controls = ", ".join(keys.control(condition, holds) for condition, holds in step.guards)
    return f"{text}.with_classical_controls({controls})"


def _gate(gate: Gate) -> str:
    if gate.name in GATES:
        text = GATES[gate.name].format(*(f"({value!r})" for value in gate.params))
    else:
        text = f"cirq.MatrixGate({array(MATRICES[gate.name](*gate.params))})"
    for modifier in reversed(gate.modifiers):
        match modifier.kind:
            case "ctrl":
                text = f"cirq.ControlledGate({text})"
            case "negctrl":
                text = f"cirq.ControlledGate({text}, control_values=[0])"
            case "inv":
                text = f"({text})**-1"
            case "pow":
                text = f"({text})**{modifier.exponent!r}"
    return text


class _Keys:
    """A key per register, measured all at once; the counts show keys in the order of their measurement."""

    def __init__(self, circuit: Circuit) -> None:
        self._bits = {
            name: sorted({m.bit for m in every(circuit.steps, Measure) if m.register == name})
            for name in circuit.registers
        }
        self._measured: list[str] = []

    def measure(self, steps: list[Guarded], place: int) -> tuple[str, int]:
        """The measurement of the whole register whose first bit is measured here, and the place after it."""
        first = steps[place].step
        assert isinstance(first, Measure)
        register = first.register
        if register in self._measured:
            raise Inexpressible("register measured twice")
        qubits: dict[int, int] = {}
        while len(qubits) < len(self._bits[register]):
            step = steps[place].step if place < len(steps) else None
            if not isinstance(step, Measure) or step.register != register or step.bit in qubits:
                raise Inexpressible("register measured in parts")
            qubits[step.bit] = step.qubit
            place += 1
        self._measured.append(register)
        return f"cirq.measure({', '.join(f'q[{qubits[bit]}]' for bit in sorted(qubits))}, key='{register}')", place

    def check(self) -> None:
        """Raises Inexpressible for registers that are not measured in their order."""
        if self._measured != [name for name, bits in self._bits.items() if bits]:
            raise Inexpressible("registers not measured in their order")

    def control(self, condition: Condition, holds: bool) -> str:
        """The first qubit of a key is its most significant bit."""
        bits = self._bits[condition.register]
        top = len(bits) - 1
        if condition.bit is not None:
            mask = 1 << (top - bits.index(condition.bit))
            target = mask if condition.value else 0
            return (
                f"cirq.BitMaskKeyCondition('{condition.register}', bitmask={mask}, target_value={target},"
                f" equal_target={holds})"
            )
        value = sum((condition.value >> bit & 1) << (top - place) for place, bit in enumerate(bits))
        return f"sympy.{'Eq' if holds else 'Ne'}(sympy.Symbol('{condition.register}'), {value})"
