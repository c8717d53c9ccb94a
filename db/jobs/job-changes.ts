// Notifies other processes that a job changed. Always after commit and outside any transaction (a NOTIFY inside one
// serialises all commits), with ids coalesced. A notification can be lost, so waiting requests also re-read every few
// seconds.
import postgres from 'postgres'
import { survivingConnectionLoss } from '../connection-loss.js'

const CHANNEL = 'job_changes'
const COALESCE_MS = 5
/** For tasks, of which a graph can finish fifty a second: watchers get an update ten times a second. */
const TASKS_COALESCE_MS = 100
// A notification carries at most 8000 bytes; an id and its comma take 37.
const IDS_PER_NOTICE = 200

export type AnnounceJob = (jobId: string) => void

/**
 * Collects ids for a few milliseconds and sends them in one notification. A failure is ignored, since a notification is
 * only a hint.
 */
export const createJobAnnouncer = (sql: postgres.Sql): AnnounceJob => announcer(sql, COALESCE_MS)

/** The same for changes of a job's tasks. */
export const createTaskAnnouncer = (sql: postgres.Sql): AnnounceJob => announcer(sql, TASKS_COALESCE_MS)

function announcer(sql: postgres.Sql, coalesceMs: number): AnnounceJob {
  const waiting = new Set<string>()
  let scheduled = false
  const send = async () => {
    scheduled = false
    const ids = [...waiting]
    waiting.clear()
    for (let at = 0; at < ids.length; at += IDS_PER_NOTICE)
      await sql`select pg_notify(${CHANNEL}, ${ids.slice(at, at + IDS_PER_NOTICE).join(',')})`.catch(() => {})
  }
  return (jobId) => {
    waiting.add(jobId)
    if (scheduled) return
    scheduled = true
    setTimeout(send, coalesceMs)
  }
}

export interface JobListener {
  /** Calls `changed` at each notification about the job, until the returned function is called. */
  on(jobId: string, changed: () => void): () => void
  close(): Promise<void>
}

/**
 * One listening connection per process. `any` gets every id. After a reconnect every waiting request is woken once,
 * since notifications may have been missed.
 */
export function listenToJobs(databaseUrl: string, onAnyJob: (jobId: string) => void = () => {}): JobListener {
  const sql = postgres(databaseUrl, {
    max: 1,
    onnotice: () => {},
    connect_timeout: 5,
    ...survivingConnectionLoss().options
  })
  const waiters = new Map<string, Set<() => void>>()
  const notify = (jobId: string) => {
    for (const changed of waiters.get(jobId) ?? []) changed()
    onAnyJob(jobId)
  }
  const listening = listenUntilClosed()
  let closed = false

  async function listenUntilClosed(): Promise<void> {
    while (true) {
      try {
        await sql.listen(
          CHANNEL,
          (payload) => {
            for (const jobId of payload.split(',')) notify(jobId)
          },
          () => {
            for (const set of waiters.values()) for (const changed of set) changed()
          }
        )
        return
      } catch {
        if (closed) return
        await new Promise((resolve) => setTimeout(resolve, 1000))
      }
    }
  }

  return {
    on(jobId, changed) {
      const set = waiters.get(jobId) ?? new Set()
      waiters.set(jobId, set.add(changed))
      return () => {
        set.delete(changed)
        if (set.size === 0 && waiters.get(jobId) === set) waiters.delete(jobId)
      }
    },
    async close() {
      closed = true
      await sql.end({ timeout: 1 })
      await listening
    }
  }
}
