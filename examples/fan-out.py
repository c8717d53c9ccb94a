"""A workflow with one task for each size of a GHZ state, in parallel, and one that collects their results.

    npx qjob run examples/fan-out.py --mode temporal --param largest=6

In mode temporal each task runs separately, is retried if it fails, and appears on the timeline of `qjob job ID`.
All qubits of a GHZ state have the same outcome, so without noise every agreement is 1.
"""

from marqov import get_device, ghz_state, task, workflow


@task(retries=2, timeout=60)
def agreement(size: int, shots: int, backend: str) -> float:
    """The share of shots in which all qubits have the same outcome."""
    counts = get_device({"backend": backend}).run(ghz_state(size), shots)
    return (counts.get("0" * size, 0) + counts.get("1" * size, 0)) / sum(counts.values())


@task
def gather(sizes: list[int], agreements: list[float]) -> dict:
    lowest = min(agreements)
    return {
        "agreement": {str(size): seen for size, seen in zip(sizes, agreements, strict=True)},
        "lowest": lowest,
        "_summary": {"GHZ states": f"{sizes[0]} to {sizes[-1]} qubits agree in at least {lowest:.1%} of the shots"},
    }


@workflow
def ghz_sizes(largest: int = 5, shots: int = 1000, backend: str = "local"):
    sizes = list(range(2, largest + 1))
    return gather(sizes, [agreement(size, shots, backend) for size in sizes])
