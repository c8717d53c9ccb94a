"""Names by which stored pickles refer to the executor: functions and values of tasks wait in the database while a job
runs, across an upgrade too, so these names have to stay."""

from __future__ import annotations

import importlib

import pytest

NAMES = [
    "qjs_executor.child.refusals:JobError",
    "qjs_executor.child.refusals:Unsupported",
    "qjs_executor.child.replay:_present_clock",
    "qjs_executor.child.workflows.shared_generators:shared_numpy_random",
    "qjs_executor.child.workflows.shared_generators:shared_random",
    "qjs_executor.child.workflows.task_device:provided_device",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_pickle_of_an_earlier_version_finds_what_it_refers_to(name: str) -> None:
    module, _, member = name.partition(":")
    found = getattr(importlib.import_module(module), member)
    assert (found.__module__, found.__qualname__) == (module, member)
