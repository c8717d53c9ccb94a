"""A scan: the same circuit at many angles, one task for each, and one that gathers what they saw.

RY(theta) turns a qubit from 0 towards 1: it reads 1 with probability sin(theta/2)^2. The tasks wait for nobody, so as
many of them run at once as there are places.
"""

from math import pi, sin

from marqov import Circuit, get_device, task, workflow


@task(retries=2, timeout=120)
def measure(theta: float, shots: int, backend: str) -> float:
    """How often the qubit reads 1."""
    counts = get_device({"backend": backend}).run(Circuit().ry(theta, 0), shots)
    return counts.get("1", 0) / sum(counts.values())


@task
def gather(thetas: list[float], measured: list[float]) -> dict:
    theory = [sin(theta / 2) ** 2 for theta in thetas]
    worst = max(abs(seen - known) for seen, known in zip(measured, theory))
    return {
        "theta": thetas,
        "probability": measured,
        "theory": theory,
        "largest_deviation": worst,
        "_summary": {"Scan": f"{len(thetas)} angles, at most {worst:.3f} away from sin(theta/2)^2"},
    }


@workflow
def parameter_scan(
    angles: int = 9,
    shots: int = 1000,
    backend: str = "local",
    noise_model: dict | None = None,
    seed: int | None = None,
):
    if not 2 <= angles <= 200:
        raise ValueError(f"angles must be from 2 to 200 (got {angles})")
    thetas = [pi * step / (angles - 1) for step in range(angles)]
    return gather(thetas, [measure(theta, shots, backend) for theta in thetas])
