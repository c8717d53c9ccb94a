// The database through PgBouncer, in both of its modes: transactions, limits of the operator, time limits, lost connections,
// and the settings that cannot work, refused by name at the start.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { type Connection, connect } from '../../db/client.js'
import type { DatabaseSettings } from '../../db/connection/database-settings.js'
import { checkDatabase } from '../../db/database-check.js'
import { beginJob, completeJob } from '../../db/job-steps/job-steps.js'
import { createRunAnnouncer, listenToJobs } from '../../db/jobs/job-changes.js'
import { jobStatus } from '../../db/jobs/jobs.js'
import { ledgerMismatches } from '../../db/proofs/money-proof.js'
import { storageOf } from '../../db/teams/team-storage.js'
import { eventually } from '../support/eventually.js'
import { addJob, addPerson, addTeam, newLease } from '../support/jobs/rows.js'
import { hasPgbouncer, poolerTest, startPgbouncer } from '../support/postgres/pgbouncer.js'
import { createPooledRole } from '../support/postgres/pooled-role.js'
import { createTestDatabase, type TestDatabase } from '../support/stack/database.js'

const LIMITS = { teamStorageMax: 7_000_000, retentionYearsMax: 9 }
/** For the checks at a start. */
const CHECK_MS = 30_000
const OTHER_LIMITS = { teamStorageMax: 5_000_000, retentionYearsMax: 3 }

