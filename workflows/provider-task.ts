// A circuit that a script or one of its tasks has asked for, at the provider: compiled, sent once, followed for as long as it
// takes, its counts stored as the answer to the ask. What is not ready yet is a retry of its activity, and no event.
import { CancellationScope, proxyActivities } from '@temporalio/workflow'
import type { ProviderActivities } from '../activities/provider/provider-activities.js'
import type { JobHandOver } from '../domain/jobs/dispatch.js'
import { isCancel } from './job-error.js'
import { executorStep, providerStep } from './job-steps.js'

const { prepareCircuit } = proxyActivities<ProviderActivities>(executorStep)

const steps = proxyActivities<ProviderActivities>(providerStep)

/**
 * @param asked who asks (`task` is '' for the script itself) and the number of the ask.
 * @returns `answered`: the ask has its answer, counts or the reason why there are none; `cancel`: the job, or this scope of
 * its workflow, is to end (what is at the provider is still there: `cancelAtProvider`); `stop`: the job is another side's.
 * @throws ActivityFailure for what ends the job: no budget, a provider that cannot be reached, an outcome nobody knows.
 */
export async function runCircuit(
  job: JobHandOver,
  asked: { task: string; ask: number }
): Promise<'answered' | 'cancel' | 'stop'> {
  const circuit = { jobId: job.jobId, generation: job.generation, ...asked }
  try {
    const prepared = await prepareCircuit(circuit)
    if (prepared.next !== 'submit') return prepared.next
    // Cut short, nobody would know whether the provider has it. It reads itself whether the job is still wanted.
    const submitted = await CancellationScope.nonCancellable(() => steps.submitCircuit(circuit))
    if (submitted.next !== 'follow') return submitted.next
    const followed = await steps.followCircuit(circuit)
    if (followed.next !== 'collect') return followed.next
    return (await steps.collectCircuit(circuit)).next
  } catch (error) {
    if (isCancel(error)) return 'cancel'
    throw error
  }
}
