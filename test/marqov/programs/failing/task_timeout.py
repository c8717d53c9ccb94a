"""A task that takes longer than it may."""

import time

from marqov import task, workflow


@task(timeout=1)
def sleepy():
    time.sleep(60)


@workflow
def task_timeout():
    return sleepy()
