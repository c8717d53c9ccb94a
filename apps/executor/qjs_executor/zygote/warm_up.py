"""Provides small rehearsals, one of each kind, which a zygote's forks execute to find out which memory an execution
writes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .. import frames
from ..execution_request import ExecutionRequest

_SHOTS = 1024
_OPENQASM = """
OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q;
bit[2] c;
h q[0];
cx q[0], q[1];
c = measure q;
"""
_QISKIT = """
from qiskit import QuantumCircuit
circuit = QuantumCircuit(2, 2)
circuit.h(0)
circuit.cx(0, 1)
circuit.measure([0, 1], [0, 1])
"""
_CIRQ = """
import cirq
a, b = cirq.LineQubit.range(2)
circuit = cirq.Circuit(cirq.H(a), cirq.CNOT(a, b), cirq.measure(a, b, key="m"))
"""
_PENNYLANE = """
import pennylane as qml
device = qml.device("default.qubit", wires=2)
@qml.qnode(device)
def circuit():
    qml.Hadamard(0)
    qml.CNOT([0, 1])
    return qml.counts()
"""
_BRAKET = """
from braket.circuits import Circuit
circuit = Circuit().h(0).cnot(0, 1)
"""
_MARQOV = """
from marqov import Circuit, task, workflow
@task
def counts(circuit):
    return device.run(circuit)
@workflow
def bell():
    return counts(Circuit().h(0).cnot(0, 1))
"""
_PROGRAMS = {
    "circuits": {"openqasm": _OPENQASM, "qiskit": _QISKIT},
    "frameworks": {"cirq": _CIRQ, "pennylane": _PENNYLANE, "braket": _BRAKET, "marqov": _MARQOV},
}


def rehearsals(zygote: str) -> list[Callable[[], object]]:
    """The executions that children of "circuits" or "frameworks" mostly get. A rehearsal raises when it cannot be
    executed here."""
    return [partial(_rehearse, framework, code) for framework, code in _PROGRAMS[zygote].items()]


def _rehearse(framework: str, code: str) -> None:
    from ..child.execution import answer_to

    request = ExecutionRequest(
        kind="run",
        source={"kind": "code", "framework": framework, "code": code},
        backend="local",
        max_qubits=2,
        shots=_SHOTS,
        optimization_level=1,
        params={"shots": _SHOTS, "backend": "local"},
    )
    frames.pack({"ok": True, **answer_to(request)})
