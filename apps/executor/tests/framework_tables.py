"""Circuits written once in neutral words, with their meaning in Cirq, PennyLane, Braket and the marqov SDK."""

from __future__ import annotations

from typing import Any

import cirq
import marqov
import numpy as np
import pennylane as qml
from braket.circuits import Circuit as BraketCircuit
from braket.devices import LocalSimulator
from qiskit.quantum_info import Statevector

from qjs_executor.child.circuits.openqasm import load
from qjs_executor.child.found import FoundCircuit

Row = list[tuple[Any, ...]]

CIRQ: dict[str, Any] = {
    "h": cirq.H, "x": cirq.X, "y": cirq.Y, "z": cirq.Z, "s": cirq.S, "t": cirq.T, "sdg": cirq.S**-1, "tdg": cirq.T**-1,
    "sx": cirq.X**0.5, "sxdg": cirq.X**-0.5, "cx": cirq.CX, "cz": cirq.CZ, "cy": cirq.ControlledGate(cirq.Y), "swap": cirq.SWAP,
    "iswap": cirq.ISWAP, "ccx": cirq.CCX, "cswap": cirq.CSWAP, "rx": cirq.rx, "ry": cirq.ry, "rz": cirq.rz,
    "p": lambda a: cirq.ZPowGate(exponent=a / np.pi), "cp": lambda a: cirq.CZPowGate(exponent=a / np.pi),
    "rzz": lambda a: cirq.ZZPowGate(exponent=a / np.pi, global_shift=-0.5), "rxx": lambda a: cirq.XXPowGate(exponent=a / np.pi, global_shift=-0.5),
    "ryy": lambda a: cirq.YYPowGate(exponent=a / np.pi, global_shift=-0.5), "crx": lambda a: cirq.ControlledGate(cirq.rx(a)),
    "crz": lambda a: cirq.ControlledGate(cirq.rz(a)), "ccz": cirq.CCZ, "c0x": cirq.ControlledGate(cirq.X, control_values=[0]), "id": cirq.I,
}  # fmt: skip
PENNYLANE: dict[str, Any] = {
    "h": qml.Hadamard, "x": qml.X, "y": qml.Y, "z": qml.Z, "s": qml.S, "t": qml.T, "sdg": lambda w: qml.adjoint(qml.S(w)),
    "tdg": lambda w: qml.adjoint(qml.T(w)), "sx": qml.SX, "sxdg": lambda w: qml.adjoint(qml.SX(w)), "cx": qml.CNOT, "cz": qml.CZ, "cy": qml.CY,
    "swap": qml.SWAP, "iswap": qml.ISWAP, "ccx": qml.Toffoli, "cswap": qml.CSWAP, "rx": qml.RX, "ry": qml.RY, "rz": qml.RZ, "p": qml.PhaseShift,
    "cp": qml.ControlledPhaseShift, "rzz": qml.IsingZZ, "rxx": qml.IsingXX, "ryy": qml.IsingYY, "crx": qml.CRX, "crz": qml.CRZ, "ccz": qml.CCZ,
    "c0x": lambda wires: qml.ctrl(qml.X(wires[1]), control=wires[0], control_values=[0]), "id": qml.Identity,
}  # fmt: skip
BRAKET: dict[str, str] = {
    "sdg": "si", "tdg": "ti", "sx": "v", "sxdg": "vi", "cx": "cnot", "p": "phaseshift", "cp": "cphaseshift", "rzz": "zz", "rxx": "xx", "ryy": "yy",
    "ccx": "ccnot", "id": "i",
}  # fmt: skip
MARQOV = ("h", "x", "y", "z", "s", "t", "rx", "ry", "rz", "cx", "cz", "swap")

