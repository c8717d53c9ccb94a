// A circuit that a script or one of its tasks has requested at the provider: compile it, send it once, follow it for as
// long as it takes, and store its counts as the answer. Waiting is a retry of the activity, and adds no event to the
// history.
import { CancellationScope, proxyActivities } from '@temporalio/workflow'
import type { ProviderActivities } from '../activities/provider/provider-activities.js'
import type { JobHandOver } from '../domain/jobs/dispatch.js'
import { isCancel } from './job-error.js'
import { executorStep, providerSteps } from './job-steps.js'

const { prepareCircuit } = proxyActivities<ProviderActivities>(executorStep)

/**
 * @param asked the requester (`task` is '' for the script itself) and the number of the request.
 * @returns `answered`: the request has its answer, counts or an error; `cancel`: the job, or this scope of its
 * workflow, is to end (work at the provider remains for `cancelAtProvider`); `stop`: another worker has the job.
 * @throws ActivityFailure for what ends the job: a budget, an unreachable provider, an unknown outcome.
 */
export async function runCircuit(
  job: JobHandOver,
  asked: { task: string; ask: number }
): Promise<'answered' | 'cancel' | 'stop'> {
  const circuit = { jobId: job.jobId, generation: job.generation, ...asked }
  try {
    const prepared = await prepareCircuit(circuit)
    if (prepared.next !== 'submit') return prepared.next
    // If it were interrupted, nothing would record whether the provider has the circuit. The step itself checks whether
    // the job is still to run.
    const submitted = await CancellationScope.nonCancellable(() => providerSteps().submitCircuit(circuit))
    if (submitted.next !== 'follow') return submitted.next
    const followed = await providerSteps().followCircuit(circuit)
    if (followed.next !== 'collect') return followed.next
    return (await providerSteps().collectCircuit(circuit)).next
  } catch (error) {
    if (isCancel(error)) return 'cancel'
    throw error
  }
}
