"""Carries out one request from source to answer: reads the circuit, refuses what cannot be executed faithfully,
measures, simulates and describes it."""

from __future__ import annotations

import dataclasses
import importlib.util
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from qiskit import QuantumCircuit

from ..execution_request import ExecutionRequest, ScriptTerms
from .analysis.analysis import analyse
from .asks import Asks, EndOfScript
from .circuit_execution import canonical, checked, execute_circuit, shown
from .circuits import braket_dialect, openqasm
from .circuits.canonical import canonical_text
from .circuits.control_flow import is_dynamic
from .circuits.info import describe
from .circuits.inputs import with_inputs
from .circuits.measurement import with_measurements
from .device import Device, DeviceRun
from .engines.engine import ENGINES, is_available
from .frameworks.registry import adapter_of
from .refusals import JobError, NoCircuit, Unsupported
from .replay import derived_seed, make_repeatable
from .requested_circuit import request_circuit
from .source import user_code
from .source.detection import detect, is_openqasm_source
from .source.plain_value import plain_value
from .sweep import run_points
from .targets.ahs import compile_analog
from .targets.compilation import compile_circuit
from .targets.target import parse_target
from .workflows.capture import capture, recorded, require_sdk
from .workflows.client import DispatchClient
from .workflows.dispatches import Dispatches
from .workflows.native import entry_dispatch, finish_answer, workflow_answer
from .workflows.task import task_answer
from .workflows.task_device import pickle_devices_by_reference, provide_device

EXPECTATIONS_NOTE = (
    "the program asks for expectation values: the counts are in the basis of its observables, and you"
    " compute the values from them on this backend"
)
NO_CIRCUIT = (
    "the code leaves no circuit to {} (it defines main() or runs on the device): assign the circuit to a variable named"
    " 'circuit'"
)
OWN_OBSERVABLES = (
    "{}: the program measures observables of its own, in whose basis its circuit ends; ask for them in one"
    " place, the program or params.observables"
)
LEFT_ALONE = (
    "{}: on this backend only the circuit that a program leaves is measured further, not each device.run; assign the"
    " circuit to a variable named 'circuit'"
)
NO_CIRCUIT_TO_MITIGATE = "mitigation: {}, so no circuit of it is mitigated; leave a circuit"
NO_STATE_TO_OBSERVE = (
    "observables: {}, so no circuit of it is observed; leave a circuit, or read params['observables'] in the program"
)
_SDK = re.compile(r"\bmarqov\b")
_READS_OBSERVABLES = re.compile(r"\bobservables\b")
DISPATCH_RETURNED = (
    "main() returned a workflow that has not run: return its result, with `await workflow(...).run(client)`"
)


@dataclasses.dataclass(frozen=True)
class _Execution:
    """One request while it is carried out; `draws` numbers the circuits that its device runs, `device_shots` are their
    shots, also where the caller ran them."""

    request: ExecutionRequest
    asks: Asks
    draws: Iterator[int]
    device_shots: set[int] = dataclasses.field(default_factory=set)


def answer_to(
    request: ExecutionRequest, exchange: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None
) -> dict[str, Any]:
    """The fields of a successful answer to any kind of request; `ask` alone where the execution ends with a request of
    its own. `exchange` sends a message to the service and waits for the answer. Raises JobError for every fault of the
    job itself."""
    execution = _Execution(request, Asks(request.script.answers, exchange), itertools.count(1))
    match request.kind:
        case "detect":
            return {"framework": detect(execution.request.source["code"])}
        case "engines":
            return {"engines": [name for name in ENGINES if is_available(name)]}
        case "convert":
            return _convert(execution)
        case "compile":
            return _compile(execution)
        case "analyse":
            return analyse(execution.request.source["code"], execution.request.details["requirements"])
        case "capture":
            return _capture(execution)
        case _ if request.points:
            return run_points(request, answer_to)
        case _:
            return _run(execution)


def _run(execution: _Execution) -> dict[str, Any]:
    """Counts; or `found`, a circuit for a second child; or `value`, what a `main` or a workflow returned; or what one
    task of a graph returned; or `ask`."""
    script = execution.request.script
    if script.finish is not None or script.task is not None or script.entry is not None:
        require_sdk()
    if script.seed is not None and script.now is not None:
        make_repeatable(script.seed, script.now)
    try:
        return _answer(execution, script)
    finally:
        execution.asks.check()


