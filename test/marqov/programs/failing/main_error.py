"""A loop whose second workflow fails; the first one's value is not a result."""

from marqov import task, workflow


@task
def inverse(x):
    return 1 / x


@workflow
def invert(x):
    return inverse(x)


async def main(client, params):
    first = await invert(4).run(client)
    second = await invert(0).run(client)
    return [first, second]
