"""Noise like that of a device: where its figures come from, what they mean, and what the record says of them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from qiskit.quantum_info import average_gate_fidelity
from qiskit_aer.noise import depolarizing_error

from qjs_executor.child.engines.engine import ENGINES
from qjs_executor.child.engines.noise import parse_noise_model
from qjs_executor.device_figures import ENGINES_WITH_NOISE, NOISY_ENGINES, all_figures
from qjs_executor.job import Job
from qjs_executor.protocol.reports import CircuitReport, ValueReport
from qjs_executor.protocol.result import result_text, value_text
from qjs_executor.service.request_fields import InvalidRequest
from qjs_executor.service.run_request import params_of

from ..support.executor import FOLDER, Executor
from ..support.noise_reference import CX, H, Reference, within

BELL = 'OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; h q[0]; cx q[0], q[1];'
SOURCE = {"kind": "code", "framework": "openqasm", "code": BELL}
WARNING = "aer-noisy ran without a noise model"
FILE = FOLDER / "qjs_executor" / "device_figures.json"
RELEASED = {
    "ionq-forte-1": "1719",
    "ionq-direct-forte-1": "1719",
    "iqm-garnet": "58d1",
    "rigetti-ankaa-3": "0f9c",
}
"""The digest of each device's figures as released. Capsules and reruns rely on them: add a slug, change none."""


def noisy(executor: Executor, source: dict[str, str] = SOURCE, **fields: Any) -> Any:
    return executor.run(source, backend="aer-noisy", engine="noisy", **fields)


@pytest.mark.parametrize("slug", all_figures())
def test_the_gates_of_a_device_get_its_published_average_errors(slug: str) -> None:
    figures = all_figures()[slug]
    errors = figures.noise_model["gate_errors"]
    for qubits, published in ((1, figures.error_1q), (2, figures.error_2q)):
        channel = depolarizing_error(errors[f"all_{qubits}q"], qubits)
        assert 1 - average_gate_fidelity(channel) == pytest.approx(published)
    assert parse_noise_model(figures.noise_model, 14).t1_us == {}


def test_every_device_is_of_the_catalogue_and_has_a_source_and_a_date() -> None:
    catalogue = {row["slug"] for row in json.loads((FOLDER.parents[1] / "db/seed/backends.json").read_text())}
    for slug, entry in json.loads(FILE.read_text()).items():
        assert slug.split("@")[0] in catalogue
        assert len(entry["source"]) > 20
        assert entry["date"].startswith("20")


def test_released_figures_never_change() -> None:
    digests = {
        slug: hashlib.sha256(json.dumps(entry.noise_model, sort_keys=True).encode()).hexdigest()[:4]
        for slug, entry in all_figures().items()
    }
    assert {slug: digests.get(slug) for slug in RELEASED} == RELEASED


def test_a_models_own_entries_override_those_of_the_device() -> None:
    own = {"like": "iqm-garnet", "gate_errors": {"all_2q": 0, "x": 0.5}, "readout_errors": {"0": {}}, "t1_us": 40}
    assert params_of({"shots": 1, "noise_model": own}).noise_model == {
        "gate_errors": {"all_1q": 0.0018, "all_2q": 0, "x": 0.5},
        "readout_errors": {"all": {"p0_given1": 0.03, "p1_given0": 0.03}, "0": {}},
        "t1_us": 40,
    }


@pytest.mark.parametrize("slug", ["quera-aquila", "", 3, None, {"a": 1}])
def test_a_device_without_figures_is_refused_with_those_that_have_some(slug: Any) -> None:
    with pytest.raises(InvalidRequest, match=r"noise_model.like: has no published figures; known .* iqm-garnet"):
        params_of({"shots": 1, "noise_model": {"like": slug}})


