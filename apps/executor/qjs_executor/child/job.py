"""One job from source to answer: read the circuit, refuse what has no faithful run, measure, simulate, describe."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import importlib.util
import itertools
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from qiskit import QuantumCircuit

from . import user_code
from .analysis.analysis import analyse
from .asks import Asks, digest_of
from .circuits import openqasm
from .circuits.canonical import canonical_text
from .circuits.gate_names import with_distinct_names
from .circuits.info import describe
from .circuits.measurement import measured_layout, with_measurements
from .circuits.size import survey
from .detection import detect
from .device import Device, DeviceRun
from .engines.engine import ENGINES, check, is_available, simulate
from .engines.expectations import expectation_values
from .engines.noise import NoiseSpec, parse_noise_model
from .engines.noise_channels import unused_gates
from .engines.state_vector import amplitude_pairs, is_inline, npy_bytes, state_vector
from .found import Observable
from .frameworks.registry import adapter_of
from .plain_value import plain_value
from .refusals import JobError, Unsupported
from .replay import derived_seed, make_repeatable
from .script import Script, script_of
from .targets.compilation import compile_circuit
from .targets.target import parse_target
from .workflows.capture import capture, recorded, require_sdk
from .workflows.client import DispatchClient
from .workflows.dispatches import Dispatches
from .workflows.native import entry_dispatch, finish_answer, value_answer, workflow_answer
from .workflows.task import task_answer
from .workflows.task_device import pickle_devices_by_reference, provide_device

SAVED_DATA_NOTE = "{} is ignored: saved simulator data is not part of the result in this version"
EXPECTATIONS_NOTE = (
    "the program asks for expectation values: the counts are in the basis of its observables, and the values are yours"
    " to compute from them on this backend"
)
CIRCUIT_TEXT_MAX = 1024 * 1024
"""A longer canonical text is not kept beside the result, only its digest."""
ASKED_TEXT_MAX = 1024 * 1024
"""Characters of a circuit that the service is asked to run: as many as it takes from anybody."""
DISPATCH_RETURNED = (
    "main() returned a workflow that has not run: return what it gives, with `await workflow(...).run(client)`"
)


def answer_to(
    job: dict[str, Any], exchange: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None
) -> dict[str, Any]:
    """The fields of a successful answer to any task; `ask` alone where the run ends with a request. `exchange` says a
    request to the service and waits for its answer. Raises JobError for everything that is the job's own fault."""
    script = script_of(job)
    job = {**job, "script": script, "asks": Asks(script.answers, exchange), "draws": itertools.count(1)}
    match job["task"]:
        case "detect":
            return {"framework": detect(job["source"]["code"])}
        case "engines":
            return {"engines": [name for name in ENGINES if is_available(name)]}
        case "convert":
            return _convert(job)
        case "compile":
            return _compile(job)
        case "analyse":
            return analyse(job["source"]["code"], job["request"]["requirements"])
        case "capture":
            return _capture(job)
        case _:
            return _run(job)


def _run(job: dict[str, Any]) -> dict[str, Any]:
    """Counts; or `found`, a circuit that another child has to run; or `value`, what a `main` or a workflow returned; or
    what one task of a graph returned; or `ask`."""
    script: Script = job["script"]
    if script.finish is not None or script.task is not None or script.entry is not None:
        require_sdk()
    if script.seed is not None and script.now is not None:
        make_repeatable(script.seed, script.now)
    asks: Asks = job["asks"]
    try:
        return _answer(job, script)
    finally:
        asks.check()


