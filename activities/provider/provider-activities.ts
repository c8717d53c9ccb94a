// The activities of a job at a provider: one step each, and the one place where a step's outcome becomes a result or a
// failure for Temporal. `again` is a benign failure: the retries of an activity leave no trace in the history, so a provider
// job can wait for days.
import { type ProviderRef, plainRef, requestedRef } from '../../db/provider-jobs/provider-refs.js'
import type { JobHandOver } from '../../domain/jobs/dispatch.js'
import { createShares, type Shares } from '../../domain/teams/shares.js'
import { failureOf, notYet } from '../job/failure.js'
import { withHeartbeat } from '../job/heartbeat.js'
import { asStep } from '../job/step.js'
import { cancelAtProvider } from './cancel.js'
import { respondWithFault } from './circuit-response.js'
import { collectCounts, collectResult } from './collect.js'
import { followTask } from './follow.js'
import { prepareProgram } from './prepare.js'
import type { ProviderDeps, StepContext, StepEnd, StepPlace } from './step.js'
import { submitToProvider } from './submit.js'

/** An immediate retry would be a busy loop while the reason persists. */
const AGAIN_MS_MIN = 50

/** A circuit that a script (`task` is '') or a task of its graph has requested. */
export interface CircuitHandOver extends JobHandOver {
  task: string
  /** The number of the request. */
  ask: number
}

/** What a step returns to the workflow when it neither fails nor waits. */
type Outcome<Step extends { next: string }> = Exclude<Step, { next: 'again' } | { next: 'fail' }>
/** The outcomes that only a plain job has, and those that only a requested circuit has. */
type PlainOutcome<Step extends { next: string }> = Exclude<Outcome<Step>, { next: 'answered' }>
type CircuitOutcome<Step extends { next: string }> = Exclude<Outcome<Step>, { next: 'script' }>

/** How many steps of a worker call providers at once: in their own slots, or to prepare (apps/worker/temporal-worker.ts). */
export const PROVIDER_STEPS_AT_ONCE = 100

export type ProviderActivities = ReturnType<typeof createProviderActivities>

export function createProviderActivities(deps: ProviderDeps) {
  const shares = createShares(PROVIDER_STEPS_AT_ONCE)
  type StepOf<Step> = (deps: ProviderDeps, context: StepContext) => Promise<Step>

  const plain = async <Step extends { next: string }>(job: JobHandOver, step: StepOf<Step>) =>
    (await outcomeOf<Step | StepEnd>(deps, shares, job, plainRef(job.jobId), (context) =>
      step(deps, context)
    )) as PlainOutcome<Step | StepEnd>

  const circuit = async <Step extends { next: string }>({ task, ask, ...job }: CircuitHandOver, step: StepOf<Step>) =>
    (await outcomeOf<Step | StepEnd>(deps, shares, job, requestedRef(job.jobId, task, ask), async (context) => {
      const end = await step(deps, context)
      const fault = end.next === 'fail' ? (end as unknown as StepEnd & { next: 'fail' }).error : null
      return fault ? respondWithFault(deps, context, fault) : end
    })) as CircuitOutcome<Step | StepEnd>

  return {
    prepareProgram: (job: JobHandOver) => plain(job, prepareProgram),
    submitToProvider: (job: JobHandOver) => plain(job, submitToProvider),
    followTask: (job: JobHandOver) => plain(job, followTask),
    collectResult: (job: JobHandOver) => plain(job, collectResult),
    /** Precondition: no other activity of the job is under way. */
    cancelAtProvider: (job: JobHandOver) => plain(job, cancelAtProvider),
    prepareCircuit: (asked: CircuitHandOver) => circuit(asked, prepareProgram),
    submitCircuit: (asked: CircuitHandOver) => circuit(asked, submitToProvider),
    followCircuit: (asked: CircuitHandOver) => circuit(asked, followTask),
    collectCircuit: (asked: CircuitHandOver) => circuit(asked, collectCounts)
  }
}

/** The place of one step. */
function placeOf(shares: Shares): StepPlace {
  let holder: string | null = null
  return {
    enter(team) {
      if (holder === null && shares.enter(team)) holder = team
      return holder !== null
    },
    leave() {
      if (holder !== null) shares.leave(holder)
      holder = null
    }
  }
}

const outcomeOf = <Step extends { next: string } | StepEnd>(
  deps: ProviderDeps,
  shares: Shares,
  { generation }: JobHandOver,
  ref: ProviderRef,
  step: (context: StepContext) => Promise<Step>
): Promise<Outcome<Step>> =>
  asStep(deps, { jobId: ref.jobId, task: ref.task }, async (activity) => {
    const place = placeOf(shares)
    const end = await withHeartbeat(activity, () =>
      step({ ref, fence: { generation }, signal: activity.cancellationSignal, place })
    ).finally(place.leave)
    const { next } = end as StepEnd
    if (next === 'fail') throw failureOf((end as StepEnd & { next: 'fail' }).error, 'final')
    if (next === 'again') {
      const { afterMs, why } = end as StepEnd & { next: 'again' }
      throw notYet(why, Math.max(afterMs, AGAIN_MS_MIN))
    }
    return end as Outcome<Step>
  })
