"""Runs programs of tasks with the published SDK: its worker and its workflow, on a real Temporal server.

Standard input: ``{"address": <Temporal>, "programs": {<name>: {"path", "params"}}}``. For each program one line of JSON
on standard output: ``{"name", "value", "seconds"}``, or ``{"name", "raised"}``.

A program that defines ``main(client, params)`` is called with a client of that server. The one workflow of any other is
called with the params that it accepts. Its result is built from the values of all its tasks and the return shape of the
SDK's own ``capture()``: ``run()`` alone would return a dict by node ids instead of its keys, and nothing of nested
results.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import runpy
import sys
import time
import traceback
from typing import Any

from marqov.workflows import create_worker
from temporalio.client import Client


async def result_of(path: str, params: dict[str, Any], client: Client) -> Any:
    """Runs the program and returns its result."""
    # As a script, so that its functions are sent to the tasks' processes by value, like those of a user's file.
    namespace = runpy.run_path(path, run_name="__main__")
    main = namespace.get("main")
    if main is not None:
        return await main(client, dict(params))
    [workflow] = [value for value in namespace.values() if getattr(value, "_is_workflow", False)]
    accepted = inspect.signature(workflow).parameters
    dispatch = workflow(**{name: value for name, value in params.items() if name in accepted})
    capture = dispatch.capture()
    # Without its own outputs a graph returns the value of every task.
    dispatch.graph.set_output_nodes([])
    return capture.resolve_output(await dispatch.run(client))


async def main() -> None:
    """Runs the programs one after another."""
    # The Temporal client logs to standard output, which is redirected to standard error.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    wanted = json.load(sys.stdin)
    client = await Client.connect(wanted["address"])
    async with create_worker(client):
        for name, program in wanted["programs"].items():
            began = time.monotonic()
            try:
                value = await result_of(program["path"], program["params"], client)
                result = {"name": name, "value": value, "seconds": time.monotonic() - began}
            except Exception as error:
                result = {"name": name, "raised": "".join(traceback.format_exception(error))}
            out.write(json.dumps(result) + "\n")
            out.flush()


if __name__ == "__main__":
    asyncio.run(main())
