// Dispatches new jobs right after the response. This is an optimisation: the relay delivers what fails here or is lost with this
// process. One batch per mode is in progress at a time, and jobs that come during it form the next: a single job is dispatched
// at once, and many jobs share their reads, calls and updates. The modes do not wait for each other, since one dispatch target
// may hang while the other works.
import type { FastifyBaseLogger } from 'fastify'
import type { Db } from '../../../db/client.js'
import { findFresh, markDelivered } from '../../../db/job-steps/outbox.js'
import type { AnnounceJob } from '../../../db/jobs/job-changes.js'
import type { ExecutionMode } from '../../../domain/jobs/job-status.js'
import type { Dispatcher } from '../../../services/dispatch/dispatcher.js'

const BATCH_MAX = 100

export interface Nudge {
  (jobId: string, mode: ExecutionMode): void
  /** Waits for the jobs that were nudged before. */
  close(): Promise<void>
}

export function createNudge(deps: {
  db: Db
  dispatcher: Dispatcher
  /** Tells those who watch their team's jobs of a new one. */
  announce: AnnounceJob
  log: FastifyBaseLogger
  /** The same as in the relay: when to check a row again that was delivered here. */
  redeliverSeconds: number
  /** How many jobs a team can have in progress. */
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

  const nudge = (jobId: string, mode: ExecutionMode) => {
    deps.announce(jobId)
    lanes[mode].add(jobId)
  }
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
    // The response is sent first.
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
