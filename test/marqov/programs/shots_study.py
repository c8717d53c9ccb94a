"""Independent async tasks that run circuits with the SDK's own local executor; a list of their results."""

from marqov import bell_state, task, workflow
from marqov.executors import LocalExecutor


@task
async def measure(shots):
    result = await LocalExecutor().execute(bell_state(), shots=shots)
    return [sorted(result.counts), sum(result.counts.values())]


@workflow
def shots_study(shot_counts=(150, 400)):
    return [measure(shots) for shots in shot_counts]
