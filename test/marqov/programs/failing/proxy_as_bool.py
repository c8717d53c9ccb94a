"""A workflow that branches on a result that does not exist yet."""

from marqov import task, workflow


@task
def number():
    return 1


@workflow
def proxy_as_bool():
    return number() if number() else 2
