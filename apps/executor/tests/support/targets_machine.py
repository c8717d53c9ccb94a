"""Compiled programs run by a small machine of numpy: it reads every provider's form by itself, from the provider's
documentation, and shares no code with the compiler or with the readers that its proofs use.

Answers are exact probabilities of canonical bit strings, through the answer's readout.
"""

from __future__ import annotations

import itertools
import json
import math
import re
import struct
from typing import Any

import numpy as np

from qjs_executor.child.circuits.openqasm import load
from qjs_executor.child.targets.compilation import compile_circuit
from qjs_executor.child.targets.target import parse_target

from .targets_rows import Row, split, width

Op = tuple[Any, ...]
"""("gate", matrix, qubits), ("measure", qubit, cell), ("reset", qubit), or ("if", cells, value, op)."""

X, Y, Z = np.array([[0, 1], [1, 0]]), np.array([[0, -1j], [1j, 0]]), np.diag([1, -1])
HADAMARD = np.array([[1, 1], [1, -1]]) / math.sqrt(2)


def turn(pauli: Any, angle: float) -> Any:
    return math.cos(angle / 2) * np.eye(len(pauli)) - 1j * math.sin(angle / 2) * pauli


def under(matrix: Any, controls: int = 1) -> Any:
    whole = np.eye(len(matrix) * 2**controls, dtype=complex)
    whole[-len(matrix) :, -len(matrix) :] = matrix
    return whole


def phase(angle: float) -> Any:
    return np.diag([1, np.exp(1j * angle)])


def u3(theta: float, phi: float, lam: float) -> Any:
    c, s = math.cos(theta / 2), math.sin(theta / 2)
    return np.array([[c, -np.exp(1j * lam) * s], [np.exp(1j * phi) * s, np.exp(1j * (phi + lam)) * c]])


SWAP = np.eye(4)[[0, 2, 1, 3]]
ISWAP = np.array([[1, 0, 0, 0], [0, 0, 1j, 0], [0, 1j, 0, 0], [0, 0, 0, 1]])
SX = np.array([[1 + 1j, 1 - 1j], [1 - 1j, 1 + 1j]]) / 2
ECR = np.array([[0, 0, 1, 1j], [0, 0, 1j, 1], [1, -1j, 0, 0], [-1j, 1, 0, 0]]) / math.sqrt(2)

GATES: dict[str, Any] = {
    "id": lambda: np.eye(2), "x": lambda: X, "y": lambda: Y, "z": lambda: Z, "h": lambda: HADAMARD, "s": lambda: phase(math.pi / 2),
    "sdg": lambda: phase(-math.pi / 2), "t": lambda: phase(math.pi / 4), "tdg": lambda: phase(-math.pi / 4), "sx": lambda: SX, "sxdg": lambda: SX.conj().T,
    "rx": lambda a: turn(X, a), "ry": lambda a: turn(Y, a), "rz": lambda a: turn(Z, a), "p": phase, "u3": u3, "u2": lambda a, b: u3(math.pi / 2, a, b),
    "cx": lambda: under(X), "cy": lambda: under(Y), "cz": lambda: under(Z), "ch": lambda: under(HADAMARD), "cp": lambda a: under(phase(a)),
    "crx": lambda a: under(turn(X, a)), "cry": lambda a: under(turn(Y, a)), "crz": lambda a: under(turn(Z, a)), "swap": lambda: SWAP, "iswap": lambda: ISWAP,
    "rxx": lambda a: turn(np.kron(X, X), a), "ryy": lambda a: turn(np.kron(Y, Y), a), "rzz": lambda a: turn(np.kron(Z, Z), a), "ecr": lambda: ECR,
    "ccx": lambda: under(X, 2), "ccz": lambda: under(Z, 2), "cswap": lambda: under(SWAP), "c0x": lambda: np.kron(np.diag([1, 0]), X) + np.kron(np.diag([0, 1]), np.eye(2)),
    "csx": lambda: under(SX),
}  # fmt: skip
BRAKET = {"i": "id", "si": "sdg", "ti": "tdg", "v": "sx", "vi": "sxdg", "phaseshift": "p", "cnot": "cx", "cphaseshift": "cp", "xx": "rxx", "yy": "ryy", "zz": "rzz", "ccnot": "ccx", "cv": "csx"}  # fmt: skip
IONQ = {"si": "sdg", "ti": "tdg", "v": "sx", "vi": "sxdg", "xx": "rxx", "yy": "ryy", "zz": "rzz"}
QUIL = {"I": "id", "PHASE": "p", "CNOT": "cx", "CPHASE": "cp", "CCNOT": "ccx"}
QASM2 = {"u1": "p", "cu1": "cp"}