def _answer(job: dict[str, Any], script: Script) -> dict[str, Any]:
    if script.finish is not None or script.task is not None:
        _prepare_for_tasks(job)
        return finish_answer(script.finish) if script.finish is not None else task_answer(script.task or {})
    dispatches = _dispatches(job)
    if script.entry is not None and dispatches is not None:
        _, namespace = user_code.executed(job["source"]["code"], job["params"], _device(job))
        return workflow_answer(entry_dispatch(namespace, script.entry), dispatches, script.graphs == "ask")
    found = _source(job, None if dispatches is None else DispatchClient(dispatches))
    if isinstance(found, user_code.FoundWorkflow) and dispatches is not None:
        dispatch = recorded(found.name, found.function, job["params"])
        return workflow_answer(dispatch, dispatches, script.graphs == "ask")
    if isinstance(found, DeviceRun):
        return {**found.answer, "shots": found.shots}
    if isinstance(found, user_code.FoundValue):
        if type(found.value).__name__ == "WorkflowDispatch":
            raise JobError(DISPATCH_RETURNED)
        return value_answer(plain_value(found.value), found.warnings, dispatches.metadata if dispatches else None)
    assert isinstance(found, user_code.FoundObject)
    with _lines(found, job):
        circuit, warnings, text = _circuit(found, job)
        if script.circuits == "ask":
            return user_code.guarded(lambda: _asked(circuit, text, warnings, job))  # type: ignore[no-any-return]
        if isinstance(circuit, QuantumCircuit):
            return run_circuit(circuit, text, warnings, job)
    return {"found": circuit}


def _dispatches(job: dict[str, Any]) -> Dispatches | None:
    """What runs the workflows of the source; None for a source that can have none."""
    source = job["source"]
    if source["kind"] != "code" or "marqov" not in source["code"] or importlib.util.find_spec("marqov") is None:
        return None
    dispatches = Dispatches(job["script"].graphs, job["asks"], lambda: _device(job))
    dispatches.begin()
    return dispatches


def _prepare_for_tasks(job: dict[str, Any]) -> None:
    """What functions and values of the source find where they are unpickled; the source itself is not run."""
    device = _device(job)
    provide_device(device)
    pickle_devices_by_reference()
    if job["source"]["kind"] == "code":
        user_code.module_of(job["source"]["code"], job["params"], device)


def _convert(job: dict[str, Any]) -> dict[str, Any]:
    """The canonical text of the circuit as it stands, and its facts; or `found`, to be converted by another child."""
    circuit, warnings, text = _circuit_alone(job, "convert")
    if not isinstance(circuit, QuantumCircuit):
        return {"found": circuit}
    circuit = _checked(circuit, text, job)
    try:
        canonical = canonical_text(circuit)
    except Exception as error:
        raise Unsupported(f"the circuit has no OpenQASM 3 form: {str(error)[:500]}") from None
    return {"openqasm3": canonical, "circuit_info": describe(circuit), "warnings": warnings}


def _compile(job: dict[str, Any]) -> dict[str, Any]:
    """The circuit in the form of a provider; or `found`, to be compiled by another child."""
    circuit, warnings, text = _circuit_alone(job, "compile")
    if not isinstance(circuit, QuantumCircuit):
        return {"found": circuit}
    circuit = _checked(circuit, text, job)
    answer = compile_circuit(circuit, text, parse_target(job["request"]["target"]))
    if job.get("circuit_facts", {}).get("observables"):
        warnings = [*warnings, EXPECTATIONS_NOTE]
    return {
        **answer,
        "openqasm3": _canonical(with_measurements(circuit)),
        "registers": _shown(answer["registers"], job),
        "warnings": [*warnings, *answer["warnings"]],
    }


def _capture(job: dict[str, Any]) -> dict[str, Any]:
    """The graph of the tasks of a script's workflow."""
    wanted = job["request"]
    return capture(job["source"]["code"], job["params"], _device(job), wanted["entrypoint"], wanted["arguments"])


def _circuit_alone(job: dict[str, Any], task: str) -> tuple[QuantumCircuit | dict[str, Any], list[str], str | None]:
    """The circuit that a source leaves, not run. Raises JobError when it leaves something else."""
    found = _source(job)
    if not isinstance(found, user_code.FoundObject):
        raise JobError(
            f"the code leaves no circuit to {task} (it defines main() or runs on the device): assign the circuit to a"
            " variable named 'circuit'"
        )
    return _circuit(found, job)


def _lines(found: user_code.FoundObject, job: dict[str, Any]) -> AbstractContextManager[None]:
    """Refusals of what Python code made get the code's lines; those of a text have their own."""
    python = job["source"]["kind"] == "code" and job["source"]["framework"] != "openqasm"
    return user_code.lines_of(found) if python else nullcontext()


