"""Takes one circuit from its last checks to its counts: refuses it, or measures it, simulates it or sends it to the
caller, and describes it."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from qiskit import QuantumCircuit

from ..execution_request import ExecutionRequest
from ..mitigation import Mitigation
from ..mitigation import read as read_mitigation
from ..pauli_sums import PauliSum, read_all
from .adapted_circuit import Observable
from .circuits import openqasm
from .circuits.canonical import canonical_text
from .circuits.gate_names import with_distinct_names
from .circuits.info import describe
from .circuits.measurement import measured_layout, with_measurements
from .circuits.openqasm_text import too_many_qubits
from .circuits.size import survey
from .engines.engine import check, simulate
from .engines.expectations import expectation_values
from .engines.noise import NoiseSpec, parse_noise_model
from .engines.noise_channels import unused_gates
from .engines.observables import check_widths, observe
from .engines.sampling import Sampling
from .engines.state_vector import amplitude_pairs, is_inline, npy_bytes, state_vector
from .mitigation.mitigated import Mitigated, mitigated
from .refusals import Unsupported

SAVED_DATA_NOTE = "{} is ignored: saved simulator data is not part of the result in this version"
CIRCUIT_TEXT_MAX = 1024 * 1024
"""A canonical text that is longer than this is not kept; only its digest is."""


def execute_circuit(
    circuit: QuantumCircuit, source: str | None, warnings: list[str], request: ExecutionRequest
) -> dict[str, Any]:
    """Simulates a circuit. `source` is the OpenQASM text it came from, for the lines in refusals."""
    engine, noise = request.engine, _noise(request)
    circuit = checked(circuit, source, request)
    check(engine, circuit.num_qubits, noise is not None)
    state = _state(circuit, engine, source, noise) if request.extract_state_vector else {}
    asked = _mitigation(noise, request)
    observed = {} if asked else _observed(circuit, source, noise, request)
    circuit = with_measurements(circuit)
    layout = measured_layout(circuit)
    saved = sorted({item.operation.name for item in circuit.data if item.operation.name.startswith("save_")})
    warnings = [*warnings, *(SAVED_DATA_NOTE.format(name) for name in saved)]
    text = canonical(circuit)
    if text is None:
        warnings.append("the circuit has no OpenQASM 3 form, so circuit_sha256 is null")
    if noise is not None:
        warnings += [f"noise_model: the circuit has no gate '{name}'" for name in unused_gates(circuit, noise)]
    memory = simulate(circuit, engine, request.shots, request.seed, request.optimization_level, source, noise)
    counts = layout.counts(memory)
    if asked is not None and noise is not None:
        done = _mitigated(circuit, counts, asked, source, noise, request)
        observed, warnings = done.fields, [*warnings, *done.warnings]
    return {
        "counts": counts,
        "registers": shown(layout.registers, request),
        "circuit_info": describe(circuit, drawn=not request.of_sweep),
        "circuit_sha256": hashlib.sha256(text.encode("utf-8")).hexdigest() if text is not None else None,
        "circuit": text if text is not None and len(text) <= CIRCUIT_TEXT_MAX and not request.of_sweep else None,
        "warnings": warnings,
        **state,
        **expectations(counts, request),
        **observed,
    }


def _observed(
    circuit: QuantumCircuit, source: str | None, noise: NoiseSpec | None, request: ExecutionRequest
) -> dict[str, Any]:
    """The values of the observables that the job's parameters ask for."""
    if not request.observables:
        return {}
    sampling = _sampling(source, noise, request)
    observed = observe(circuit, read_all(request.observables), request.observables_method, sampling)
    return {"expectation_values": observed.values, "observable_groups": observed.groups}


def _sampling(source: str | None, noise: NoiseSpec | None, request: ExecutionRequest) -> Sampling:
    return Sampling(request.engine, request.shots, request.seed, request.optimization_level, source, noise)


