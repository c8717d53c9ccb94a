// Stores the latest state of this worker's sweeps, for administrators. A fast sweep makes thousands of passes in an hour, so
// a pass is stored when the sweep fails, recovers or has new findings, and otherwise every ten seconds.

import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { recordSweep, type SweepPass } from '../../../db/service/sweeps.js'
import { reasonOf } from '../../../domain/operations/reason.js'
import type { SweepName } from '../../../domain/operations/sweep.js'

export const STORE_EVERY_MS = 10_000

export interface Pass {
  /** There is more to do at once. */
  more?: boolean
  /** Number of rows that the pass has dealt with. */
  handled?: number
  /** Number of rows that could not be handled and will be tried again, and why the last of them could not. */
  failed?: number
  lastFailure?: string | null
  /** Everything that an operator has to check now. */
  findings?: string[]
}

export interface SweepReports {
  /** @param everyMs how often the sweep makes a pass; after ten of these without a success it is late. */
  of(name: SweepName, everyMs: number): SweepReport
}

/** Neither throws: a sweep must not stop because its state cannot be stored. */
export interface SweepReport {
  succeeded(pass: Pass): Promise<void>
  failed(error: unknown): Promise<void>
}

/** @param clock milliseconds of a monotonic clock. */
export function createSweepReports(db: Db, log: Logger, clock: () => number): SweepReports {
  // By name: several loops can be one sweep.
  const states = new Map<string, { storedAt: number; state: string; handled: number; failed: number }>()
  return {
    of(name, everyMs) {
      const stored = states.get(name) ?? { storedAt: Number.NEGATIVE_INFINITY, state: '', handled: 0, failed: 0 }
      states.set(name, stored)
      const periodSeconds = Math.ceil(Math.max(everyMs, STORE_EVERY_MS) / 1000)

      async function store(state: string, pass: Pick<SweepPass, 'error' | 'lastFailure' | 'findings'>): Promise<void> {
        const at = clock()
        if (stored.state === state && at - stored.storedAt < STORE_EVERY_MS) return
        const { handled, failed } = stored
        Object.assign(stored, { storedAt: at, state, handled: 0, failed: 0 })
        await recordSweep(db, { name, periodSeconds, handled, failed, ...pass }).catch((err) => {
          Object.assign(stored, { state: '', handled: stored.handled + handled, failed: stored.failed + failed })
          log.debug({ sweep: name, err }, 'the state of a sweep could not be stored')
        })
      }

      return {
        async succeeded({ handled = 0, failed = 0, lastFailure, findings }) {
          stored.handled += handled
          stored.failed += failed
          const state = `done ${failed > 0} ${JSON.stringify(findings ?? [])}`
          await store(state, { error: null, lastFailure: lastFailure ?? null, findings: findings ?? null })
        },
        async failed(error) {
          await store('failed', { error: reasonOf(error), findings: null })
        }
      }
    }
  }
}
