"""A task that fails in every attempt, with one before it and one after."""

from marqov import task, workflow


@task
def first():
    return 3


@task(retries=1)
def divide(x):
    raise ValueError(f"boom at {x}")


@task
def never(x):
    return x


@workflow
def task_error():
    return never(divide(first()))
