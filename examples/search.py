"""A search whose next step depends on its measurements: `main` runs one workflow after another.

    npx qjob run examples/search.py --mode temporal --param rounds=4

RY(theta) gives a qubit <Z> = cos(theta), which has its minimum, -1, at theta = pi. Each round measures five angles in
parallel and continues around the best one.
"""

from math import pi

from marqov import Circuit, get_device, task, workflow

POINTS = 5


@task(retries=2, timeout=60)
def energy(theta: float, shots: int, backend: str) -> float:
    """<Z> after RY(theta)."""
    counts = get_device({"backend": backend}).run(Circuit().ry(theta, 0), shots)
    return (counts.get("0", 0) - counts.get("1", 0)) / sum(counts.values())


@task
def best_of(thetas: list[float], energies: list[float]) -> dict:
    lowest = min(energies)
    return {"theta": thetas[energies.index(lowest)], "energy": lowest}


@workflow
def scan(thetas: list[float], shots: int, backend: str):
    return best_of(thetas, [energy(theta, shots, backend) for theta in thetas])


async def main(client, params):
    low, high = 0.0, 2 * pi
    history = []
    for _ in range(params.get("rounds", 3)):
        step = (high - low) / (POINTS - 1)
        thetas = [low + step * k for k in range(POINTS)]
        best = await scan(thetas, params["shots"], params["backend"]).run(client)
        history.append(best)
        low, high = best["theta"] - step, best["theta"] + step
    best = min(history, key=lambda seen: seen["energy"])
    return {
        **best,
        "history": history,
        "_summary": {"Lowest": f"<Z> = {best['energy']:.3f} at theta = {best['theta']:.3f} (theory: -1 at 3.142)"},
    }