describe.each([
  // Each client has a session of its own: those of the pools below, and one that listens.
  ['session', 30],
  // Fewer sessions than the pools have connections.
  ['transaction', 3]
] as const)('in %s mode', (mode, size) => {
  const isShared = mode === 'transaction'
  let database: TestDatabase
  let role: Awaited<ReturnType<typeof createPooledRole>>
  let pooler: Awaited<ReturnType<typeof startPgbouncer>>
  let settings: DatabaseSettings
  const pools: Connection[] = []
  const open = (limits = LIMITS, max = 8): Connection => {
    const pool = connect(settings.url, { ...settings, max, settings: limits })
    pools.push(pool)
    return pool
  }

  beforeAll(async () => {
    if (!hasPgbouncer) return
    database = await createTestDatabase(`pooler_${mode}`)
    role = await createPooledRole({ withTimeouts: true })
    pooler = await startPgbouncer({ mode, size, server: role.server })
    const url = pooler.through(database.url)
    settings = {
      url,
      directUrl: isShared ? database.url : url,
      poolMax: 8,
      prepares: !isShared,
      startupParameters: false
    }
  })
  // In session mode, a connection holds a session for as long as it is open.
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.close()))
  })
  afterAll(async () => {
    await pooler?.stop()
    await database?.drop()
    await role?.drop()
  })

  poolerTest('the settings of this mode pass the check at the start', async () => {
    await checkDatabase(settings, CHECK_MS)
  })

  poolerTest('jobs are recorded, leased, completed and paid, by more clients than there are sessions', async () => {
    const { db } = open()
    const person = await addPerson(db)
    const ids = await Promise.all(
      Array.from({ length: 24 }, async () => {
        const id = await addJob(db, person, { cost: 3n, submission: { mode: 'direct' } })
        const fence = { generation: 1, lease: newLease() }
        await beginJob(db, id, fence)
        await completeJob(db, id, fence, 'a'.repeat(64))
        return id
      })
    )
    for (const id of ids) expect(await jobStatus(db, id)).toBe('completed')
    expect([...(await ledgerMismatches(db))]).toEqual([])
  })

  poolerTest('a transaction that fails stores nothing, next to others that commit', async () => {
    const { db } = open()
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        db
          .transaction(async (tx) => {
            await tx.execute(sql`insert into access_codes (code, remaining_uses) values (${`torn-${n}`}, 1)`)
            await tx.execute(sql`select 1 / ${n % 2}::int`)
          })
          .then(
            () => 'committed',
            () => 'failed'
          )
      )
    )
    expect(outcomes).toEqual(outcomes.map((_, n) => (n % 2 ? 'committed' : 'failed')))
    const [row] = await db.execute(sql`select count(*)::int as n from access_codes where code like 'torn-%'`)
    expect(row!.n).toBe(15)
  })

  poolerTest("two processes with limits of their own never see each other's", async () => {
    const [one, other] = [open(LIMITS), open(OTHER_LIMITS)]
    const teamId = await addTeam(one.db, await addPerson(one.db))
    const seen = await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const { db } = n % 2 ? one : other
        const inside = n % 4 < 2
        const { limit } = await (inside ? db.transaction((tx) => storageOf(tx, teamId)) : storageOf(db, teamId))
        return limit
      })
    )
    expect(seen).toEqual(seen.map((_, n) => (n % 2 ? LIMITS : OTHER_LIMITS).teamStorageMax))
  })

  poolerTest(
    'what was sent to a frozen pooler is answered when it goes on, and no connection waits for ever',
    async () => {
      const { db } = open()
      const asked = (n: number) =>
        db.execute<{ n: number }>(sql`select ${n}::int as n`).then(
          ([row]) => row!.n,
          () => 'failed'
        )
      for (let round = 0; round < 5; round++) {
        await Promise.all(Array.from({ length: 8 }, (_, n) => asked(n)))
        pooler.signal('SIGSTOP')
        const waiting = Array.from({ length: 40 }, (_, n) => asked(n))
        await delay(200)
        pooler.signal('SIGCONT')
        const answers = await Promise.all(waiting)
        expect(answers).toEqual(answers.map((answer, n) => (answer === 'failed' ? answer : n)))
      }
    }
  )

  poolerTest('every session has the time limits', async () => {
    const { db } = open()
    const read = () =>
      db.execute<{ statement: string; idle: string }>(sql`select pg_sleep(0.05),
      current_setting('statement_timeout') as statement, current_setting('idle_in_transaction_session_timeout') as idle`)
    for (const [row] of await Promise.all(Array.from({ length: 8 }, read)))
      expect(row).toMatchObject({ statement: '10s', idle: '90s' })
  })

  poolerTest('no prepared statement of a client stays in a session that others get', async () => {
    const { db } = open()
    const left = () =>
      db.execute<{ left: number }>(sql`select pg_sleep(0.05), (select count(*)::int from pg_prepared_statements
        where statement not like '%pg_prepared_statements%') as left`)
    for (let n = 0; n < 20; n++) await db.execute(sql`select ${n}::int as n`)
    const counts = (await Promise.all(Array.from({ length: 8 }, left))).map(([row]) => row!.left)
    if (isShared) expect(counts).toEqual(counts.map(() => 0))
    // A session of its own keeps what this client has prepared, and nothing of the clients before.
    else expect(Math.max(...counts)).toBeLessThanOrEqual(1)
  })

  poolerTest('a notification reaches the process that listens', async () => {
    const { db } = open()
    const listener = listenToJobs(settings)
    const heard: string[] = []
    listener.onAny({ job: () => {}, capsuleRun: (id) => void heard.push(id), missed: () => {} })
    const announce = createRunAnnouncer(db)
    await eventually(() => {
      announce('a-run')
      return heard.includes('a-run')
    })
    await listener.close()
  })

  poolerTest('after every session at Postgres was terminated, everything continues', async () => {
    const { db } = open()
    const answers = () => Promise.all(Array.from({ length: 8 }, () => db.execute(sql`select pg_sleep(0.02)`)))
    await answers()
    await database.sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
    await eventually(() =>
      answers().then(
        () => true,
        () => false
      )
    )
    const person = await addPerson(db)
    await addJob(db, person, { cost: 1n })
    expect([...(await ledgerMismatches(db))]).toEqual([])
  })

  poolerTest(
    'what the pooler refuses, shares or leaves out is refused at the start, with the setting to change',
    async () => {
      const refusal = (changed: Partial<DatabaseSettings>) =>
        checkDatabase({ ...settings, ...changed }, CHECK_MS).then(
          () => null,
          (error: Error) => error.message
        )
      expect(await refusal({ startupParameters: true })).toMatch(/^DATABASE_STARTUP_PARAMETERS must be off: /)
      expect(await refusal({ prepares: true })).toEqual(
        isShared ? expect.stringMatching(/^DATABASE_PREPARED_STATEMENTS must be off: /) : null
      )
      expect(await refusal({ directUrl: settings.url })).toEqual(
        isShared ? expect.stringMatching(/^DATABASE_DIRECT_URL must lead to Postgres itself/) : null
      )
      const elsewhere = new URL(database.url)
      elsewhere.pathname = '/postgres'
      expect(await refusal({ directUrl: elsewhere.href })).toBe(
        'DATABASE_DIRECT_URL leads to another database than DATABASE_URL'
      )
      const careless = await createPooledRole({ withTimeouts: false })
      const other = await startPgbouncer({ mode, size, server: careless.server })
      try {
        const message = await refusal({ url: other.through(database.url), directUrl: database.url })
        expect(message).toContain("set statement_timeout = '10s';")
        expect(message).toContain("set idle_in_transaction_session_timeout = '90s';")
      } finally {
        await other.stop()
        await careless.drop()
      }
    }
  )
})