DEFINITIONS = """gate iswap a, b { s a; s b; h a; cx a, b; cx b, a; h b; }
gate rzz(t) a, b { cx a, b; rz(t) b; cx a, b; }
gate rxx(t) a, b { h a; h b; rzz(t) a, b; h a; h b; }
gate ryy(t) a, b { sdg a; sdg b; rxx(t) a, b; s a; s b; }
"""
WORDS = {"sxdg": "inv @ sx", "ccz": "ctrl(2) @ z", "c0x": "negctrl @ x"}

LINE = [[a, a + 1] for a in range(4)]
IBM = {"format": "ibm", "num_qubits": 6, "coupling_map": [*LINE, [4, 5]]}
TARGETS: dict[str, dict[str, Any]] = {
    **{name: {"format": name} for name in ("braket", "ionq", "qasm2", "quil", "qir")},
    "ibm ecr": {**IBM, "basis_gates": ["rz", "sx", "x", "ecr"]},
    "ibm cz 0": {**IBM, "basis_gates": ["rz", "sx", "x", "cz"], "optimization_level": 0},
    "ibm cz 3": {**IBM, "basis_gates": ["rz", "sx", "x", "cz"], "optimization_level": 3},
    "ibm fractional": {**IBM, "basis_gates": ["id", "rz", "rx", "sx", "x", "cz", "rzz"], "optimization_level": 2},
}


def text_of(row: Row, measured: list[int] | None = None) -> str:
    """A row of the tables in OpenQASM 3; bit k of `c` measures qubit measured[k]."""
    size = width(row)
    places = list(range(size)) if measured is None else measured
    lines = ['OPENQASM 3.0;\ninclude "stdgates.inc";', DEFINITIONS, f"qubit[{size}] q;\nbit[{len(places)}] c;"]
    for name, values, qubits in map(split, row):
        angles = f"({', '.join(map(repr, values))})" if values else ""
        lines.append(f"{WORDS.get(name, name)}{angles} {', '.join(f'q[{q}]' for q in qubits)};")
    return "\n".join(lines + [f"c[{k}] = measure q[{q}];" for k, q in enumerate(places)])


def meant(row: Row, measured: list[int] | None = None) -> dict[str, float]:
    """The probabilities of a row, by numpy alone."""
    ops: list[Op] = [("gate", GATES[name](*values), qubits) for name, values, qubits in map(split, row)]
    places = list(range(width(row))) if measured is None else measured
    return run(ops + [("measure", q, k) for k, q in enumerate(places)], len(places))


def compiled(source: str, target: dict[str, Any]) -> dict[str, Any]:
    return compile_circuit(load(source, 200, "test"), source, parse_target(target))


def outcome(answer: dict[str, Any]) -> dict[str, float]:
    """The exact probabilities of the canonical bit strings of a compiled program."""
    ops, own = READERS[answer["format"]](answer["program"])
    readout = answer["readout"]
    if readout["kind"] == "qubits":
        # Providers that answer by qubit measure each of them.
        size = answer["qubits"]
        ops = [op for op in ops if op[0] != "measure"] + [("measure", q, q) for q in range(size)]
    else:
        size = sum(register["size"] for register in readout["registers"])
        assert own == size
    shown: dict[str, float] = {}
    for bits, chance in run(ops, size).items():
        key = "".join(f"{bits}0"[index] for index in readout["bits"])
        shown[key] = shown.get(key, 0.0) + chance
    return shown


