"""Writes circuits for Amazon Braket in its dialect of OpenQASM 3, which has its own gate names and neither includes nor
definitions.

The finished text is read back by Braket's own interpreter.
"""

from __future__ import annotations

from braket.default_simulator.openqasm.interpreter import Interpreter
from qiskit.circuit import Measure

from .expansion import Expansion, number_text
from .program import Compiled, Input, by_qubits, left_out, terminal
from .proof import Statement, prove
from .steps import Step
from .target import Target

NAME = "Amazon Braket"
GATES = {
    **{name: name for name in ("x", "y", "z", "h", "s", "t", "rx", "ry", "rz", "cy", "cz", "swap", "iswap", "ecr")},
    "id": "i",
    "sdg": "si",
    "tdg": "ti",
    "sx": "v",
    "sxdg": "vi",
    "p": "phaseshift",
    "cx": "cnot",
    "cp": "cphaseshift",
    "csx": "cv",
    "rxx": "xx",
    "ryy": "yy",
    "rzz": "zz",
    "ccx": "ccnot",
    "cswap": "cswap",
}
"""Names of the dialect by the standard ones; parameters and the order of qubits are the same."""
MEDIA_TYPE = "text/x-openqasm"


def compile_braket(given: Input, target: Target) -> Compiled:
    """The program of a circuit that measures at the end. Raises Refused."""
    barriers = target.gates is None or "barrier" in target.gates
    steps, measured, warnings = terminal(given.steps, NAME, barriers)
    gates = {name: own for name, own in GATES.items() if target.gates is None or own in target.gates}
    body, counts = _body(steps, Expansion(gates, NAME), gates)
    warnings += left_out(steps, counts)
    ends = _every_qubit(given) if target.measures_all else _measurements(given, measured)
    text = write(given.num_qubits, given.num_qubits if target.measures_all else len(given.positions), body, ends)
    # The interpreter's circuit does not contain barriers.
    expected = [count if step.kind == "gate" else 0 for step, count in zip(steps, counts, strict=True)]
    prove([*steps, *ends], [*expected, *(1 for _ in ends)], read(text), NAME)
    return Compiled(text, MEDIA_TYPE, by_qubits(measured, given), warnings)


def _body(steps: list[Step], expansion: Expansion, gates: dict[str, str]) -> tuple[list[str], list[int]]:
    lines: list[str] = []
    counts = []
    for step in steps:
        if step.kind == "barrier":
            lines.append(f"barrier {', '.join(f'q[{qubit}]' for qubit in step.qubits)};")
            counts.append(1)
            continue
        calls = expansion.calls(step)
        for call in calls:
            angles = f"({', '.join(map(number_text, call.params))})" if call.params else ""
            lines.append(f"{gates[call.name]}{angles} {', '.join(f'q[{step.qubits[p]}]' for p in call.places)};")
        counts.append(len(calls))
    return lines, counts


def write(num_qubits: int, num_bits: int, body: list[str], ends: list[Step]) -> str:
    """The program's text. Its register `b` also has the bits that nothing measures."""
    lines = ["OPENQASM 3.0;", f"bit[{num_bits}] b;", f"qubit[{num_qubits}] q;", *body]
    lines += [f"b[{end.clbit}] = measure q[{end.qubits[0]}];" for end in ends]
    return "\n".join(lines) + "\n"


def _measurements(given: Input, measured: dict[int, int]) -> list[Step]:
    """The circuit's measurements; bit k of the program is the canonical bit k."""
    found = {step.clbit: step for step in given.steps if step.kind == "measure"}
    return [
        Step("measure", "measure", found[clbit].operation, (measured[clbit],), found[clbit].index, place)
        for place, clbit in enumerate(given.positions)
        if clbit in measured
    ]


def _every_qubit(given: Input) -> list[Step]:
    """A measurement of each qubit into the bit of its number. One that the circuit lacks comes after its last
    operation, and the readout does not read it."""
    own = {step.qubits[0]: step.index for step in given.steps if step.kind == "measure"}
    last = given.steps[-1].index if given.steps else 0
    return [
        Step("measure", "measure", Measure(), (qubit,), own.get(qubit, last), qubit)
        for qubit in range(given.num_qubits)
    ]


def read(text: str) -> list[Statement]:
    """A program's instructions as Braket's interpreter has them."""
    circuit = Interpreter().build_circuit(text)
    found = [
        Statement("gate", tuple(int(qubit) for qubit in operation.targets), operation.matrix)
        for operation in circuit.instructions
    ]
    [register] = circuit.classical_registers
    sources = [(cell, qubit) for cell, qubit in enumerate(register.sources) if qubit is not None]
    return [*found, *(Statement("measure", (int(qubit),), cell=cell) for cell, qubit in sources)]