ROWS: dict[str, Row] = {
    "bell": [("h", 0), ("cx", 0, 1)],
    "bell reversed": [("h", 1), ("cx", 1, 0)],
    "ghz": [("h", 0), ("cx", 0, 1), ("cx", 1, 2)],
    "x on the last": [("id", 0), ("id", 1), ("x", 2)],
    "last before first": [("x", 2), ("h", 1), ("cx", 1, 0)],
    "w": [("ry", 1.9106332362490186, 0), ("crx", 1.2, 0, 1), ("cx", 1, 2), ("x", 0)],
    "paulis": [("h", 0), ("y", 0), ("z", 1), ("x", 2), ("y", 2)],
    "phases": [("h", 0), ("s", 0), ("h", 0), ("h", 1), ("t", 1), ("h", 1)],
    "inverse phases": [("h", 0), ("sdg", 0), ("h", 1), ("tdg", 1), ("h", 1)],
    "roots of x": [("sx", 0), ("sx", 1), ("sxdg", 1), ("sxdg", 2), ("t", 0), ("sx", 0)],
    "exact rx": [("rx", 0.1234567890123456, 0), ("rx", 2.9876543210987654, 1)],
    "exact ry": [("ry", 0.1234567890123456, 0), ("ry", -7.000000000000001, 1)],
    "exact rz": [("h", 0), ("rz", 0.7071067811865476, 0), ("h", 0), ("id", 1)],
    "tiny angle": [("rx", 1e-5, 0), ("ry", 3e-4, 1), ("rz", 1e-12, 0)],
    "large angle": [("rx", 1234.5678, 0), ("h", 1), ("p", -321.123, 1), ("h", 1)],
    "negative angle": [("ry", -0.3, 0), ("rx", -1.7, 1)],
    "phase shift": [("h", 0), ("p", 0.4, 0), ("h", 0), ("ry", 0.2, 1)],
    "controlled phase": [("h", 0), ("h", 1), ("cp", 0.77, 0, 1), ("h", 0), ("h", 1)],
    "controlled rx": [("h", 2), ("crx", 0.9, 2, 0), ("id", 1)],
    "controlled rz": [("h", 0), ("h", 1), ("crz", 0.9, 1, 0), ("h", 0)],
    "cy": [("h", 0), ("cy", 0, 1), ("h", 1)],
    "cz": [("h", 0), ("ry", 0.3, 1), ("cz", 1, 0), ("h", 0)],
    "swap": [("ry", 0.3, 0), ("swap", 0, 1)],
    "iswap": [("ry", 0.3, 0), ("h", 1), ("iswap", 0, 1), ("h", 0)],
    "toffoli": [("h", 0), ("h", 2), ("ccx", 2, 0, 1)],
    "fredkin": [("h", 1), ("ry", 0.5, 0), ("cswap", 1, 2, 0)],
    "zz": [("h", 0), ("h", 1), ("rzz", 0.6, 0, 1), ("h", 0), ("h", 1)],
    "xx": [("ry", 0.2, 0), ("rxx", 0.6, 0, 1)],
    "yy": [("ry", 0.2, 0), ("ryy", 0.6, 1, 0)],
    "ccz": [("h", 0), ("h", 1), ("h", 2), ("ccz", 0, 1, 2), ("h", 2)],
    "control on zero": [("ry", 0.4, 0), ("c0x", 0, 1)],
    "teleport gates": [("ry", 1.1, 0), ("h", 1), ("cx", 1, 2), ("cx", 0, 1), ("h", 0), ("cx", 1, 2), ("cz", 0, 2)],
    "grover": [("h", 0), ("h", 1), ("cz", 0, 1), ("h", 0), ("h", 1), ("x", 0), ("x", 1), ("cz", 0, 1), ("x", 0), ("x", 1), ("h", 0), ("h", 1)],
    "deutsch": [("x", 1), ("h", 0), ("h", 1), ("cx", 0, 1), ("h", 0)],
    "bernstein": [("x", 3), ("h", 0), ("h", 1), ("h", 2), ("h", 3), ("cx", 0, 3), ("cx", 2, 3), ("h", 0), ("h", 1), ("h", 2)],
    "fourier": [("x", 0), ("h", 0), ("cp", np.pi / 2, 1, 0), ("cp", np.pi / 4, 2, 0), ("h", 1), ("cp", np.pi / 2, 2, 1), ("h", 2), ("swap", 0, 2)],
    "ansatz": [("ry", 0.1, 0), ("ry", 0.2, 1), ("ry", 0.3, 2), ("cx", 0, 1), ("cx", 1, 2), ("ry", 0.4, 0), ("ry", 0.5, 1), ("ry", 0.6, 2)],
    "trotter": [(g, 0.3, a, a + 1) for g in ("rxx", "ryy", "rzz") for a in (0, 1)] + [("rx", 0.2, 1)],
    "five qubits": [("h", 0), ("cx", 0, 4), ("ry", 0.7, 2), ("cx", 2, 1), ("cx", 4, 3), ("rx", 0.3, 3)],
    "undone": [("h", 0), ("t", 0), ("cx", 0, 1), ("cx", 0, 1), ("tdg", 0), ("h", 0)],
    "adder": [("x", 0), ("h", 1), ("ccx", 0, 1, 3), ("cx", 0, 1), ("ccx", 1, 2, 3), ("cx", 1, 2)],
    "one qubit": [("h", 0), ("rz", 0.3, 0), ("rx", 0.4, 0)],
    "phases between": [("h", 0), ("h", 1), ("z", 0), ("s", 1), ("cz", 0, 1), ("sx", 0), ("sx", 1)],
}  # fmt: skip