def agree(one: dict[str, float], other: dict[str, float]) -> bool:
    return all(abs(one.get(key, 0) - other.get(key, 0)) < 1e-9 for key in {*one, *other})


def run(ops: list[Op], size: int) -> dict[str, float]:
    """Probabilities of the cells at the end, cell 0 leftmost; branches at every measurement."""
    qubits = sorted({q for op in ops for q in _touched(op)})
    place = {q: k for k, q in enumerate(qubits)}
    start = np.zeros((2,) * len(qubits), dtype=complex)
    start.flat[0] = 1
    branches: dict[tuple[str, ...], list[Any]] = {("0",) * size: [start]}
    for op in ops:
        after: dict[tuple[str, ...], list[Any]] = {}
        for cells, states in branches.items():
            for state in states:
                for new_cells, new_state in _step(op, cells, state, place):
                    if np.abs(new_state).max() > 1e-9:
                        after.setdefault(new_cells, []).append(new_state)
        branches = after
    return {"".join(cells): sum(float(np.sum(np.abs(s) ** 2)) for s in states) for cells, states in branches.items()}


def _touched(op: Op) -> list[int]:
    if op[0] == "if":
        return _touched(op[3])
    return list(op[2]) if op[0] == "gate" else [op[1]]


def _step(op: Op, cells: tuple[str, ...], state: Any, place: dict[int, int]) -> list[tuple[tuple[str, ...], Any]]:
    match op[0]:
        case "gate":
            axes = [place[q] for q in op[2]]
            count = len(axes)
            gate = np.asarray(op[1], dtype=complex).reshape((2,) * (2 * count))
            moved = np.tensordot(gate, state, axes=(list(range(count, 2 * count)), axes))
            return [(cells, np.moveaxis(moved, list(range(count)), axes))]
        case "if":
            value = sum((cells[cell] == "1") << k for k, cell in enumerate(op[1]))
            return _step(op[3], cells, state, place) if value == op[2] else [(cells, state)]
    found = []
    for bit in (0, 1):
        part = np.zeros_like(state)
        at: list[Any] = [slice(None)] * state.ndim
        at[place[op[1]]] = bit
        to = list(at)
        if op[0] == "reset":
            to[place[op[1]]] = 0
        part[tuple(to)] = state[tuple(at)]
        new = list(cells)
        if op[0] == "measure":
            new[op[2]] = str(bit)
        found.append((tuple(new), part))
    return found


def _gate(name: str, values: list[float], qubits: list[int], names: dict[str, str]) -> Op:
    return ("gate", GATES[names.get(name, name.lower())](*values), qubits)


def _values(text: str | None) -> list[float]:
    return [float(value) for value in text.split(",")] if text else []


def _indices(text: str) -> list[int]:
    return [int(value) for value in re.findall(r"\d+", text)]


def _openqasm(names: dict[str, str], mark: str) -> Any:
    def read(text: str) -> tuple[list[Op], int]:
        registers: dict[str, list[int]] = {}
        count = itertools.count()
        ops: list[Op] = []
        for line in text.replace("qubit", "qreg_").splitlines():
            declared = re.fullmatch(r"(?:creg (\w+)\[(\d+)\]|bit\[(\d+)\] (\w+));", line)
            if declared:
                registers[declared[1] or declared[4]] = [next(count) for _ in range(int(declared[2] or declared[3]))]
            elif line.startswith(("OPENQASM", "include", "qreg", "barrier")):
                continue
            else:
                ops.append(_statement(line, registers, names, mark))
        return ops, sum(map(len, registers.values()))

    return read


