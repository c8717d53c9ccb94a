// The lock that lets one process at a time migrate, restore or back up a database. It belongs to the session that took it.
import { setTimeout as delay } from 'node:timers/promises'
import type postgres from 'postgres'
import { ServiceError } from '../../domain/errors.js'

// Any number that no other advisory lock of this product uses.
export const MIGRATION_LOCK = 7_261_001

const LOOK_MS = 250
const TELL_MS = 15_000

export async function tryMigrationLock(sql: postgres.Sql): Promise<boolean> {
  const [lock] = await sql<{ taken: boolean }[]>`select pg_try_advisory_lock(${MIGRATION_LOCK}) as taken`
  return lock!.taken
}

/**
 * Waits for the lock by looking again and again. A statement that waited for it would have a snapshot all the time, for
 * whose end an index that the holder builds concurrently would wait in turn.
 * @throws ServiceError `conflict` that names the holder if the lock is not free in time.
 */
export async function takeMigrationLock(
  sql: postgres.Sql,
  { waitMs, log }: { waitMs: number; log: (message: string) => void }
): Promise<void> {
  const start = performance.now()
  for (let toldAt = Number.NEGATIVE_INFINITY; !(await tryMigrationLock(sql)); await delay(LOOK_MS)) {
    const now = performance.now()
    if (now - start >= waitMs)
      throw new ServiceError(
        'conflict',
        `the database is still locked for a migration, restore or backup after ${Math.round(waitMs / 1_000)} s, by ${await lockHolder(sql)}. Wait until it has finished; if it hangs, end it with pg_terminate_backend`
      )
    if (now - toldAt < TELL_MS) continue
    toldAt = now
    log(`waiting for the lock of migrations, restores and backups, held by ${await lockHolder(sql)}`)
  }
}

interface Session {
  pid: number
  name: string | null
  address: string | null
  since: string | null
}

/** Without the rights to see another role's sessions, Postgres shows only the process id. */
async function lockHolder(sql: postgres.Sql): Promise<string> {
  const holders = await sql<Session[]>`
    select a.pid, a.application_name as name, host(a.client_addr) as address,
      to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as since
    from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where l.locktype = 'advisory' and l.granted and l.classid = 0 and l.objid = ${MIGRATION_LOCK} and l.objsubid = 1
      and l.database = (select oid from pg_database where datname = current_database())
    order by a.backend_start`
  return holders.map(described).join(' and ') || 'a session that has just ended'
}

/** The transaction that has been open longest, besides that of `sql`; `null` if there is none. */
export async function oldestTransaction(sql: postgres.Sql): Promise<string | null> {
  const [session] = await sql<Session[]>`
    select pid, application_name as name, host(client_addr) as address,
      to_char(xact_start at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS') as since
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
    order by xact_start limit 1`
  return session ? described(session) : null
}

const described = ({ pid, name, address, since }: Session): string =>
  [`database process ${pid}`, name && `(${name})`, address && `from ${address}`, since && `since ${since} UTC`]
    .filter(Boolean)
    .join(' ')
