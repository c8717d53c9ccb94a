# expect-error: task 'inverse' (task_0002): ZeroDivisionError: division by zero
# expect-line: 13
from marqov import task, workflow


@task
def minus_one(x):
    return x - 1


@task
def inverse(x):
    return 1 / x


@workflow
def flow():
    return inverse(minus_one(1))
