"""The SDK's three ways to dispatch a workflow, and the result of each."""

import json

from marqov import task, workflow


@task
def double(x):
    return 2 * x


@task
def both(a, b):
    return [a, b]


@workflow
def pair(x):
    return both(double(x), double(x + 1))


@workflow
def named(x):
    return {"small": double(x), "large": double(10 * x)}


@workflow
def listed(x):
    return [double(x), double(10 * x)]


async def main(client, params):
    enriched, workflow_id, run_id = await pair(1).run_with_ids(client)
    metadata = enriched["_workflow_metadata"]
    handle, started_id, _ = await pair(2).start_with_ids(client)
    dispatched_id = await pair(3).dispatch(client)
    dispatched = json.loads(await client.get_workflow_handle(dispatched_id).result())
    collapsed = await named(4).run(client)
    several = await listed(5).run(client)
    return {
        "result": enriched["result"],
        "tasks": metadata["total_tasks"],
        "levels": [len(level) for level in metadata["execution_graph"]["execution_levels"]],
        "timeline": sorted(
            [entry["func_name"], entry["level"], entry["status"]] for entry in metadata["task_timeline"]
        ),
        "ids": [isinstance(workflow_id, str), isinstance(run_id, str), started_id.startswith("pair-")],
        "started": json.loads(await handle.result())["result"],
        "dispatched": dispatched["result"],
        "values": sorted(collapsed.values()),
        # The SDK returns several results by the ids of their nodes; the service returns the workflow's own value.
        "listed": list(several.values()) if isinstance(several, dict) else several,
    }
