// Tells the engines of new jobs right after the answer, in small batches. Only an optimisation: what fails here, or dies
// with this process, is the relay's to deliver.
import type { FastifyBaseLogger } from 'fastify'
import type { Dispatcher } from '../../activities/dispatcher.js'
import type { Db } from '../../db/client.js'
import type { AnnounceJob } from '../../db/job-changes.js'
import { findFresh, markDelivered } from '../../db/outbox.js'

// Several submissions at once share their look-up, their queue call and their note.
const GATHER_MS = 2
const BATCH_MAX = 100

export interface Nudge {
  (jobId: string): void
  /** Waits for the batches under way. */
  close(): Promise<void>
}

export function createNudge(deps: {
  db: Db
  dispatcher: Dispatcher
  announce: AnnounceJob
  log: FastifyBaseLogger
  /** As in the relay: when to look again at a row that was delivered here. */
  redeliverSeconds: number
}): Nudge {
  const waiting = new Set<string>()
  const underWay = new Set<Promise<void>>()
  let scheduled = false

  const flush = () => {
    scheduled = false
    const ids = [...waiting]
    waiting.clear()
    for (let at = 0; at < ids.length; at += BATCH_MAX) {
      const batch = deliver(ids.slice(at, at + BATCH_MAX)).catch((err) =>
        deps.log.warn({ err }, 'nudge failed; the relay will deliver')
      )
      underWay.add(batch)
      batch.finally(() => underWay.delete(batch))
    }
  }

  async function deliver(jobIds: string[]): Promise<void> {
    const rows = await findFresh(deps.db, jobIds)
    const deliveries = await deps.dispatcher.deliver(rows)
    await markDelivered(
      deps.db,
      rows.filter((_, at) => deliveries[at] === 'delivered'),
      deps.redeliverSeconds
    )
    for (const jobId of jobIds) deps.announce(jobId)
  }

  const nudge = (jobId: string) => {
    waiting.add(jobId)
    if (scheduled) return
    scheduled = true
    setTimeout(flush, GATHER_MS)
  }
  return Object.assign(nudge, {
    async close() {
      flush()
      await Promise.all(underWay)
    }
  })
}
