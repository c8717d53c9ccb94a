"""One job from source to counts: read the circuit, refuse what has no faithful run, measure, simulate, describe."""

from __future__ import annotations

import hashlib
from typing import Any

from qiskit import QuantumCircuit, qasm3

from . import user_code
from .circuits import openqasm
from .circuits.gate_names import with_distinct_names
from .circuits.info import describe
from .circuits.measurement import measured_layout, with_measurements
from .circuits.size import survey
from .engines import statevector
from .refusals import Unsupported

SAVED_DATA_NOTE = "{} is ignored: saved simulator data is not part of the result in this version"


def run(job: dict[str, Any]) -> dict[str, Any]:
    """The fields of a successful answer. Raises JobError for everything that is the job's own fault."""
    circuit, warnings, source = _circuit(job)
    check_runnable(circuit, job["max_qubits"], job["backend"], source)
    if survey(circuit, named_by_source=source is not None):
        circuit = with_distinct_names(circuit, named_by_source=source is not None)
    circuit = with_measurements(circuit)
    layout = measured_layout(circuit)
    saved = sorted({item.operation.name for item in circuit.data if item.operation.name.startswith("save_")})
    warnings += [SAVED_DATA_NOTE.format(name) for name in saved]
    digest = _digest(circuit)
    if digest is None:
        warnings.append("the circuit has no OpenQASM 3 form, so circuit_sha256 is null")
    memory = statevector.simulate(circuit, job["shots"], job["seed"], job["optimization_level"], source)
    return {
        "counts": layout.counts(memory),
        "registers": layout.registers,
        "circuit_info": describe(circuit),
        "circuit_sha256": digest,
        "warnings": warnings,
    }


def _circuit(job: dict[str, Any]) -> tuple[QuantumCircuit, list[str], str | None]:
    """The circuit, warnings about how it was found, and the OpenQASM text it came from, if any."""
    source = job["source"]
    if source["kind"] == "circuit":
        return (
            openqasm.load(source["payload"], job["max_qubits"], job["backend"], source["format"]),
            [],
            source["payload"],
        )
    if source["framework"] == "openqasm":
        return openqasm.load(source["code"], job["max_qubits"], job["backend"]), [], source["code"]
    found, warnings = user_code.find_circuit(source["code"], job["params"], job["shots"], job["backend"])
    if isinstance(found, str):
        return openqasm.load(found, job["max_qubits"], job["backend"]), warnings, found
    return found, warnings, None


def check_runnable(circuit: QuantumCircuit, max_qubits: int, backend: str, source: str | None) -> None:
    """Refuses, before any work on the state: too many qubits or none, unbound parameters."""
    if circuit.num_qubits == 0:
        raise Unsupported("the circuit has no qubits")
    if circuit.num_qubits > max_qubits:
        raise Unsupported(openqasm.too_many_qubits(circuit.num_qubits, backend, max_qubits))
    statevector.check_memory(circuit.num_qubits)
    if circuit.parameters:
        raise Unsupported(_unbound(circuit), openqasm.line_of(source, circuit.parameters[0].name))
    if any(True for _ in circuit.iter_input_vars()):
        names = ", ".join(variable.name for variable in circuit.iter_input_vars())
        raise Unsupported(f"the circuit has unbound inputs: {names}; give them values")


def _unbound(circuit: QuantumCircuit) -> str:
    names = ", ".join(parameter.name for parameter in circuit.parameters[:5])
    for item in circuit.data:
        if any(getattr(value, "parameters", None) for value in item.operation.params):
            qubits = ", ".join(str(circuit.find_bit(qubit).index) for qubit in item.qubits)
            where = f" (operation '{item.operation.name}' on qubit {qubits})"
            break
    else:
        where = ""
    return f"unbound parameters: {names}{where}; give them values, for example with assign_parameters"


def _digest(circuit: QuantumCircuit) -> str | None:
    """SHA-256 of the canonical OpenQASM 3 text; None for what that language cannot say."""
    try:
        text = qasm3.dumps(circuit)
    except Exception:
        return None
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