def observables_of(circuit: QuantumCircuit, request: ExecutionRequest) -> list[PauliSum]:
    """The observables that the job's parameters ask for. Raises Unsupported for another number of qubits."""
    observables = read_all(request.observables) if request.observables else []
    check_widths(circuit, observables)
    return observables


def _mitigation(noise: NoiseSpec | None, request: ExecutionRequest) -> Mitigation | None:
    """What is to be mitigated. Raises Unsupported without the noise for it."""
    if request.mitigation is None:
        return None
    asked = read_mitigation(request.mitigation)
    if noise is None:
        raise Unsupported("mitigation: nothing is noisy here; set params.noise_model")
    if asked.readout and not noise.has_readout_errors:
        raise Unsupported("mitigation.readout: nothing is read wrongly here; set readout_errors in params.noise_model")
    if asked.zne is not None and not noise.has_gate_errors:
        raise Unsupported("mitigation.zne: no gate has noise here; set gate_errors or t1_us in params.noise_model")
    return asked


def _mitigated(
    circuit: QuantumCircuit,
    counts: dict[str, int],
    asked: Mitigation,
    source: str | None,
    noise: NoiseSpec,
    request: ExecutionRequest,
) -> Mitigated:
    """The job's values on an engine, mitigated."""
    observables = observables_of(circuit, request)
    sample = _sampling(source, noise, request).counts
    return mitigated(circuit, observables, asked, counts, sample, {}, noise, source)


def expectations(counts: dict[str, int], request: ExecutionRequest) -> dict[str, Any]:
    """The values of the observables that the circuit's framework requested."""
    observables = request.circuit_facts.get("observables")
    if not observables:
        return {}
    return {"expectation_values": expectation_values([Observable(**item) for item in observables], counts)}


def _noise(request: ExecutionRequest) -> NoiseSpec | None:
    value = request.noise_model
    return None if value is None else parse_noise_model(value, request.max_qubits)


def _state(circuit: QuantumCircuit, engine: str, source: str | None, noise: NoiseSpec | None) -> dict[str, Any]:
    """The state vector as pairs of numbers, or, when it is large, as the base64 text of a `.npy` file."""
    state = state_vector(circuit, engine, source, noise)
    if is_inline(circuit.num_qubits):
        return {"state_vector": amplitude_pairs(state)}
    return {"state_vector_npy": base64.b64encode(npy_bytes(state)).decode("ascii")}


def checked(circuit: QuantumCircuit, source: str | None, request: ExecutionRequest) -> QuantumCircuit:
    """The circuit with its custom gates under names of their own. Raises JobError for what cannot be run."""
    check_runnable(circuit, request.max_qubits, request.backend, source)
    if survey(circuit, named_by_source=source is not None):
        return with_distinct_names(circuit, named_by_source=source is not None)
    return circuit


def shown(registers: list[dict[str, Any]], request: ExecutionRequest) -> list[dict[str, Any]]:
    """The registers under the names that their framework gave them."""
    names = request.circuit_facts.get("register_names")
    if not names or len(names) != len(registers):
        return registers
    return [{**register, "name": name} for register, name in zip(registers, names, strict=True)]


def check_runnable(circuit: QuantumCircuit, max_qubits: int, backend: str, source: str | None) -> None:
    """Checks before any work on the state: too many qubits, no qubits, or unbound parameters."""
    if circuit.num_qubits == 0:
        raise Unsupported("the circuit has no qubits")
    if circuit.num_qubits > max_qubits:
        raise Unsupported(too_many_qubits(circuit.num_qubits, backend, max_qubits))
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
    return f"unbound parameters: {names}{where}; give them values in the job's params, under these names"


def canonical(circuit: QuantumCircuit) -> str | None:
    """The circuit in OpenQASM 3; None for a circuit that the language cannot express."""
    try:
        text = canonical_text(circuit)
    except Exception:
        return None
    return text
