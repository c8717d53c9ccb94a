"""Keeps the SDK as it is: a child, which serves once, changes the SDK's classes; the process of the tests goes on."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def sdk_as_it_is() -> Iterator[None]:
    """Puts back what is changed of the SDK's classes inside."""
    if importlib.util.find_spec("marqov") is None:
        yield
        return
    from marqov.workflows.decorators import WorkflowDispatch
    from marqov.workflows.graph import TaskProxy, TransportGraph

    with pytest.MonkeyPatch.context() as patch:
        for cls, name in (
            (TransportGraph, "add_node"),
            (TaskProxy, "__eq__"),
            (TaskProxy, "__ne__"),
            (TaskProxy, "__reduce_ex__"),
            (WorkflowDispatch, "_prepare_workflow_input"),
        ):
            patch.setattr(cls, name, getattr(cls, name))
        yield
