"""Fifty parallel tasks that do nothing, and one that joins them."""

from marqov import task, workflow


@task
def leaf(x):
    return x


@task
def join(values):
    return sum(values)


@workflow
def fan_out():
    return join([leaf(x) for x in range(50)])
