"""Builds the result of a completed execution from the child's checked counts and the facts that only the executor can
state."""

from __future__ import annotations

import json
import re
from typing import Any

from ..device_figures import ENGINES_WITH_NOISE, NOISY_ENGINES
from ..job import Job
from .reports import CircuitReport, ValueReport
from .versions import ENGINE_VERSION, framework_version

STATE_VECTOR_FILE = "state_vector.npy"
"""The artifact that holds a state of more than 14 qubits."""


def result_text(job: Job, run: CircuitReport, execution_time_ms: float | None, stdout: str, warnings: list[str]) -> str:
    """The result of a circuit as JSON text. Backend, time, engine and seed come from the request and from this process,
    never from the child."""
    result: dict[str, Any] = {
        "counts": run.counts,
        "shots": run.shots,
        "backend": job.backend,
        "execution_time_ms": execution_time_ms,
        "circuit_info": run.circuit_info,
        "metadata": {
            **_provenance(job),
            **({**_PROVIDED, **run.provenance} if run.provided else {**_noise(job), **_vouched(job)}),
            "shots_requested": run.shots,
            "shots_observed": sum(run.counts.values()),
            "registers": run.registers,
            "circuit_sha256": run.circuit_sha256,
            **_sampled_groups(run),
        },
        "warnings": [*warnings, *run.warnings, *([] if run.provided else _without_noise(job))],
    }
    if isinstance(run.state_vector, bytes):
        where = {} if job.files_url is None else {"url": f"{job.files_url}/{STATE_VECTOR_FILE}"}
        result["state_vector"] = {"artifact": STATE_VECTOR_FILE, "media_type": "application/octet-stream", **where}
    elif run.state_vector is not None:
        result["state_vector"] = run.state_vector
    if run.expectation_values is not None:
        result["expectation_values"] = run.expectation_values
    if run.mitigation is not None:
        if "readout" in run.mitigation:
            result["quasi_probabilities"] = run.quasi_probabilities
        result["mitigation"] = run.mitigation
    return _text({**result, **_of_workflow(job, run)}, stdout)


def _sampled_groups(run: CircuitReport) -> dict[str, Any]:
    """How many circuits were sampled for the job's observables, each with its shots."""
    if run.observable_groups is None:
        return {}
    return {"observables": {"groups": run.observable_groups, "shots_per_group": run.shots}}


def value_text(job: Job, run: ValueReport, execution_time_ms: float | None, stdout: str, warnings: list[str]) -> str:
    """The return value of a `main`, as JSON text: a dictionary is the result itself, any other value becomes its member
    `result`. Counts in it, if any, are the program's own claim, so no source is stated for them, and what it ran on a
    simulator of its own is not known here. The value's text is passed on unread."""
    shots, unknown, notes = _device_of_value(job, run)
    ours: dict[str, Any] = {
        "shots": shots,
        "backend": job.backend,
        "execution_time_ms": execution_time_ms,
        "warnings": [*warnings, *run.warnings, *notes],
    }
    metadata = {
        **_provenance(job),
        **unknown,
        "count_source": None,
        "shots_requested": shots,
        "shots_observed": None,
        "registers": None,
        "circuit_sha256": None,
    }
    before = {name: value for name, value in ours.items() if name not in run.names}
    after = {**_of_workflow(job, run), "metadata": metadata}
    if stdout and "stdout" not in run.names:
        after["stdout"] = stdout
    return f"{{{','.join(part for part in (_members(before), run.members, _members(after)) if part)}}}"


