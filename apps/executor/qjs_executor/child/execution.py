"""One job from source to answer: read the circuit, refuse what has no faithful run, measure, simulate, describe."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from qiskit import QuantumCircuit

from .analysis.analysis import analyse
from .asks import Asks
from .circuit_run import ask_circuit, canonical, checked, run_circuit, shown
from .circuits import openqasm
from .circuits.canonical import canonical_text
from .circuits.info import describe
from .circuits.measurement import with_measurements
from .device import Device, DeviceRun
from .engines.engine import ENGINES, is_available
from .frameworks.registry import adapter_of
from .refusals import JobError, NoCircuit, Unsupported
from .script import Script, script_of
from .source import user_code
from .source.detection import detect
from .source.plain_value import plain_value
from .source.replay import derived_seed, make_repeatable
from .targets.compilation import compile_circuit
from .targets.target import parse_target
from .workflows.capture import capture, recorded, require_sdk
from .workflows.client import DispatchClient
from .workflows.dispatches import Dispatches
from .workflows.native import entry_dispatch, finish_answer, workflow_answer
from .workflows.task import task_answer
from .workflows.task_device import pickle_devices_by_reference, provide_device

EXPECTATIONS_NOTE = (
    "the program asks for expectation values: the counts are in the basis of its observables, and the values are yours"
    " to compute from them on this backend"
)
NO_CIRCUIT = (
    "the code leaves no circuit to {} (it defines main() or runs on the device): assign the circuit to a variable named"
    " 'circuit'"
)
_SDK = re.compile(r"\bmarqov\b")
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
    answer = _answer_of_code(job, script, dispatches)
    if dispatches is not None and dispatches.metadata.graphs > 0 and "ask" not in answer:
        answer["workflow_metadata"] = dispatches.metadata.told()
    return answer


def _answer_of_code(job: dict[str, Any], script: Script, dispatches: Dispatches | None) -> dict[str, Any]:
    if script.entry is not None:
        if dispatches is None:
            raise JobError(f"the script has no workflow or task '{script.entry['entrypoint']}': it does not use marqov")
        _, namespace = user_code.executed(job["source"]["code"], job["params"], _device(job))
        dispatch = entry_dispatch(namespace, script.entry)
        return workflow_answer(dispatch, dispatches, asked=script.graphs == "ask", native=True)
    found = _source(job, DispatchClient(dispatches))
    if isinstance(found, user_code.FoundWorkflow):
        if dispatches is None:
            raise JobError(f"'{found.name}' is not a workflow of the package 'marqov', which the script does not use")
        dispatch = recorded(found.name, found.function, job["params"])
        return workflow_answer(dispatch, dispatches, asked=script.graphs == "ask")
    if isinstance(found, DeviceRun):
        return {**found.answer, "shots": found.shots}
    if isinstance(found, user_code.FoundValue):
        if type(found.value).__name__ == "WorkflowDispatch":
            raise JobError(DISPATCH_RETURNED)
        notes = dispatches.notes if dispatches is not None else []
        return {"value": plain_value(found.value), "warnings": [*found.warnings, *notes]}
    assert isinstance(found, user_code.FoundObject)
    with _lines(found, job):
        circuit, warnings, text = _circuit(found, job)
        if script.circuits == "ask":
            loaded = _loaded(circuit, text, warnings, job)
            return user_code.guarded(lambda: ask_circuit(*loaded))  # type: ignore[no-any-return]
        if isinstance(circuit, QuantumCircuit):
            return run_circuit(circuit, text, warnings, job)
    return {"found": circuit}


def _dispatches(job: dict[str, Any]) -> Dispatches | None:
    """What runs the workflows of the source; None for a source that can have none."""
    source = job["source"]
    if source["kind"] != "code" or source["framework"] == "openqasm" or not _SDK.search(source["code"]):
        return None
    if importlib.util.find_spec("marqov") is None:
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
    circuit = checked(circuit, text, job)
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
    circuit = checked(circuit, text, job)
    answer = compile_circuit(circuit, text, parse_target(job["request"]["target"]))
    if job.get("circuit_facts", {}).get("observables"):
        warnings = [*warnings, EXPECTATIONS_NOTE]
    return {
        **answer,
        "openqasm3": canonical(with_measurements(circuit)),
        "registers": shown(answer["registers"], job),
        "warnings": [*warnings, *answer["warnings"]],
    }


def _capture(job: dict[str, Any]) -> dict[str, Any]:
    """The graph of the tasks of a script's workflow."""
    wanted = job["request"]
    return capture(job["source"]["code"], job["params"], _device(job), wanted["entrypoint"], wanted["arguments"])


def _circuit_alone(job: dict[str, Any], task: str) -> tuple[QuantumCircuit | dict[str, Any], list[str], str | None]:
    """The circuit that a source leaves, not run. Raises JobError when it leaves something else."""
    found = _left(job) if task == "compile" else _source(job)
    if not isinstance(found, user_code.FoundObject):
        raise JobError(NO_CIRCUIT.format(task))
    return _circuit(found, job)


def _left(job: dict[str, Any]) -> user_code.FoundObject:
    """The circuit that a source leaves. Raises NoCircuit for a script, before any of its circuits runs."""
    source, asks = job["source"], job["asks"]
    if source["kind"] == "circuit":
        return user_code.FoundObject(source["payload"])
    if source["framework"] == "openqasm":
        return user_code.FoundObject(source["code"])
    script = NoCircuit(NO_CIRCUIT.format("compile"))
    device = Device(job["backend"], job["shots"], lambda *_: asks.end(script))
    try:
        found = user_code.circuit_left(source["code"], job["params"], device)
    finally:
        asks.check()
    if found is None:
        raise script
    return found


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
        loaded = _loaded(circuit, text, warnings, job)
        if script.circuits == "here":
            return run_circuit(*loaded)
        if _is_recording():
            raise JobError("device.run in the body of a workflow: the graph is only built there; run it in a task")
        return ask_circuit(*loaded)


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
