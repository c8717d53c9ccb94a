# expect: value {"energies": [1.0, -1.0]}
# expect-warning: shots, engine, engine_version and optimization_level are null
import math

from marqov import Circuit, task


@task(name="energy", retries=1)
def energy(theta: float) -> float:
    state = Circuit().ry(theta, 0).simulate()
    p = abs(state.tensor.ravel()) ** 2
    return float(p[0] - p[1])


def main():
    return {"energies": [round(energy(t), 6) for t in (0.0, math.pi)]}
