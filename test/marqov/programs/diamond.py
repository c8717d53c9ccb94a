"""Two branches from one result that join again."""

from marqov import task, workflow


@task
def source(x):
    return {"x": x, "half": x / 2}


@task
def left(item):
    return item["x"] * 3


@task
def right(item, bias=0.1):
    return item["half"] + bias


@task
def join(a, b):
    return {"left": a, "right": b, "sum": a + b}


@workflow
def diamond(x=7):
    start = source(x)
    return join(left(start), b=right(start, bias=0.25))
