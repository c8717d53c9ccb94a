"""Many parallel tasks and one that joins them."""

from marqov import task, workflow

OFFSET = 10**18


@task(name="a square", retries=1, timeout=30)
def square(x):
    return x * x + OFFSET


@task
def total(values, *, start):
    return str(sum(values, start))


@workflow(name="fan-out and fan-in")
def fan_out(width=6):
    return total([square(x) for x in range(width)], start=OFFSET)
