// Telling other processes that a job changed. Always after commit and outside any transaction (a NOTIFY inside one
// serialises all commits), ids coalesced. A notice may be lost: whoever waits reads again now and then.
import postgres from 'postgres'
import { survivingConnectionLoss } from '../connection-loss.js'

const CHANNEL = 'job_changes'
const COALESCE_MS = 5
/** Of tasks, of which a graph may end fifty a second: whoever watches it sees them move ten times a second. */
const TASKS_COALESCE_MS = 100
// A notice carries at most 8000 bytes; an id and its comma are 37.
const IDS_PER_NOTICE = 200

export type AnnounceJob = (jobId: string) => void

/** Gathers ids for a few milliseconds and sends them in one notice. A failure is dropped: a notice is only a hint. */
export const createJobAnnouncer = (sql: postgres.Sql): AnnounceJob => announcer(sql, COALESCE_MS)

/** The same for what tasks of a job's graphs do. */
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
  /** Calls `changed` at each notice about the job, until the returned function is called. */
  on(jobId: string, changed: () => void): () => void
  close(): Promise<void>
}

/**
 * One listening connection for a process. `any` hears every id. After a reconnect all waiters are told once, since
 * notices were missed meanwhile.
 */
export function listenToJobs(databaseUrl: string, any: (jobId: string) => void = () => {}): JobListener {
  const sql = postgres(databaseUrl, {
    max: 1,
    onnotice: () => {},
    connect_timeout: 5,
    ...survivingConnectionLoss().options
  })
  const waiters = new Map<string, Set<() => void>>()
  const tell = (jobId: string) => {
    for (const changed of waiters.get(jobId) ?? []) changed()
    any(jobId)
  }
  const listening = listenUntilClosed()
  let closed = false

  async function listenUntilClosed(): Promise<void> {
    while (true) {
      try {
        await sql.listen(
          CHANNEL,
          (payload) => {
            for (const jobId of payload.split(',')) tell(jobId)
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
