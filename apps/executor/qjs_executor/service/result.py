"""The result of a completed run: the child's checked counts, and the facts that only the executor may state."""

from __future__ import annotations

import json
from typing import Any

from ..sandbox.seam import Job
from .answer import CircuitRun
from .versions import ENGINE_NAME, ENGINE_VERSION, FRAMEWORK_VERSION


def result_text(job: Job, run: CircuitRun, execution_time_ms: float, stdout: str, warnings: list[str]) -> str:
    """The result as JSON text. Backend, time, engine, shots and seed come from the request and from this process, never
    from the child."""
    result: dict[str, Any] = {
        "counts": run.counts,
        "shots": job.shots,
        "backend": job.backend,
        "execution_time_ms": execution_time_ms,
        "circuit_info": run.circuit_info,
        "metadata": {
            "bit_order": "qubit 0 leftmost",
            "count_source": "simulator_sampled",
            "shots_requested": job.shots,
            "shots_observed": sum(run.counts.values()),
            "registers": run.registers,
            "seed": job.params.get("seed"),
            "engine": ENGINE_NAME,
            "engine_version": ENGINE_VERSION,
            "framework_version": FRAMEWORK_VERSION,
            "circuit_sha256": run.circuit_sha256,
            "optimization_level": optimization_level(job),
            "provider_job_id": None,
            "calibration_id": None,
        },
        "warnings": [*run.warnings, *warnings],
    }
    if stdout:
        result["stdout"] = stdout
    return json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def optimization_level(job: Job) -> int:
    """The transpiler's level for this job; 1 unless the job says otherwise."""
    level = job.params.get("optimization_level")
    return 1 if level is None else int(level)