def width(row: Row) -> int:
    return 1 + max(place for op in row for place in op[1:] if isinstance(place, int))


def scrambled(row: Row) -> Row:
    """The row with a tail that turns every phase into a probability."""
    size = width(row)
    tail: Row = [("ry", 0.3 + 0.2 * q, q) for q in range(size)] + [("rx", 0.5 + 0.1 * q, q) for q in range(size)]
    return row + tail + [("cx", q, q + 1) for q in range(size - 1)]


def split(op: tuple[Any, ...]) -> tuple[str, list[float], list[int]]:
    return op[0], [v for v in op[1:] if isinstance(v, float)], [v for v in op[1:] if isinstance(v, int)]


def in_cirq(row: Row) -> cirq.Circuit:
    line = cirq.LineQubit.range(width(row))
    parts = [split(op) for op in row]
    return cirq.Circuit((CIRQ[n](*v) if v else CIRQ[n]).on(*[line[q] for q in places]) for n, v, places in parts)


def in_pennylane(row: Row, wires: list[Any] | None = None) -> Any:
    names = wires or list(range(width(row)))

    @qml.qnode(qml.device("default.qubit", wires=names))
    def circuit() -> Any:
        for name, values, places in map(split, row):
            own = [names[q] for q in places]
            PENNYLANE[name](*values, own[0] if len(own) == 1 else own)
        return qml.probs(wires=names)

    return circuit


def in_braket(row: Row) -> BraketCircuit:
    circuit = BraketCircuit()
    for name, values, places in map(split, row):
        if name == "crx":
            circuit.rx(places[1], values[0], control=places[0])
        elif name == "crz":
            circuit.rz(places[1], values[0], control=places[0])
        elif name == "ccz":
            circuit.z(places[2], control=places[:2])
        elif name == "c0x":
            circuit.x(places[1], control=places[0], control_state=[0])
        else:
            getattr(circuit, BRAKET.get(name, name))(*places, *values)
    return circuit


def in_marqov(row: Row) -> marqov.Circuit | None:
    if any(op[0] not in MARQOV for op in row):
        return None
    circuit = marqov.Circuit()
    for name, values, places in map(split, row):
        getattr(circuit, name)(*values, *places)
    return circuit


def cirq_probabilities(circuit: cirq.Circuit) -> Any:
    return np.abs(cirq.Simulator(dtype=np.complex128).simulate(circuit).final_state_vector) ** 2


def braket_probabilities(circuit: BraketCircuit) -> Any:
    alone = BraketCircuit(circuit.instructions).state_vector()
    return np.abs(LocalSimulator().run(alone, shots=0).result().values[0]) ** 2


def probabilities(found: FoundCircuit) -> Any:
    """Exact, by basis state with qubit 0 leftmost, measurements left out."""
    circuit = load(found.openqasm3, 30, "test").remove_final_measurements(inplace=False)
    return Statevector(circuit).reverse_qargs().probabilities()


def bit_probabilities(found: FoundCircuit) -> dict[str, float]:
    """Exact probabilities of the counts' bit strings, each register's bit 0 leftmost, for measurements at the end."""
    circuit = load(found.openqasm3, 30, "test")
    qubits = {
        circuit.find_bit(i.clbits[0]).index: circuit.find_bit(i.qubits[0]).index
        for i in circuit.data
        if i.operation.name == "measure"
    }
    circuit = circuit.remove_final_measurements(inplace=False)
    state = Statevector(circuit).probabilities()
    shown: dict[str, float] = {}
    for value, chance in enumerate(state):
        if chance > 1e-12:
            key = "".join(str(value >> qubits[place] & 1) for place in sorted(qubits))
            shown[key] = shown.get(key, 0.0) + float(chance)
    return shown


def expectation(found: FoundCircuit, which: int) -> float:
    """An observable's exact value from the bits' probabilities."""
    assert found.observables is not None
    observable = found.observables[which]

    def value(bits: str) -> float:
        return observable.constant + sum(
            c * (-1.0) ** sum(bits[p] == "1" for p in places) for c, places in observable.terms
        )

    chances = bit_probabilities(found)
    mean = sum(chance * value(bits) for bits, chance in chances.items())
    if observable.kind == "expval":
        return mean
    return sum(chance * value(bits) ** 2 for bits, chance in chances.items()) - mean**2