def _answer(execution: _Execution, script: ScriptTerms) -> dict[str, Any]:
    if script.finish is not None or script.task is not None:
        _prepare_for_tasks(execution)
        if script.finish is not None:
            return finish_answer(script.finish)
        return {**task_answer(script.task or {}), "device_shots": sorted(execution.device_shots)[:2]}
    dispatches = _dispatches(execution)
    answer = _answer_of_code(execution, script, dispatches)
    if dispatches is not None and dispatches.metadata.graphs > 0 and "ask" not in answer:
        answer["workflow_metadata"] = dispatches.metadata.plain()
    if "value" in answer:
        answer["device_shots"] = sorted(execution.device_shots)[:2]
    return answer


def _answer_of_code(execution: _Execution, script: ScriptTerms, dispatches: Dispatches | None) -> dict[str, Any]:
    if script.entry is not None:
        if dispatches is None:
            raise JobError(f"the script has no workflow or task '{script.entry['entrypoint']}': it does not use marqov")
        _, namespace = user_code.executed(
            execution.request.source["code"], execution.request.params, _device(execution)
        )
        dispatch = entry_dispatch(namespace, script.entry)
        return workflow_answer(dispatch, dispatches, asked=script.graphs == "ask", native=True)
    found = _source(execution, DispatchClient(dispatches))
    if isinstance(found, user_code.FoundWorkflow):
        _check_has_circuit(execution.request, f"'{found.name}' is a workflow")
        if dispatches is None:
            raise JobError(f"'{found.name}' is not a workflow of the package 'marqov', which the script does not use")
        dispatch = recorded(found.name, found.function, execution.request.params)
        return workflow_answer(dispatch, dispatches, asked=script.graphs == "ask")
    if isinstance(found, DeviceRun):
        if script.circuits == "ask" and execution.request.observables:
            raise Unsupported(LEFT_ALONE.format("observables"))
        return {**found.answer, "shots": found.shots}
    if isinstance(found, user_code.FoundValue):
        if type(found.value).__name__ == "WorkflowDispatch":
            raise JobError(DISPATCH_RETURNED)
        _check_has_circuit(execution.request, "main() returns a value")
        notes = dispatches.notes if dispatches is not None else []
        return {"value": plain_value(found.value), "warnings": [*found.warnings, *notes]}
    assert isinstance(found, user_code.FoundObject)
    with _lines(found, execution.request):
        circuit, warnings, text = _circuit(found, execution.request)
        if script.circuits == "ask":
            loaded = _loaded(circuit, text, warnings, execution.request)
            return _requested(loaded, execution)
        if isinstance(circuit, QuantumCircuit):
            return execute_circuit(circuit, text, warnings, execution.request)
    return {"found": circuit}


def _requested(
    loaded: tuple[QuantumCircuit, str | None, list[str], ExecutionRequest], execution: _Execution
) -> dict[str, Any]:
    """The answer to a circuit that the source leaves. A failure is shown as an exception of the code that left it."""
    try:
        if _is_python(execution.request):
            return user_code.guarded(lambda: request_circuit(*loaded, execution.asks))  # type: ignore[no-any-return]
        return request_circuit(*loaded, execution.asks)
    except EndOfScript as end:
        raise end.error from None
    except RuntimeError as error:
        raise JobError(str(error)) from None


def _check_has_circuit(request: ExecutionRequest, reason: str) -> None:
    """Refuses mitigation, and observables that neither the service nor the program's own text reads."""
    if request.mitigation is not None:
        raise Unsupported(NO_CIRCUIT_TO_MITIGATE.format(reason))
    if request.observables and not _READS_OBSERVABLES.search(request.source["code"]):
        raise Unsupported(NO_STATE_TO_OBSERVE.format(reason))


def _dispatches(execution: _Execution) -> Dispatches | None:
    """Executes the workflows of the source; None for a source that cannot have any."""
    source = execution.request.source
    if source["kind"] != "code" or source["framework"] == "openqasm" or not _SDK.search(source["code"]):
        return None
    if importlib.util.find_spec("marqov") is None:
        return None
    dispatches = Dispatches(execution.request.script.graphs, execution.asks, lambda: _device(execution))
    dispatches.begin()
    return dispatches


def _prepare_for_tasks(execution: _Execution) -> None:
    """Provides what functions and values of the source find where they are unpickled; the source itself is not
    executed."""
    device = _device(execution)
    provide_device(device)
    pickle_devices_by_reference()
    if execution.request.source["kind"] == "code":
        user_code.module_of(execution.request.source["code"], execution.request.params, device)


