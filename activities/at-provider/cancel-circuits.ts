// Ends all that a script's circuits have at the provider, before their job ends: `cancelAtProvider` for each of them.
import { loadProviderRun } from '../../db/provider-runs.js'
import { circuitsSoFar, openCircuits } from '../../db/provider-tasks.js'
import type { CancelOutcome } from '../../domain/job-status.js'
import { type CancelledAtProvider, endAtProvider } from './cancel.js'
import { type Again, type ProviderDeps, runningJob, type StepContext, type StepEnd } from './step.js'

/** Circuits that are asked to end at once. */
const AT_ONCE = 8

/** `outcome`: how far it got, all circuits of the job together. */
export type CircuitsCancelled = { next: 'cancelled'; outcome: CancelOutcome } | StepEnd

/** @param context its reference names the job alone. */
export async function cancelCircuits(deps: ProviderDeps, context: StepContext): Promise<CircuitsCancelled> {
  const { jobId } = context.ref
  const found = await runningJob(deps, context, ['running', 'cancelling'])
  if ('end' in found) return found.end
  const open = await openCircuits(deps.db, jobId)
  const ends: CancelledAtProvider[] = []
  for (let at = 0; at < open.length; at += AT_ONCE)
    ends.push(
      ...(await Promise.all(
        open.slice(at, at + AT_ONCE).map(async (ref) => {
          const own = { ...context, ref }
          const run = await loadProviderRun(deps.db, ref)
          return run ? endAtProvider(deps, own, run) : ({ next: 'stop' } as const)
        })
      ))
    )
  const waits = ends.filter((end): end is Again => end.next === 'again')
  if (waits.length > 0) return waits.reduce((soonest, wait) => (wait.afterMs < soonest.afterMs ? wait : soonest))
  if (ends.some(({ next }) => next === 'stop')) return { next: 'stop' }
  return { next: 'cancelled', outcome: await outcomeOf(deps, jobId) }
}

async function outcomeOf({ db }: ProviderDeps, jobId: string): Promise<CancelOutcome> {
  const { unknown, accepted } = await circuitsSoFar(db, jobId)
  if (unknown > 0) return 'provider_unknown'
  return accepted > 0 ? 'provider_confirmed' : 'stopped_before_provider'
}