def _source(job: dict[str, Any], client: Any = None) -> user_code.Found:
    """What the source leaves to be run; Python is executed, OpenQASM is only handed on."""
    source = job["source"]
    if source["kind"] == "circuit":
        return user_code.FoundObject(source["payload"])
    if source["framework"] == "openqasm":
        return user_code.FoundObject(source["code"])
    return user_code.run_user_code(source["code"], job["params"], _device(job), client)


def _device(job: dict[str, Any]) -> Device:
    return Device(job["backend"], job["shots"], lambda circuit, shots: _run_on_device(circuit, shots, job))


def _circuit(
    found: user_code.FoundObject, job: dict[str, Any]
) -> tuple[QuantumCircuit | dict[str, Any], list[str], str | None]:
    """The circuit, or what its framework's adapter made of it; warnings; the OpenQASM text it came from, if any."""
    value = found.value
    if isinstance(value, str):
        form = job["source"].get("format")
        return openqasm.load(value, job["max_qubits"], job["backend"], form), found.warnings, value
    if isinstance(value, QuantumCircuit):
        return value, found.warnings, None
    adapter = adapter_of(value)
    if adapter is None:
        raise JobError(f"{type(value).__name__} is no circuit")
    adapted = user_code.guarded(lambda: adapter.to_found(value, job["shots"]))
    facts = dataclasses.asdict(adapted)
    facts["warnings"] = [*found.warnings, *adapted.warnings]
    return facts, [], None


def _run_on_device(value: Any, shots: int, job: dict[str, Any]) -> dict[str, Any]:
    """Runs a circuit that the code hands to its device, in this process or by the service."""
    if not user_code.is_circuit(value):
        raise JobError(f"device.run: takes a circuit (got {type(value).__name__})")
    script: Script = job["script"]
    job = {**job, "shots": shots}
    number = next(job["draws"])
    if script.seed is not None and job["seed"] is None:
        job["seed"] = derived_seed(script.seed, number)
    found = user_code.FoundObject(value)
    with _lines(found, job):
        circuit, warnings, text = _circuit(found, job)
        if script.circuits == "ask":
            if _is_recording():
                raise JobError("device.run in the body of a workflow: the graph is only built there; run it in a task")
            return _asked(circuit, text, warnings, job)
        circuit, text, warnings, job = _loaded(circuit, text, warnings, job)
        return run_circuit(circuit, text, warnings, job)


def _loaded(
    circuit: QuantumCircuit | dict[str, Any], text: str | None, warnings: list[str], job: dict[str, Any]
) -> tuple[QuantumCircuit, str | None, list[str], dict[str, Any]]:
    """What `_circuit` gave, as a circuit with its text and warnings, and a job that knows its facts."""
    if isinstance(circuit, QuantumCircuit):
        return circuit, text, warnings, job
    text = circuit["openqasm3"]
    loaded = openqasm.load(text, job["max_qubits"], job["backend"])
    return loaded, text, circuit["warnings"], {**job, "circuit_facts": circuit}


def _is_recording() -> bool:
    graphs: Any = sys.modules.get("marqov.workflows.graph")
    return graphs is not None and graphs.get_active_graph() is not None


