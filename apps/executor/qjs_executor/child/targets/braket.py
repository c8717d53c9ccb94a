"""Writes circuits for Amazon Braket in its dialect of OpenQASM 3, which has its own gate names and neither includes nor
definitions.

The finished text is read back by Braket's own interpreter.
"""

from __future__ import annotations

from braket.default_simulator.openqasm.interpreter import Interpreter

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
    text = write(given, body, measured)
    ends = _measurements(given, measured)
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


def write(given: Input, body: list[str], measured: dict[int, int]) -> str:
    """The program's text: bit k of `b` is the canonical bit k, also where nothing measures it."""
    lines = ["OPENQASM 3.0;", f"bit[{len(given.positions)}] b;", f"qubit[{given.num_qubits}] q;", *body]
    places = [(place, clbit) for place, clbit in enumerate(given.positions) if clbit in measured]
    lines += [f"b[{place}] = measure q[{measured[clbit]}];" for place, clbit in places]
    return "\n".join(lines) + "\n"


def _measurements(given: Input, measured: dict[int, int]) -> list[Step]:
    """The measurements in canonical order, into the program's own bits."""
    found = {step.clbit: step for step in given.steps if step.kind == "measure"}
    return [
        Step("measure", "measure", found[clbit].operation, (measured[clbit],), found[clbit].index, place)
        for place, clbit in enumerate(given.positions)
        if clbit in measured
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
