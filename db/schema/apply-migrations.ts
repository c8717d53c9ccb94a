// Applies migrations, each in a transaction of its own, so that a migrator that is killed leaves whole migrations. drizzle's
// own migrator applies all in one, keeps their locks until the last is done, and cannot build an index concurrently. The
// record of what was applied is drizzle's.
import { setTimeout as delay } from 'node:timers/promises'
import type postgres from 'postgres'
import { ServiceError } from '../../domain/errors.js'
import { reasonOf } from '../../domain/operations/reason.js'
import { postgresCode } from '../client.js'
import type { Migration } from './migration-files.js'
import { MIGRATION_LOCK, oldestTransaction } from './migration-lock.js'

export interface ApplyTimes {
  /**
   * How long a statement can wait for a lock. A statement that waits for a reader blocks everything that comes to the table
   * after it.
   */
  lockTimeoutMs: number
  /** How long one migration is tried again. */
  retryMs: number
  /** The pause before the second try; it doubles up to `PAUSE_MAX_MS`. */
  pauseMs: number
}

const PAUSE_MAX_MS = 8_000
/** Locks of a migrator that was frozen end with its session. */
const IDLE_MS = 60_000

/** Makes the table in which applied migrations are recorded. */
export const createJournal = async (tx: postgres.TransactionSql): Promise<void> =>
  void (await tx.unsafe(`create schema if not exists drizzle;
    create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`))

/** Applies a migration within a transaction, also one that should run outside of one: a restore writes to nothing else. */
export async function applyInside(tx: postgres.TransactionSql, migration: Migration): Promise<void> {
  for (const statement of migration.statements)
    await tx.unsafe(migration.concurrently ? statement.replace(/\bindex\s+concurrently\b/gi, 'index') : statement)
  await record(tx, migration)
}

async function record(tx: postgres.TransactionSql, { hash, when, minimum }: Migration): Promise<void> {
  await tx`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${when})`
  if (minimum !== null)
    await tx`update schema_compatibility set minimum_migrations = greatest(minimum_migrations, ${minimum})`
}

/**
 * Applies the migrations that the database lacks. The session has the migration lock.
 * @param applied how many the database has.
 */
export async function applyMigrations(
  sql: postgres.Sql,
  {
    migrations,
    applied,
    times,
    log
  }: {
    migrations: readonly Migration[]
    applied: number
    times: ApplyTimes
    log: (message: string) => void
  }
): Promise<void> {
  if (applied === 0) await sql.begin(createJournal)
  for (const [at, migration] of migrations.entries()) {
    if (at < applied) continue
    await retryingLocks(sql, migration.tag, { times, log }, async () => {
      if (migration.concurrently) await applyOutside(sql, migration, at)
      else
        await inMigration(sql, times, async (tx) => {
          await assertNext(tx, at)
          await applyInside(tx, migration)
        })
    }).catch((error: unknown) => {
      throw failureOf(migration, error)
    })
    log(`applied migration ${migration.tag}`)
  }
}

/** Names the migration that Postgres has refused; another error stays as it is. */
function failureOf({ tag }: Migration, error: unknown): unknown {
  const code = postgresCode(error)
  // Of the five characters of Postgres, some are digits. Classes 08 and 57 are lost connections.
  if (!code || !/^(?!08|57)(?=.*\d)[0-9A-Z]{5}$/.test(code)) return error
  const message = `migration ${tag} failed, and is not applied: ${reasonOf(error)} (${code})`
  return new ServiceError('conflict', message, {}, { cause: error })
}

/** Each statement is repeatable, since what a killed migrator has built stays. */
async function applyOutside(sql: postgres.Sql, migration: Migration, at: number): Promise<void> {
  await sql.begin((tx) => assertNext(tx, at))
  // An index that is built concurrently waits for old transactions, and blocks neither readers nor writers while it waits.
  await sql`set lock_timeout = 0`
  await sql`set statement_timeout = 0`
  for (const statement of migration.statements) await sql.unsafe(statement)
  await sql.begin(async (tx) => {
    await assertNext(tx, at)
    await record(tx, migration)
  })
}

/** A transaction with the settings of a migration, whatever those of the role are. */
export const inMigration = <T>(
  sql: postgres.Sql,
  { lockTimeoutMs }: ApplyTimes,
  work: (tx: postgres.TransactionSql) => Promise<T>
): Promise<T> =>
  sql.begin(async (tx) => {
    await tx.unsafe(`set local lock_timeout = ${lockTimeoutMs}; set local statement_timeout = 0;
      set local idle_in_transaction_session_timeout = ${IDLE_MS}`)
    return work(tx)
  }) as Promise<T>

/**
 * The lock belongs to a session, and the driver opens another session by itself when one is lost.
 * @throws ServiceError `conflict` if another process has migrated, or migrates.
 */
async function assertNext(tx: postgres.TransactionSql, at: number): Promise<void> {
  const [row] = await tx<{ mine: boolean; applied: number }[]>`
    select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as mine,
      (select count(*) from drizzle.__drizzle_migrations)::int as applied`
  if (!row!.mine || row!.applied !== at)
    throw new ServiceError('conflict', 'another process has migrated the database in the meantime: start again')
}

const LOCK_NOT_AVAILABLE = '55P03'
const DEADLOCK = '40P01'

/** Tries the work again while the service or a reader has locks that it needs. */
export async function retryingLocks(
  sql: postgres.Sql,
  what: string,
  { times, log }: { times: ApplyTimes; log: (message: string) => void },
  work: () => Promise<void>
): Promise<void> {
  const start = performance.now()
  for (let pause = times.pauseMs; ; pause = Math.min(2 * pause, PAUSE_MAX_MS)) {
    try {
      return await work()
    } catch (error) {
      const code = postgresCode(error)
      if (code !== LOCK_NOT_AVAILABLE && code !== DEADLOCK) throw error
      const oldest = await oldestTransaction(sql)
      const reader = oldest ? `; the oldest open transaction is of ${oldest}` : ''
      if (performance.now() - start + pause > times.retryMs)
        throw new ServiceError(
          'conflict',
          `${what} did not get its locks within ${Math.round(times.retryMs / 1_000)} s${reader}. Nothing of it was applied: end that transaction, or migrate when there is less to do`,
          {},
          { cause: error }
        )
      log(`${what} waits for locks that others have, and is tried again in ${pause / 1_000} s${reader}`)
      await delay(pause)
    }
  }
}
