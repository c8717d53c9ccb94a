// What a worker does about providers beside running jobs: it says which it can talk to, asks how their machines are, and
// asks after tasks whose jobs have ended with their money held.
import type { Logger } from 'pino'
import { settleHeldProviderJob } from '../../../activities/provider/held-money.js'
import type { ProviderDeps } from '../../../activities/provider/step.js'
import { declareProviders, hasCredentials, noteBackends } from '../../../db/backends/provider-workers.js'
import { takeHeldProviderJobs } from '../../../db/provider-jobs/provider-money.js'
import type { SweepName } from '../../../domain/operations/sweep.js'
import type { SweepNotes } from './sweep-notes.js'
import { startLoop, type TimerLoop } from './timer-loop.js'

const DECLARE_MS = 10 * 60_000
const REFRESH_MS = 5 * 60_000
/** Each held task is asked after once an hour; this is how often it is looked which one's hour has come. */
const HELD_MS = 60_000
const HELD_PER_PASS = 50
const CALL_TIMEOUT_MS = 10_000

export interface ProviderLoopDeps extends ProviderDeps {
  notes: SweepNotes
  log: Logger
  /** Emulators answer instead of the providers: their machines are asked after whether anybody has credentials or not. */
  emulated: boolean
}

export function startProviderLoops(deps: ProviderLoopDeps): TimerLoop[] {
  const { db, providers, notes, log } = deps
  const named = (name: SweepName, everyMs: number, pass: () => Promise<{ handled: number; more?: boolean }>) =>
    startLoop(name, everyMs, log, pass, notes.of(name, everyMs))
  return [
    startLoop('provider declaration', DECLARE_MS, log, async () => {
      await declareProviders(db, [...providers.keys()])
      return false
    }),
    named('provider_backends', REFRESH_MS, async () => ({ handled: await refreshBackends(deps) })),
    named('held_money', HELD_MS, async () => {
      const held = await takeHeldProviderJobs(db, HELD_PER_PASS)
      let handled = 0
      for (const task of held)
        if ((await settleHeldProviderJob(deps, task, AbortSignal.timeout(CALL_TIMEOUT_MS))) === 'settled') {
          handled++
          log.info({ jobId: task.jobId }, 'the provider has said how the task ended; its money is settled')
        }
      return { handled, more: held.length === HELD_PER_PASS }
    })
  ]
}

/** Nobody's machines are asked after where nobody could use them: an installation talks to no stranger unasked. */
async function refreshBackends({ db, providers, emulated, log }: ProviderLoopDeps): Promise<number> {
  let refreshed = 0
  for (const [name, adapter] of providers) {
    if (!emulated && !(await hasCredentials(db, null, adapter.credentials))) continue
    try {
      const seen = await adapter.backends(AbortSignal.timeout(CALL_TIMEOUT_MS))
      await noteBackends(db, name, seen)
      refreshed += seen.length
    } catch (err) {
      // What was known last stays, with its age.
      log.warn({ provider: name, reason: (err as Error).message }, 'its machines could not be asked after')
    }
  }
  return refreshed
}
