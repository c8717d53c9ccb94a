"""Runs a trusted job of the tests in this process, without sandbox: what a circuit means needs no child of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from qjs_executor.child.execution import answer_to
from qjs_executor.child.refusals import JobError
from qjs_executor.execution_request import ExecutionRequest

from .sdk import sdk_as_it_is

STD = 'OPENQASM 3.0; include "stdgates.inc";\n'
QELIB = 'OPENQASM 2.0; include "qelib1.inc";\n'
QISKIT = "from qiskit import QuantumCircuit, QuantumRegister, ClassicalRegister\n"


def request(framework: str, code: str, **fields: Any) -> ExecutionRequest:
    """A request as the child receives it; `fields` replace those of the same name."""
    shots = fields.get("shots", 100)
    return replace(
        ExecutionRequest(
            kind="run",
            source={"kind": "code", "framework": framework, "code": code},
            backend="aer-statevector",
            max_qubits=28,
            shots=shots,
            optimization_level=0 if fields.get("noise_model") else 1,
            params={"shots": shots, "backend": "aer-statevector"},
        ),
        **fields,
    )


def answered(asked: ExecutionRequest) -> dict[str, Any]:
    """The child's answer to a request."""
    with sdk_as_it_is():
        return answer_to(asked)


def answer(framework: str, code: str, **fields: Any) -> dict[str, Any]:
    """The child's answer to a program."""
    return answered(request(framework, code, **fields))


def counts(framework: str, code: str, **fields: Any) -> dict[str, int]:
    """The counts of a job."""
    found: dict[str, int] = answer(framework, code, **fields)["counts"]
    return found


def refusal(framework: str, code: str, **fields: Any) -> JobError:
    """The error that a job ends with."""
    try:
        given = answer(framework, code, **fields)
    except JobError as error:
        return error
    raise AssertionError(f"the job ran: {given['counts']}")