def _convert(execution: _Execution) -> dict[str, Any]:
    """The canonical text of the circuit as written, and its facts; or `found`, for a second child to convert."""
    circuit, warnings, text = _circuit_alone(execution, "convert")
    if not isinstance(circuit, QuantumCircuit):
        return {"found": circuit}
    circuit = checked(circuit, text, execution.request)
    _refuse_variables(circuit)
    try:
        canonical = canonical_text(circuit)
    except Exception as error:
        raise Unsupported(f"the circuit has no OpenQASM 3 form: {str(error)[:500]}") from None
    if is_dynamic(circuit):
        _check_readable(canonical, execution.request)
    return {"openqasm3": canonical, "circuit_info": describe(circuit), "warnings": warnings}


def _check_readable(canonical: str, request: ExecutionRequest) -> None:
    """Refuses a text that could not be run here."""
    try:
        openqasm.load(canonical, request.max_qubits, request.backend)
    except JobError as error:
        raise Unsupported(f"the circuit cannot be converted to a program that runs here ({error.message})") from None


def _refuse_variables(circuit: QuantumCircuit) -> None:
    """Refuses classical variables and stretches, which OpenQASM 3 has and no program here can have."""
    for kind, found in (("stretch", circuit.iter_stretches()), ("classical variable", circuit.iter_vars())):
        for item in found:
            raise Unsupported(f"the {kind} '{item.name}' cannot be converted; use fixed delays, bits and registers")


def _compile(execution: _Execution) -> dict[str, Any]:
    """The source in the form of a provider; or `found`, a circuit for a second child to compile."""
    target = parse_target(execution.request.details["target"])
    if "ahs" in (target.format, execution.request.source.get("format")):
        return compile_analog(execution.request.source, target)
    circuit, warnings, text = _circuit_alone(execution, "compile")
    if not isinstance(circuit, QuantumCircuit):
        return {"found": circuit}
    circuit = checked(circuit, text, execution.request)
    answer = compile_circuit(circuit, text, target)
    if execution.request.circuit_facts.get("observables"):
        warnings = [*warnings, EXPECTATIONS_NOTE]
    return {
        **answer,
        "openqasm3": canonical(with_measurements(circuit)),
        "registers": shown(answer["registers"], execution.request),
        "warnings": [*warnings, *answer["warnings"]],
    }


def _capture(execution: _Execution) -> dict[str, Any]:
    """The graph of the tasks of a script's workflow."""
    request = execution.request
    details = request.details
    return capture(
        request.source["code"], request.params, _device(execution), details["entrypoint"], details["arguments"]
    )


def _circuit_alone(execution: _Execution, task: str) -> tuple[QuantumCircuit | dict[str, Any], list[str], str | None]:
    """The circuit that a source leaves, not executed. Raises JobError when the source leaves something else."""
    found = _left(execution) if task == "compile" else _source(execution)
    if not isinstance(found, user_code.FoundObject):
        raise JobError(NO_CIRCUIT.format(task))
    return _circuit(found, execution.request)


def _left(execution: _Execution) -> user_code.FoundObject:
    """The circuit that a source leaves. Raises NoCircuit for a script, before any of its circuits is executed."""
    source, asks = execution.request.source, execution.asks
    if source["kind"] == "circuit":
        return user_code.FoundObject(source["payload"])
    if _is_text(source):
        return user_code.FoundObject(source["code"])
    script = NoCircuit(NO_CIRCUIT.format("compile"))
    device = Device(execution.request.backend, execution.request.shots, lambda *_: asks.end(script))
    try:
        found = user_code.circuit_left(source["code"], execution.request.params, device)
    finally:
        asks.check()
    if found is None:
        raise script
    return found


def _is_text(source: dict[str, str]) -> bool:
    """Whether a source of kind code is a program in OpenQASM, Braket's dialect included, and runs no Python."""
    return source["framework"] == "openqasm" or (source["framework"] == "marqov" and is_openqasm_source(source["code"]))


def _lines(found: user_code.FoundObject, request: ExecutionRequest) -> AbstractContextManager[None]:
    """Refusals of a circuit that Python code made get the code's lines; those of a text have their own."""
    return user_code.lines_of(found) if _is_python(request) else nullcontext()


def _is_python(request: ExecutionRequest) -> bool:
    return request.source["kind"] == "code" and not _is_text(request.source)


def _source(execution: _Execution, client: Any = None) -> user_code.Found:
    """The program that the source leaves to be executed: Python is run, OpenQASM is only passed on."""
    source = execution.request.source
    if source["kind"] == "circuit":
        return user_code.FoundObject(source["payload"])
    if _is_text(source):
        return user_code.FoundObject(source["code"])
    return user_code.run_user_code(source["code"], execution.request.params, _device(execution), client)


