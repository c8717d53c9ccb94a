"""Twenty tasks one after another."""

from marqov import task, workflow


@task
def step(x):
    return x + 1


@workflow
def chain():
    value = 0
    for _ in range(20):
        value = step(value)
    return value
