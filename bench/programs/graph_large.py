"""2,000 tasks: a thousand in a chain, a thousand in parallel to it."""

from marqov import task, workflow


@task
def step(x):
    return x + 1


@workflow
def large():
    value = 0
    for _ in range(1_000):
        value = step(value)
    parallel = [step(x) for x in range(1_000)]
    return [value, parallel[-1]]
