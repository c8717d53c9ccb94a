"""What an executor among several says of itself, and how it refuses what another one has to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from qjs_executor.execution_request import ENGINES
from qjs_executor.protocol.versions import PROTOCOL
from qjs_executor.settings import SettingsError, read_settings

from ..support.executor import BELL, TOKEN, Executor, qasm


def refusal(executor: Executor, engine: str = "statevector", **headers: str) -> tuple[int, str]:
    """Status and code of a run that is refused."""
    body = executor.request(qasm(BELL), engine=engine)
    answer = executor.http.post("/run", json=body, headers={name.replace("_", "-"): it for name, it in headers.items()})
    return answer.status_code, answer.json()["error"]["code"]


def test_an_executor_offers_the_engines_of_its_list_alone_and_leaves_the_others_to_other_executors(
    start: Callable[..., Executor],
) -> None:
    executor = start(EXECUTOR_SLOTS="1", EXECUTOR_ENGINES="mps,statevector")
    assert [engine["name"] for engine in executor.health()["engines"]] == ["statevector", "mps"]
    assert executor.run(qasm(BELL), engine="mps").outcome["status"] == "completed"
    assert refusal(executor, "density_matrix") == (409, "engine_missing")


def test_an_engine_that_the_machine_lacks_is_refused_before_anything_runs(executor: Executor) -> None:
    offered = {engine["name"] for engine in executor.health()["engines"]}
    missing = [name for name in ENGINES if name not in offered]
    assert [refusal(executor, name) for name in missing] == [(409, "engine_missing")] * len(missing)


def test_a_caller_of_another_protocol_is_refused_and_one_that_names_none_is_served(executor: Executor) -> None:
    assert executor.health()["protocol"] == PROTOCOL
    assert refusal(executor, x_executor_protocol=str(PROTOCOL + 1)) == (409, "protocol_mismatch")
    body = executor.request(qasm(BELL))
    for headers in ({}, {"x-executor-protocol": str(PROTOCOL)}):
        assert executor.http.post("/run", json=body, headers=headers).status_code == 200


def test_each_process_of_an_executor_has_an_id_of_its_own(start: Callable[..., Executor], executor: Executor) -> None:
    other = start(EXECUTOR_SLOTS="1")
    assert executor.health()["instance_id"] == executor.health()["instance_id"]
    assert other.health()["instance_id"] != executor.health()["instance_id"]


def test_an_unknown_engine_in_the_list_is_named() -> None:
    token = {"EXECUTOR_TOKEN": TOKEN}
    assert read_settings(token).engines == ENGINES
    assert read_settings({**token, "EXECUTOR_ENGINES": "mps, statevector"}).engines == ("statevector", "mps")
    with pytest.raises(SettingsError, match=r"EXECUTOR_ENGINES: must be a list of .*got 'quantum'"):
        read_settings({**token, "EXECUTOR_ENGINES": "mps,quantum"})