def _asked(
    found: QuantumCircuit | dict[str, Any], source: str | None, warnings: list[str], job: dict[str, Any]
) -> dict[str, Any]:
    """The answer of a circuit that the service runs. Raises what it has failed with as RuntimeError."""
    circuit, source, warnings, job = _loaded(found, source, warnings, job)
    circuit = with_measurements(_checked(circuit, source, job))
    registers = _shown(measured_layout(circuit).registers, job)
    text = _canonical(circuit)
    if text is None:
        raise Unsupported(f"the circuit has no OpenQASM 3 form, in which it is sent to {job['backend']}")
    if len(text) > ASKED_TEXT_MAX:
        raise Unsupported(
            f"the circuit has {len(text):,} characters of OpenQASM 3, {job['backend']} is sent at most {ASKED_TEXT_MAX:,}"
        )
    facts = job.get("circuit_facts", {})
    answer = job["asks"].answer(
        "circuit",
        digest_of("circuit", text, job["shots"]),
        f"a circuit of {circuit.num_qubits} qubits with {job['shots']} shots",
        {
            "shots": job["shots"],
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
    return {
        "counts": counts,
        "count_source": "provider_counts",
        "shots": job["shots"],
        "registers": registers,
        "circuit_info": describe(circuit),
        "circuit_sha256": hashlib.sha256(text.encode("utf-8")).hexdigest(),
        "circuit": text,
        "warnings": warnings,
        **_expectations(counts, job),
    }


def run_circuit(
    circuit: QuantumCircuit, source: str | None, warnings: list[str], job: dict[str, Any]
) -> dict[str, Any]:
    """Simulates a circuit. `source` is the OpenQASM text it came from, for the lines in refusals."""
    engine, noise = job.get("engine", "statevector"), _noise(job)
    circuit = _checked(circuit, source, job)
    check(engine, circuit.num_qubits, noise is not None)
    state = _state(circuit, engine, source, noise) if job.get("extract_state_vector") else {}
    circuit = with_measurements(circuit)
    layout = measured_layout(circuit)
    saved = sorted({item.operation.name for item in circuit.data if item.operation.name.startswith("save_")})
    warnings = [*warnings, *(SAVED_DATA_NOTE.format(name) for name in saved)]
    text = _canonical(circuit)
    if text is None:
        warnings.append("the circuit has no OpenQASM 3 form, so circuit_sha256 is null")
    if noise is not None:
        warnings += [f"noise_model: the circuit has no gate '{name}'" for name in unused_gates(circuit, noise)]
    memory = simulate(circuit, engine, job["shots"], job["seed"], job["optimization_level"], source, noise)
    counts = layout.counts(memory)
    return {
        "counts": counts,
        "registers": _shown(layout.registers, job),
        "circuit_info": describe(circuit),
        "circuit_sha256": hashlib.sha256(text.encode("utf-8")).hexdigest() if text is not None else None,
        "circuit": text if text is not None and len(text) <= CIRCUIT_TEXT_MAX else None,
        "warnings": warnings,
        **state,
        **_expectations(counts, job),
    }


def _expectations(counts: dict[str, int], job: dict[str, Any]) -> dict[str, Any]:
    """Values of the observables that the circuit's framework asked for."""
    observables = job.get("circuit_facts", {}).get("observables")
    if not observables:
        return {}
    return {"expectation_values": expectation_values([Observable(**item) for item in observables], counts)}


def _noise(job: dict[str, Any]) -> NoiseSpec | None:
    value = job.get("noise_model")
    return None if value is None else parse_noise_model(value, job["max_qubits"])


def _state(circuit: QuantumCircuit, engine: str, source: str | None, noise: NoiseSpec | None) -> dict[str, Any]:
    """The state vector as pairs of numbers, or, when it is large, as the base64 text of a `.npy` file."""
    state = state_vector(circuit, engine, source, noise)
    if is_inline(circuit.num_qubits):
        return {"state_vector": amplitude_pairs(state)}
    return {"state_vector_npy": base64.b64encode(npy_bytes(state)).decode("ascii")}


def _checked(circuit: QuantumCircuit, source: str | None, job: dict[str, Any]) -> QuantumCircuit:
    """The circuit with its custom gates under names of their own. Raises JobError for what cannot be run."""
    check_runnable(circuit, job["max_qubits"], job["backend"], source)
    if survey(circuit, named_by_source=source is not None):
        return with_distinct_names(circuit, named_by_source=source is not None)
    return circuit


def _shown(registers: list[dict[str, Any]], job: dict[str, Any]) -> list[dict[str, Any]]:
    """The registers under the names that their framework gave them."""
    names = job.get("circuit_facts", {}).get("register_names")
    if not names or len(names) != len(registers):
        return registers
    return [{**register, "name": name} for register, name in zip(registers, names, strict=True)]


def check_runnable(circuit: QuantumCircuit, max_qubits: int, backend: str, source: str | None) -> None:
    """Refuses, before any work on the state: too many qubits or none, unbound parameters."""
    if circuit.num_qubits == 0:
        raise Unsupported("the circuit has no qubits")
    if circuit.num_qubits > max_qubits:
        raise Unsupported(openqasm.too_many_qubits(circuit.num_qubits, backend, max_qubits))
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


def _canonical(circuit: QuantumCircuit) -> str | None:
    """The circuit in OpenQASM 3; None for what that language cannot say."""
    try:
        text = canonical_text(circuit)
    except Exception:
        return None
    return text
