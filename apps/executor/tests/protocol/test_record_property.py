"""No record names an engine, shots or a version that did not run, in whatever ways a program samples. Its seed is the
one that the job was given, whether anything was drawn from it or not."""

from __future__ import annotations

import importlib.util
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from qjs_executor.job import FirstStage, Job, JobParams
from qjs_executor.protocol.answer import read_answer
from qjs_executor.protocol.reports import CircuitLeftReport, CircuitReport, ValueReport
from qjs_executor.protocol.result import result_text, value_text
from qjs_executor.protocol.versions import ENGINE_VERSION, framework_version

from ..support.frame_child import FrameChildren
from ..support.lanes import examples
from .test_value_record import CIRCUITS, OWN

FRAMEWORKS = sorted(name for name in CIRCUITS if importlib.util.find_spec(name) is not None)
OWN_SHOTS = 500
ENGINES = ("statevector", "density_matrix", "mps")


@st.composite
def programs(draw: Any) -> dict[str, Any]:
    """A framework, what the program does with its circuit in which order, and what it leaves."""
    framework = draw(st.sampled_from(FRAMEWORKS))
    own = [way for way, (of, _, _) in OWN.items() if of == framework]
    device = st.integers(1, 50).map(lambda shots: ("device", shots))
    steps = st.lists(device | st.sampled_from([("own", way) for way in own]) if own else device, max_size=4)
    return {
        "framework": framework,
        "steps": draw(steps),
        "leaves": draw(st.sampled_from(["counts", "number", "nothing", "circuit", "no main"])),
        "params": {"shots": draw(st.integers(1, 2000)), "seed": draw(st.none() | st.integers(0, 9))},
        "level": draw(st.integers(0, 3)),
        "engine": draw(st.sampled_from(ENGINES)),
    }


def code_of(program: dict[str, Any]) -> str:
    framework = program["framework"]
    imports = "".join({OWN[way][1] for kind, way in program["steps"] if kind == "own"})
    lines = [
        f"found = device.run(circuit, {value})" if kind == "device" else f"found = {OWN[value][2]}"
        for kind, value in program["steps"]
    ]
    if program["leaves"] == "no main":
        return f"{imports}{CIRCUITS[framework]}\n" + "\n".join(lines)
    last = {"counts": "{'counts': found}", "number": "0.5", "nothing": "None", "circuit": "circuit"}[program["leaves"]]
    body = "\n    ".join(["found = None", *lines, f"return {last}"])
    return f"{imports}{CIRCUITS[framework]}\ndef main():\n    {body}\n"


def job_of(program: dict[str, Any]) -> Job:
    framework = "marqov" if program["framework"] == "braket" else program["framework"]
    params = program["params"]
    return Job(
        run_id="a",
        source={"kind": "code", "framework": framework, "code": code_of(program)},
        backend="local",
        engine=program["engine"],
        max_qubits=20,
        params=JobParams(
            shots=params["shots"],
            seed=params["seed"],
            optimization_level=program["level"],
            given={"shots": params["shots"]},
        ),
    )


def record(children: FrameChildren, job: Job) -> tuple[str, dict[str, Any]]:
    """What a program left, and its result as the service stores it; a circuit it leaves runs in a second child."""
    report = read_answer(children.start(job.execution_request), job)
    if isinstance(report, CircuitLeftReport):
        second = replace(
            job,
            source={"kind": "circuit", "format": "qasm3", "payload": report.openqasm3},
            circuit_facts=report.facts,
            first_stage=FirstStage(job.source["framework"], 1.0, "", report.warnings),
        )
        left = read_answer(children.start(second.execution_request), second)
        assert isinstance(left, CircuitReport), left
        return "circuit", json.loads(result_text(second, left, 1.0, "", []))
    if isinstance(report, CircuitReport):
        return "circuit", json.loads(result_text(job, report, 1.0, "", []))
    assert isinstance(report, ValueReport), report
    return "value", json.loads(value_text(job, report, 1.0, "", []))


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(program=programs())
def test_a_record_names_only_what_ran(children: FrameChildren, program: dict[str, Any]) -> None:
    job = job_of(program)
    on_device = [value for kind, value in program["steps"] if kind == "device"]
    if program["leaves"] == "counts" and not program["steps"]:
        program["leaves"] = "number"
        job = job_of(program)
    kind, result = record(children, job)
    metadata = result["metadata"]
    ours = {"engine": job.engine, "engine_version": ENGINE_VERSION, "optimization_level": program["level"]}
    unknown = dict.fromkeys(ours)
    said = {name: metadata[name] for name in ours}

    assert metadata["seed"] == program["params"]["seed"]
    version = framework_version("marqov" if program["framework"] == "braket" else program["framework"])
    assert metadata["framework_version"] == version
    last_on_device = program["leaves"] in ("nothing", "no main") and bool(on_device)
    if kind == "circuit":
        assert program["leaves"] in ("circuit", "no main") or last_on_device
        # A circuit that is left runs with the job's shots, the last run on the device with its own.
        shots = on_device[-1] if last_on_device else program["params"]["shots"]
        assert said == ours
        assert (result["shots"], metadata["shots_requested"], metadata["shots_observed"]) == (shots,) * 3
        assert sum(result["counts"].values()) == shots
        assert metadata["count_source"] in ("simulator_sampled", "program_reported")
        if metadata["count_source"] == "simulator_sampled":
            assert metadata["executed_apart"] is True
        return
    assert program["leaves"] in ("counts", "number", "nothing")
    assert said == (ours if on_device else unknown)
    one = on_device[0] if len(set(on_device)) == 1 else None
    assert (result["shots"], metadata["shots_requested"]) == (one, one)
    assert (metadata["count_source"], metadata["shots_observed"]) == (None, None)
    if one is None:
        assert any("shots" in warning and "null" in warning for warning in result["warnings"])


OWN_DRAWS = """import os, random, numpy, uuid
from qiskit import QuantumCircuit
from qiskit_aer import AerSimulator
circuit = QuantumCircuit(10, 10)
circuit.h(range(10))
circuit.measure(range(10), range(10))
def main(seed):
    own = [random.random(), numpy.random.random(), numpy.random.default_rng().random(), uuid.uuid4().hex]
    own.append(AerSimulator().run(circuit, shots=50).result().get_counts())
    return {"seed": seed, "device": [device.run(circuit, 50), device.run(circuit, 50)], "own": own,
            "seeded": random.Random(seed).random()}
"""


def test_the_seed_fixes_what_the_jobs_device_draws_and_nothing_that_a_program_draws_by_itself(
    children: FrameChildren,
) -> None:
    job = Job(
        run_id="a",
        source={"kind": "code", "framework": "qiskit", "code": OWN_DRAWS},
        backend="local",
        engine="statevector",
        max_qubits=20,
        params=JobParams(shots=50, seed=7, given={"shots": 50, "seed": 7}),
    )
    (_, one), (_, other) = record(children, job), record(children, job)
    assert one["seed"] == one["metadata"]["seed"] == 7
    # Each run on the device begins with it.
    assert one["device"] == other["device"] == [one["device"][0]] * 2
    assert one["seeded"] == other["seeded"]
    assert [place for place, drawn in enumerate(one["own"]) if drawn == other["own"][place]] == []


@pytest.mark.parametrize("way", OWN)
def test_every_way_to_sample_is_among_those_of_the_property(way: str) -> None:
    assert OWN[way][0] in CIRCUITS
