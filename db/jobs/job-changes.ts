// Notifies other processes that a job changed. Always after commit and outside any transaction (a NOTIFY inside one
// serialises all commits), with ids coalesced. A notification can be lost, so waiting requests also re-read every few
// seconds.
import { sql } from 'drizzle-orm'
import { type Db, postgresCode } from '../client.js'
import type { DatabaseSettings } from '../connection/database-settings.js'
import { openDriver } from '../connection/driver.js'

const CHANNEL = 'job_changes'
const RUN_CHANNEL = 'capsule_run_changes'
const COALESCE_MS = 5
/** For tasks, of which a graph can finish fifty a second: watchers get an update ten times a second. */
const TASKS_COALESCE_MS = 100
// A notification carries at most 8000 bytes; an id and its comma take 37.
const IDS_PER_NOTICE = 200
const READ_ONLY = '25006'

export type AnnounceJob = (jobId: string) => void
export type AnnounceRun = (runId: string) => void

/**
 * Collects ids for a few milliseconds and sends them in one notification. A failure is ignored, since a notification is
 * only a hint.
 * @param sending called with each id right before its notification is sent, which this process gets as well.
 */
export const createJobAnnouncer = (db: Db, sending?: (jobId: string) => void): AnnounceJob =>
  announcer(db, CHANNEL, COALESCE_MS, sending)

/** The same for changes of a job's tasks. */
export const createTaskAnnouncer = (db: Db): AnnounceJob => announcer(db, CHANNEL, TASKS_COALESCE_MS)

/** The same for the statuses of capsule runs. */
export const createRunAnnouncer = (db: Db): AnnounceRun => announcer(db, RUN_CHANNEL, COALESCE_MS)

function announcer(db: Db, channel: string, coalesceMs: number, sending = (_: string) => {}): (id: string) => void {
  const waiting = new Set<string>()
  let scheduled = false
  const send = async () => {
    scheduled = false
    const ids = [...waiting]
    waiting.clear()
    ids.forEach(sending)
    for (let at = 0; at < ids.length; at += IDS_PER_NOTICE)
      await db
        .execute(sql`select pg_notify(${channel}, ${ids.slice(at, at + IDS_PER_NOTICE).join(',')})`)
        .catch(() => {})
  }
  return (id) => {
    waiting.add(id)
    if (scheduled) return
    scheduled = true
    setTimeout(send, coalesceMs)
  }
}

/** Is told of every notification. */
export interface ChangeWatcher {
  job(jobId: string): void
  capsuleRun(runId: string): void
  /** The connection was made anew: notifications may have been missed. */
  missed(): void
}

export interface JobListener {
  /** Calls `changed` at each notification about the job, until the returned function is called. */
  on(jobId: string, changed: () => void): () => void
  /** The same for every job and every capsule run. */
  onAny(watcher: ChangeWatcher): () => void
  close(): Promise<void>
}

export interface ListeningConnection extends JobListener {
  /** The server may be a former primary: connects again, to the present one. */
  leaveServer(): void
}

/**
 * One listening connection per process. `any` gets every id. After a reconnect every waiting request is woken once,
 * since notifications may have been missed.
 */
export function listenToJobs(
  { directUrl, startupParameters }: Pick<DatabaseSettings, 'directUrl'> & Partial<DatabaseSettings>,
  onAnyJob: (jobId: string) => void = () => {}
): ListeningConnection {
  const { sql, leaveServer } = openDriver(directUrl, { max: 1, startupParameters })
  const waiters = new Map<string, Set<() => void>>()
  const watchers = new Set<ChangeWatcher>()
  const notify = (jobId: string) => {
    for (const changed of waiters.get(jobId) ?? []) changed()
    for (const watcher of watchers) watcher.job(jobId)
    onAnyJob(jobId)
  }
  let closed = false
  const listening = Promise.all([
    listenUntilClosed(CHANNEL, notify, () => {
      for (const set of waiters.values()) for (const changed of set) changed()
      for (const watcher of watchers) watcher.missed()
    }),
    listenUntilClosed(RUN_CHANNEL, (runId) => {
      for (const watcher of watchers) watcher.capsuleRun(runId)
    })
  ])

  async function listenUntilClosed(channel: string, notified: (id: string) => void, begun = () => {}): Promise<void> {
    while (true) {
      try {
        await sql.listen(
          channel,
          (payload) => {
            for (const id of payload.split(',')) notified(id)
          },
          begun
        )
        return
      } catch (error) {
        if (closed) return
        // A standby takes connections, and no LISTEN.
        if (postgresCode(error) === READ_ONLY) leaveServer()
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
    onAny(watcher) {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    leaveServer: () => void leaveServer(),
    async close() {
      closed = true
      await sql.end({ timeout: 1 })
      await listening
    }
  }
}
