"""The `client` of `main(client, params)`: the object with which the SDK's dispatches start workflows."""

from __future__ import annotations

import json
import uuid
from typing import Any

from ..refusals import JobError
from .dispatches import Dispatches, Prepared

_HOW = "dispatch a workflow with `await workflow(...).run(client)`"


class DispatchClient:
    """Starts workflows like the SDK's own client. Each is finished when `start_workflow` returns: concurrent starts are
    executed one after another. `dispatches` is None for a script that cannot have a workflow."""

    def __init__(self, dispatches: Dispatches | None) -> None:
        self._dispatches = dispatches
        self._handles: dict[str, DispatchHandle] = {}

    async def start_workflow(
        self,
        workflow: Any = None,  # noqa: ARG002
        arg: Any = None,
        *,
        args: Any = (),
        id: str | None = None,  # noqa: A002
        **_: Any,
    ) -> DispatchHandle:
        """Runs the workflow of a dispatch. Raises JobError for anything else."""
        given = [item for item in (arg, *args) if item is not None]
        if self._dispatches is None or len(given) != 1 or not isinstance(given[0], Prepared):
            raise JobError(f"client.start_workflow: only a workflow of this script can be started; {_HOW}")
        graph = given[0].graph
        value, metadata = self._dispatches.run(graph)
        workflow_id = str(id) if id is not None else f"{graph['name']}-{uuid.uuid4().hex[:8]}"
        handle = DispatchHandle(workflow_id, json.dumps({"result": value, "_workflow_metadata": metadata}))
        self._handles[workflow_id] = handle
        return handle

    def get_workflow_handle(self, workflow_id: str, **_: Any) -> DispatchHandle:
        """The handle of a workflow that was started here. Raises JobError for any other workflow."""
        if workflow_id not in self._handles:
            raise JobError(f"client.get_workflow_handle: this script has started no workflow {str(workflow_id)[:80]!r}")
        return self._handles[workflow_id]


class DispatchHandle:
    """One started workflow."""

    def __init__(self, workflow_id: str, result: str) -> None:
        self.id = workflow_id
        self.first_execution_run_id = self.result_run_id = self.run_id = str(uuid.uuid4())
        self._result = result

    async def result(self, **_: Any) -> str:
        """JSON of {result, _workflow_metadata}, as the SDK reads it."""
        return self._result
