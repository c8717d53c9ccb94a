"""A variational loop: plain Python decides from each workflow's result what the next one computes."""

from math import cos, sin

from marqov import task, workflow

TERMS = {"Z": 0.8, "X": 0.2}


@task
def expectation(theta, pauli):
    return cos(theta) if pauli == "Z" else sin(theta)


@task
def energy(values):
    return sum(coefficient * value for coefficient, value in zip(TERMS.values(), values))


@workflow
def energy_at(theta):
    return energy([expectation(theta, pauli) for pauli in TERMS])


async def main(client, params):
    theta, step, tried = params.get("theta", 2.0), 1.0, []
    best = await energy_at(theta).run(client)
    while step > 0.4:
        found = {move: await energy_at(theta + move).run(client) for move in (-step, step)}
        tried += found.values()
        move = min(found, key=found.get)
        if found[move] < best:
            theta, best = theta + move, found[move]
        else:
            step /= 2
    return {"theta": theta, "energy": best, "tried": tried}
