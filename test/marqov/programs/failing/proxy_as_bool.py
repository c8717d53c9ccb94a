"""A workflow that decides by a result which is not there yet."""

from marqov import task, workflow


@task
def number():
    return 1


@workflow
def proxy_as_bool():
    return number() if number() else 2
