// Tells the engines of new jobs right after the answer. Only an optimisation: what fails here, or dies with this process, is
// the relay's to deliver. One batch per mode is under way at a time, and what comes meanwhile makes the next: alone, a job
// is told at once; in a crowd, many share their look-up, their call and their note. The modes do not wait for each other,
// since one engine may hang while the other is well.
import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../../../db/client.js'
import { findFresh, markDelivered } from '../../../db/job-steps/outbox.js'
import type { ExecutionMode } from '../../../domain/jobs/job-status.js'
import type { Dispatcher } from '../../../services/dispatch/dispatcher.js'

const BATCH_MAX = 100

export interface Nudge {
  (jobId: string, mode: ExecutionMode): void
  /** Waits for what was nudged before. */
  close(): Promise<void>
}

export function createNudge(deps: {
  db: Db
  dispatcher: Dispatcher
  log: FastifyBaseLogger
  /** As in the relay: when to look again at a row that was delivered here. */
  redeliverSeconds: number
  /** Jobs that a team may have under way. */
  teamRunningMax: number
}): Nudge {
  const lanes = { direct: createLane(deliver), temporal: createLane(deliver) }

  async function deliver(jobIds: string[]): Promise<void> {
    try {
      const rows = await findFresh(deps.db, jobIds, deps.teamRunningMax)
      const deliveries = await deps.dispatcher.deliver(rows)
      await markDelivered(
        deps.db,
        rows.filter((_, at) => deliveries[at] === 'delivered'),
        deps.redeliverSeconds
      )
    } catch (err) {
      deps.log.warn({ err }, 'nudge failed; the relay will deliver')
    }
  }

  const nudge = (jobId: string, mode: ExecutionMode) => lanes[mode].add(jobId)
  return Object.assign(nudge, {
    async close() {
      await Promise.all([lanes.direct.idle(), lanes.temporal.idle()])
    }
  })
}

/** Hands ids to `deliver` in batches, one after the other. `deliver` must not reject. */
function createLane(deliver: (jobIds: string[]) => Promise<void>) {
  let waiting: string[] = []
  let running: Promise<void> | null = null

  async function run(): Promise<void> {
    // The answer goes out first.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH_MAX)
      waiting = waiting.slice(BATCH_MAX)
      await deliver(batch)
    }
    running = null
  }

  return {
    add(jobId: string): void {
      waiting.push(jobId)
      running ??= run()
    },
    idle: (): Promise<void> => running ?? Promise.resolve()
  }
}