def _device(execution: _Execution) -> Device:
    request = execution.request
    return Device(request.backend, request.shots, lambda circuit, shots: _execute_on_device(circuit, shots, execution))


def _circuit(
    found: user_code.FoundObject, request: ExecutionRequest
) -> tuple[QuantumCircuit | dict[str, Any], list[str], str | None]:
    """The circuit, or what its framework's adapter made of it; warnings; the OpenQASM text it came from, if any."""
    value = found.value
    at_provider = request.kind == "compile" or request.script.circuits == "ask"
    if isinstance(value, str) and request.source.get("framework") == "marqov" and braket_dialect.is_dialect(value):
        dialect = braket_dialect.load_dialect(value, request.max_qubits, request.backend, at_provider, request.params)
        return {**dataclasses.asdict(dialect), "warnings": [*found.warnings, *dialect.warnings]}, [], None
    if isinstance(value, str):
        form = request.source.get("format")
        circuit = _parsed(value, request.max_qubits, request.backend, form)
        return with_inputs(circuit, request.params), found.warnings, value
    if isinstance(value, QuantumCircuit):
        return with_inputs(value, request.params), found.warnings, None
    adapter = adapter_of(value)
    if adapter is None:
        raise JobError(f"{type(value).__name__} is not a circuit")
    if hasattr(adapter, "with_inputs"):
        value = adapter.with_inputs(value, request.params)
    if at_provider and hasattr(adapter, "check_for_provider"):
        adapter.check_for_provider(value)
    adapted = user_code.guarded(lambda: adapter.to_found(value, request.shots))
    if (request.observables or request.mitigation) and (adapted.observables or adapted.turned):
        raise Unsupported(OWN_OBSERVABLES.format("observables" if request.observables else "mitigation"))
    facts = dataclasses.asdict(adapted)
    facts["warnings"] = [*found.warnings, *adapted.warnings]
    return facts, [], None


@lru_cache(maxsize=1)
def _parsed(text: str, max_qubits: int, backend: str, form: str | None) -> QuantumCircuit:
    """The points of a sweep can share one text."""
    return openqasm.load(text, max_qubits, backend, form)


def _execute_on_device(value: Any, shots: int, execution: _Execution) -> dict[str, Any]:
    """Executes a circuit that the code gives to its device, in this process or by the caller."""
    if not user_code.is_circuit(value):
        raise JobError(f"device.run: takes a circuit (got {type(value).__name__})")
    script = execution.request.script
    number = next(execution.draws)
    request = dataclasses.replace(execution.request, shots=shots)
    if script.task is not None or script.entry is not None:
        # The result is the program's own value, so nothing shows what would be observed.
        request = dataclasses.replace(request, observables=[], mitigation=None)
    elif script.circuits == "ask" and (request.observables or request.mitigation):
        if request.mitigation or not _READS_OBSERVABLES.search(request.source["code"]):
            raise Unsupported(LEFT_ALONE.format("observables" if request.observables else "mitigation"))
        # The program measures them itself: further circuits would be paid for nothing.
        request = dataclasses.replace(request, observables=[])
    if script.seed is not None and request.seed is None:
        request = dataclasses.replace(request, seed=derived_seed(script.seed, number))
    found = user_code.FoundObject(value)
    with _lines(found, request):
        circuit, warnings, text = _circuit(found, request)
        loaded = _loaded(circuit, text, warnings, request)
        if script.circuits == "here":
            answer = execute_circuit(*loaded)
            execution.device_shots.add(shots)
            return answer
        if _is_recording():
            raise JobError("device.run in the body of a workflow: the graph is only built there; run it in a task")
        answer = request_circuit(*loaded, execution.asks)
        execution.device_shots.add(shots)
        return answer


def _loaded(
    circuit: QuantumCircuit | dict[str, Any], text: str | None, warnings: list[str], request: ExecutionRequest
) -> tuple[QuantumCircuit, str | None, list[str], ExecutionRequest]:
    """The result of `_circuit` as a circuit with its text and warnings, and a request that includes its facts."""
    if isinstance(circuit, QuantumCircuit):
        return circuit, text, warnings, request
    text = circuit["openqasm3"]
    loaded = openqasm.load(text, request.max_qubits, request.backend)
    return loaded, text, circuit["warnings"], dataclasses.replace(request, circuit_facts=circuit)


def _is_recording() -> bool:
    graphs: Any = sys.modules.get("marqov.workflows.graph")
    return graphs is not None and graphs.get_active_graph() is not None
