"""The smallest workflow: one task that runs a Bell state.

The function marked with @workflow only says which tasks there are. The service runs each of them, tries a task again
as often as its `retries` say, and shows it on the job's timeline.
"""

from marqov import bell_state, get_device, task, workflow


@task(retries=2, timeout=120)
def run_bell(shots: int, backend: str) -> dict:
    counts = get_device({"backend": backend}).run(bell_state(), shots)
    agreement = (counts.get("00", 0) + counts.get("11", 0)) / sum(counts.values())
    return {
        "counts": counts,
        "agreement": agreement,
        "_summary": {"Qubits agree": f"{agreement:.1%} of {sum(counts.values())} shots"},
    }


@workflow
def bell_workflow(shots: int = 1000, backend: str = "local", noise_model: dict | None = None, seed: int | None = None):
    return run_bell(shots, backend)