def _device_of_value(job: Job, run: ValueReport) -> tuple[int | None, dict[str, Any], list[str]]:
    """The shots that stand for a returned value, the metadata that differs for it, and why."""
    imported = {_FRAMEWORKS.get(name, name) for name in _IMPORT.findall(job.source.get("code", ""))}
    unknown: dict[str, Any] = {"engine": None, "engine_version": None, "optimization_level": None}
    ran = {*run.device_shots, *(job.script.task_shots or ())}
    if ran:
        # Where the caller ran the circuits, no engine of this executor did.
        here = job.script.circuits != "ask"
        facts, notes = (_noise(job), _without_noise(job)) if here else (unknown, [])
        if len(ran) == 1:
            return ran.pop(), facts, notes
        return None, facts, ["shots is null: the program ran circuits with different numbers of shots", *notes]
    if _framework(job) not in imported:
        unknown["framework_version"] = None
    # Tasks are executions of their own, which can have run circuits that the caller does not mention.
    had_tasks = job.script.finish is not None or job.script.workflow_metadata is not None
    if had_tasks and job.script.task_shots is None:
        return None, unknown, _without_noise(job)
    return None, unknown, [_NOTHING_RAN] if imported else []


_NOTHING_RAN = (
    "shots, engine, engine_version and optimization_level are null: the program ran nothing on the job's device"
)


_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+(qiskit|cirq|pennylane|marqov|braket)", re.MULTILINE)
_FRAMEWORKS = {"braket": "marqov"}
_PROVIDED = {
    "count_source": "provider_counts",
    "seed": None,
    "engine": None,
    "engine_version": None,
    "optimization_level": None,
}
"""The metadata of counts that the caller provided from another machine, which only the caller knows."""


def _noise(job: Job) -> dict[str, Any]:
    """The noise model that was applied, where the engine can have one: null without one, and `like` and the date of
    its figures for that of a device. The job's own parameters hold the rest."""
    if job.engine not in ENGINES_WITH_NOISE:
        return {}
    figures = job.params.noise_figures
    if not job.params.noise_model:
        return {"noise_model": None}
    return {
        "noise_model": {"like": figures and figures.slug, "figures": figures and figures.version},
    }


def _without_noise(job: Job) -> list[str]:
    """The warning of a run on a noisy simulator without a noise model."""
    if job.engine not in NOISY_ENGINES or job.params.noise_model:
        return []
    return [_NO_NOISE.format(job.backend)]


_NO_NOISE = (
    "{} ran without a noise model, so nothing was noisy but channels that the circuit itself has: set"
    ' params.noise_model, such as {{"like": "iqm-garnet"}}'
)


def _vouched(job: Job) -> dict[str, Any]:
    """Who vouches for counts that a child reports. A child that runs the user's code can report any counts, whether
    its simulator sampled them or not; one that executes a circuit alone reports what the simulator gave. Releases
    before `executed_apart` called both `simulator_sampled`."""
    if job.runs_code:
        return {"count_source": "program_reported"}
    return {"count_source": "simulator_sampled", **({"executed_apart": True} if job.first_stage else {})}


def _of_workflow(job: Job, run: CircuitReport | ValueReport) -> dict[str, Any]:
    """The metadata of the graphs that the caller executed or, where it executed none, the child."""
    given = job.script.workflow_metadata
    metadata = run.workflow_metadata if given is None else json.loads(given)
    return {} if metadata is None else {"_workflow_metadata": metadata}


def _provenance(job: Job) -> dict[str, Any]:
    return {
        "bit_order": "qubit 0 leftmost",
        "seed": job.params.seed,
        "engine": job.engine,
        "engine_version": ENGINE_VERSION,
        "framework_version": framework_version(_framework(job)),
        "optimization_level": job.params.optimization_level,
        "provider_job_id": None,
        "calibration_id": None,
    }


def _framework(job: Job) -> str:
    return job.first_stage.framework if job.first_stage else job.source.get("framework", "openqasm")


def _text(result: dict[str, Any], stdout: str) -> str:
    if stdout:
        result["stdout"] = stdout
    return f"{{{_members(result)}}}"


def _members(result: dict[str, Any]) -> str:
    """The members of an object as JSON text, without its braces."""
    return json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":"))[1:-1]