def _statement(line: str, registers: dict[str, list[int]], names: dict[str, str], mark: str) -> Op:
    tested = re.fullmatch(r"if \((\w+) == (\d+)\) (.*)", line)
    if tested:
        return ("if", registers[tested[1]], int(tested[2]), _statement(tested[3], registers, names, mark))
    qubit = rf"{mark}(\d+)\]?"
    measured = re.fullmatch(rf"measure {qubit} -> (\w+)\[(\d+)\];", line)
    if measured:
        return ("measure", int(measured[1]), registers[measured[2]][int(measured[3])])
    measured = re.fullmatch(rf"(\w+)\[(\d+)\] = measure {qubit};", line)
    if measured:
        return ("measure", int(measured[3]), registers[measured[1]][int(measured[2])])
    reset = re.fullmatch(rf"reset {qubit};", line)
    if reset:
        return ("reset", int(reset[1]))
    called = re.fullmatch(r"([a-z]\w*)(?:\((.*)\))? ([^()]*);", line)
    assert called, line
    return _gate(called[1], _values(called[2]), _indices(called[3]), names)


def _ionq(text: str) -> tuple[list[Op], int]:
    program = json.loads(text)
    assert program["gateset"] == "qis"
    ops: list[Op] = []
    for item in program["circuit"]:
        values = [item["rotation"]] if "rotation" in item else []
        controls = item.get("controls", [])
        matrix = GATES[IONQ.get(item["gate"], item["gate"])](*values)
        ops.append(("gate", under(matrix, len(controls)), controls + item["targets"]))
    return ops, 0


def _quil(text: str) -> tuple[list[Op], int]:
    ops: list[Op] = []
    cells = 0
    for line in text.splitlines():
        measured = re.fullmatch(r"MEASURE (\d+) ro\[(\d+)\]", line)
        called = re.fullmatch(r"([A-Z]+)(?:\((.*)\))? ([\d ]+)", line)
        declared = re.fullmatch(r"DECLARE ro BIT\[(\d+)\]", line)
        if declared:
            cells = int(declared[1])
        elif measured:
            ops.append(("measure", int(measured[1]), int(measured[2])))
        elif called and called[1] == "RESET":
            ops.append(("reset", int(called[3])))
        elif called and called[1] != "FENCE":
            ops.append(_gate(called[1], _values(called[2]), _indices(called[3]), QUIL))
        else:
            assert called, line
    return ops, cells


def _qir(text: str) -> tuple[list[Op], int]:
    ops: list[Op] = []
    recorded = []
    for name, arguments in re.findall(r"call void @__quantum__(\w+)\((.*)\)", text):
        qubits, values = [], []
        for argument in arguments.split(", "):
            if argument == "ptr null":
                qubits.append(0)
            elif argument.startswith("ptr inttoptr"):
                qubits.append(int(re.findall(r"i64 (\d+)", argument)[0]))
            elif argument.startswith("double"):
                values.append(_double(argument.removeprefix("double ")))
        if name == "rt__result_record_output":
            recorded.append(qubits[0])
        elif name == "qis__mz__body":
            ops.append(("measure", qubits[0], qubits[1]))
        elif name.startswith("qis__"):
            word = name.removeprefix("qis__")
            own = word.removesuffix("__body") if word.endswith("__body") else word.removesuffix("__adj") + "dg"
            ops.append(_gate(own, values, qubits, {"cnot": "cx"}))
    assert recorded == list(range(len(recorded)))
    return ops, len(recorded)


def _double(text: str) -> float:
    return struct.unpack(">d", bytes.fromhex(text[2:].zfill(16)))[0] if text.startswith("0x") else float(text)


READERS: dict[str, Any] = {
    "braket": _openqasm(BRAKET, r"q\["),
    "qasm2": _openqasm(QASM2, r"q\["),
    "ibm": _openqasm({}, r"\$"),
    "ionq": _ionq,
    "quil": _quil,
    "qir": _qir,
}
