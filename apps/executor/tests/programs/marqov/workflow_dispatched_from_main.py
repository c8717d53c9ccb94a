# expect: value {"best": 3, "energy": 0.0}
from marqov import Circuit, get_device, task, workflow


@task
def ones(n: int) -> int:
    counts = get_device(params).run(Circuit().x(0), 100)  # noqa: F821
    return counts["1"] * (n - 3) ** 2


@workflow
def energy(n: int):
    return {"energy": ones(n)}


async def main(client, params):
    energies = {}
    for n in range(5):
        energies[n] = (await energy(n).run(client))["energy"] / 100
    best = min(energies, key=energies.get)
    return {"best": best, "energy": energies[best]}
