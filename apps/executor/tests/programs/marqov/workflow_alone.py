# expect: value {"energy": 1.5, "parts": [1.0, 0.5]}
# params: {"theta": 1.0}
# expect-warning: shots, engine, engine_version and optimization_level are null
from marqov import task, workflow


@task
def part(theta: float, weight: float) -> float:
    return theta * weight


@task(retries=2, timeout=10)
async def total(parts: list[float]) -> float:
    return sum(parts)


@workflow
def estimate(theta: float = 0.0):
    parts = [part(theta, weight) for weight in (1.0, 0.5)]
    return {"energy": total(parts), "parts": parts}
