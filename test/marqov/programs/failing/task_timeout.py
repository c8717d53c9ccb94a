"""A task that exceeds its timeout."""

import time

from marqov import task, workflow


@task(timeout=1)
def sleepy():
    time.sleep(60)


@workflow
def task_timeout():
    return sleepy()
