// The activities of a job at a provider: one step each (activities/at-provider), and the one place where a step's answer
// becomes what Temporal understands. `again` is a failure that nobody needs to look at: the retries of an activity leave
// no trace in the history, so a task may wait for days.
import { ApplicationFailure, Context } from '@temporalio/activity'
import { ApplicationFailureCategory } from '@temporalio/common'
import type { JobHandOver } from '../domain/dispatch.js'
import { cancelAtProvider } from './at-provider/cancel.js'
import { collectResult } from './at-provider/collect.js'
import { followTask } from './at-provider/follow.js'
import { prepareProgram } from './at-provider/prepare.js'
import type { ProviderDeps, StepContext, StepEnd } from './at-provider/step.js'
import { submitToProvider } from './at-provider/submit.js'
import { failureOf } from './job-failure.js'

const HEARTBEAT_MS = 1_000
/** A retry at once would be a busy loop if the reason stayed. */
const AGAIN_MS_MIN = 50

/** What a step answers to the workflow when it is neither a failure nor a wait. */
type Answer<Step extends { next: string }> = Exclude<Step, { next: 'again' } | { next: 'fail' }>

export type ProviderActivities = ReturnType<typeof createProviderActivities>

export function createProviderActivities(deps: ProviderDeps) {
  return {
    prepareProgram: (job: JobHandOver) => answer(job, (context) => prepareProgram(deps, context)),
    submitToProvider: (job: JobHandOver) => answer(job, (context) => submitToProvider(deps, context)),
    followTask: (job: JobHandOver) => answer(job, (context) => followTask(deps, context)),
    collectResult: (job: JobHandOver) => answer(job, (context) => collectResult(deps, context)),
    cancelAtProvider: (job: JobHandOver) => answer(job, (context) => cancelAtProvider(deps, context))
  }
}

async function answer<Step extends { next: string } | StepEnd>(
  { jobId, generation }: JobHandOver,
  step: (context: StepContext) => Promise<Step>
): Promise<Answer<Step>> {
  const activity = Context.current()
  const beating = setInterval(() => activity.heartbeat(), HEARTBEAT_MS)
  try {
    const end = await step({ jobId, fence: { generation }, signal: activity.cancellationSignal })
    const { next } = end as StepEnd
    if (next === 'fail') throw failureOf((end as StepEnd & { next: 'fail' }).error, 'final')
    if (next === 'again') {
      const { afterMs, why } = end as StepEnd & { next: 'again' }
      throw ApplicationFailure.create({
        type: 'not_yet',
        message: why,
        category: ApplicationFailureCategory.BENIGN,
        nextRetryDelay: Math.max(afterMs, AGAIN_MS_MIN)
      })
    }
    return end as Answer<Step>
  } finally {
    clearInterval(beating)
  }
}
