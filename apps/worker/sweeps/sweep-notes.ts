// Writes down what the sweeps of this worker do, for administrators. Seldom: a quick sweep makes thousands of passes in an
// hour, so one is written when it fails, recovers, or finds something else than before, and otherwise every ten seconds.
import type { Logger } from 'pino'
import type { Db } from '../../../db/client.js'
import { noteSweep, type SweepPass } from '../../../db/service/sweeps.js'
import { reasonOf } from '../../../domain/operations/reason.js'
import type { SweepName } from '../../../domain/operations/sweep.js'

const NOTE_EVERY_MS = 10_000

export interface Pass {
  /** There is more to do at once. */
  more?: boolean
  /** How much was dealt with. */
  handled?: number
  /** Everything that a person has to look at now. */
  findings?: string[]
}

export interface SweepNotes {
  /** @param everyMs how often the sweep makes a pass; after ten of these without a success it is late. */
  of(name: SweepName, everyMs: number): SweepNote
}

/** Neither throws: a note that cannot be written is no reason to stop the sweep. */
export interface SweepNote {
  succeeded(pass: Pass): Promise<void>
  failed(error: unknown): Promise<void>
}

/** @param clock milliseconds of a monotonic clock. */
export function createSweepNotes(db: Db, log: Logger, clock: () => number): SweepNotes {
  // By name: several loops may be one sweep.
  const states = new Map<string, { notedAt: number; state: string; handled: number }>()
  return {
    of(name, everyMs) {
      const noted = states.get(name) ?? { notedAt: Number.NEGATIVE_INFINITY, state: '', handled: 0 }
      states.set(name, noted)
      const periodSeconds = Math.ceil(Math.max(everyMs, NOTE_EVERY_MS) / 1000)

      async function note(state: string, pass: Pick<SweepPass, 'error' | 'findings'>): Promise<void> {
        const at = clock()
        if (noted.state === state && at - noted.notedAt < NOTE_EVERY_MS) return
        const { handled } = noted
        Object.assign(noted, { notedAt: at, state, handled: 0 })
        await noteSweep(db, { name, periodSeconds, handled, ...pass }).catch((err) => {
          Object.assign(noted, { state: '', handled: noted.handled + handled })
          log.debug({ sweep: name, err }, 'a pass could not be noted')
        })
      }

      return {
        async succeeded({ handled = 0, findings }) {
          noted.handled += handled
          await note(`done ${JSON.stringify(findings ?? [])}`, { error: null, findings: findings ?? null })
        },
        async failed(error) {
          await note('failed', { error: reasonOf(error), findings: null })
        }
      }
    }
  }
}
