"""Takes one circuit to its counts where the caller runs it, on a backend that this process cannot reach: sends the
circuit, and those that its observables and the mitigation of its errors need, and computes the values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from qiskit import QuantumCircuit

from ..execution_request import ExecutionRequest
from ..mitigation import read as read_mitigation
from .asks import Asks, circuit_digest
from .circuit_execution import canonical, checked, expectations, observables_of, shown
from .circuits.info import describe
from .circuits.measurement import measured_layout, with_measurements
from .engines.observables import observe_samples
from .engines.sampling import counts_by_qubit, measured_in
from .mitigation.mitigated import mitigated
from .refusals import Unsupported

ASKED_TEXT_MAX = 1024 * 1024
"""Characters of a circuit that is sent to the caller: the service's own limit for circuits."""


def request_circuit(
    circuit: QuantumCircuit, source: str | None, warnings: list[str], request: ExecutionRequest, asks: Asks
) -> dict[str, Any]:
    """Makes the caller run a circuit on the job's backend. Raises RuntimeError with the reason when that fails."""
    circuit = checked(circuit, source, request)
    observables = observables_of(circuit, request)
    asked = None if request.mitigation is None else read_mitigation(request.mitigation)
    if request.observables_method == "exact":
        raise Unsupported(f"observables_method: exact is not possible: {request.backend} has no state to read")
    if asked is not None and asked.zne is not None:
        raise Unsupported(f"mitigation.zne: {request.backend} can remove the folded gates when it compiles a circuit")
    measured = with_measurements(circuit)
    registers = shown(measured_layout(measured).registers, request)
    text = _text(measured, request)
    counts = _counts(measured, text, registers, warnings, request, asks)
    # The circuit's own counts are those of the basis Z too, so that nothing is paid for them twice.
    own = counts_by_qubit(measured, counts) if observables else None
    known = {} if own is None else {"Z" * circuit.num_qubits: own}

    def sample(one: QuantumCircuit, basis: str, _: int) -> dict[str, int]:
        further = measured_in(one, basis)
        parts = measured_layout(further).registers
        answer = _counts(further, _text(further, request), parts, [], request, asks)
        return _last_bits(answer, one.num_qubits)

    fields: dict[str, Any] = {}
    if asked is not None:
        done = mitigated(measured, observables, asked, counts, sample, known, None, source)
        fields, warnings = done.fields, [*warnings, *done.warnings]
    elif observables:
        observed = observe_samples(measured, observables, sample, known)
        fields = {"expectation_values": observed.values, "observable_groups": observed.groups}
    return {
        "counts": counts,
        "count_source": "provider_counts",
        "shots": request.shots,
        "registers": registers,
        "circuit_info": describe(measured),
        "circuit_sha256": hashlib.sha256(text.encode("utf-8")).hexdigest(),
        "circuit": text,
        "warnings": warnings,
        **expectations(counts, request),
        **fields,
    }


def _text(circuit: QuantumCircuit, request: ExecutionRequest) -> str:
    text = canonical(circuit)
    if text is None:
        raise Unsupported(f"the circuit has no OpenQASM 3 form, in which it is sent to {request.backend}")
    if len(text) > ASKED_TEXT_MAX:
        raise Unsupported(
            f"the circuit has {len(text):,} characters of OpenQASM 3; at most {ASKED_TEXT_MAX:,} are sent to"
            f" {request.backend}"
        )
    return text


def _counts(
    circuit: QuantumCircuit,
    text: str,
    registers: list[dict[str, Any]],
    warnings: list[str],
    request: ExecutionRequest,
    asks: Asks,
) -> dict[str, int]:
    facts = request.circuit_facts
    answer = asks.answer(
        "circuit",
        circuit_digest(text, request.shots),
        f"a circuit of {circuit.num_qubits} qubits with {request.shots} shots",
        {
            "shots": request.shots,
            "openqasm3": text,
            "facts": {
                "register_names": facts.get("register_names"),
                "observables": facts.get("observables"),
                "warnings": warnings,
            },
            "registers": registers,
        },
    )
    if "error" in answer:
        raise RuntimeError(answer["error"])
    counts: dict[str, int] = json.loads(answer["counts"])
    if not any(counts.values()) and (request.observables or request.mitigation):
        raise RuntimeError(f"{request.backend} returned no shots of the circuit")
    return counts


def _last_bits(counts: Mapping[str, int], length: int) -> dict[str, int]:
    """The counts of the register that stands last."""
    last: dict[str, int] = {}
    for key, count in counts.items():
        last[key[-length:]] = last.get(key[-length:], 0) + count
    return last