def test_a_run_has_the_noise_of_the_device_and_says_so(executor: Executor) -> None:
    result = noisy(executor, shots=40_000, params={"noise_model": {"like": "iqm-garnet"}, "seed": 3}).result
    expected = Reference(2).gate(H, 0).depolarize(0.0018, 0).gate(CX, 0, 1).depolarize(0.0049 * 4 / 3, 0, 1)
    expected.misread(0, 0.03, 0.03).misread(1, 0.03, 0.03)
    assert within(result["counts"], expected.probabilities())
    assert result["metadata"]["noise_model"] == {"like": "iqm-garnet", "figures": "2024-08"}
    assert result["warnings"] == []


def test_a_program_reads_the_name_and_its_device_has_the_noise(executor: Executor) -> None:
    program = (
        "from qiskit import QuantumCircuit\nqc = QuantumCircuit(1)\nqc.id(0)\n"
        "def main(noise_model):\n    return {'counts': device.run(qc, 20000), 'read': noise_model}\n"
    )
    source = {"kind": "code", "framework": "qiskit", "code": program}
    result = noisy(executor, source, params={"noise_model": {"like": "iqm-garnet"}}).result
    assert result["read"] == {"like": "iqm-garnet"}
    assert 400 < result["counts"]["1"] < 900
    assert result["metadata"]["noise_model"] == {"like": "iqm-garnet", "figures": "2024-08"}


@pytest.mark.parametrize("params", [{}, {"noise_model": {}}])
def test_a_noisy_simulator_without_a_noise_model_warns(executor: Executor, params: dict[str, Any]) -> None:
    result = noisy(executor, params=params).result
    assert [text.startswith(WARNING) for text in result["warnings"]] == [True]
    assert result["metadata"]["noise_model"] is None
    program = "from qiskit import QuantumCircuit\nqc = QuantumCircuit(1)\ndef main(noise_model=None):\n    return device.run(qc, 5)\n"
    value = noisy(executor, {"kind": "code", "framework": "qiskit", "code": program}, params=params).result
    assert [text.startswith(WARNING) for text in value["warnings"]] == [True]


def test_a_model_of_ones_own_is_recorded_as_such(executor: Executor) -> None:
    result = noisy(executor, params={"noise_model": {"gate_errors": {"h": 0.1}}}).result
    assert result["metadata"]["noise_model"] == {"like": None, "figures": None}
    assert result["warnings"] == []


def test_a_simulator_that_is_not_for_noise_has_nothing_to_warn_of(executor: Executor) -> None:
    result = executor.run(SOURCE).result
    assert result["warnings"] == []
    assert "noise_model" not in result["metadata"]


def test_the_engines_that_can_have_noise_are_those_whose_record_says_so() -> None:
    assert {name for name, engine in ENGINES.items() if engine.has_noise} == set(ENGINES_WITH_NOISE)
    assert set(NOISY_ENGINES) <= set(ENGINES_WITH_NOISE)


@pytest.mark.parametrize("engine", ENGINES_WITH_NOISE)
def test_the_record_has_the_noise_model_on_every_engine_that_takes_one(engine: str) -> None:
    # What the record says needs no simulator, so no GPU either.

    def recorded(noise: dict[str, Any]) -> tuple[Any, Any]:
        params = params_of({"shots": 4, **noise})
        job = Job(run_id="a", source=SOURCE, backend="gpu-statevector", engine=engine, max_qubits=4, params=params)
        counted = CircuitReport({"00": 4}, {}, [], None, [], 4, None, None, None)
        returned = ValueReport("", [], [], device_shots=[4])
        texts = result_text(job, counted, 1.0, "", []), value_text(job, returned, 1.0, "", [])
        one, other = (json.loads(text)["metadata"]["noise_model"] for text in texts)
        return one, other

    assert recorded({}) == (None, None)
    assert recorded({"noise_model": {"gate_errors": {"h": 0.1}}}) == ({"like": None, "figures": None},) * 2
    figures = {"like": "iqm-garnet", "figures": all_figures()["iqm-garnet"].version}
    assert recorded({"noise_model": {"like": "iqm-garnet"}}) == (figures,) * 2
