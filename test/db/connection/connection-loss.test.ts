// Postgres restarts, an operator terminates a session, a proxy disconnects: work in progress fails with an error that
// its caller sees, and everything continues afterwards. An exception that cannot be caught would stop this test's own
// process. Every promise holds over plain TCP and over TLS.

import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, describe, expect, test } from '@jest/globals'
import { type SQL, sql } from 'drizzle-orm'
import postgres from 'postgres'
import { executeJob } from '../../../activities/job/execute-job.js'
import { connect } from '../../../db/client.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { eventually } from '../../support/eventually.js'
import { gateTo } from '../../support/jobs/gate-to.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { longTest } from '../../support/lane.js'
import { createTestDatabase } from '../../support/stack/database.js'
import { createAuthority } from '../../support/tls/certificates.js'
import { postgresOverTls } from '../../support/tls/postgres-over-tls.js'

const CONNECTIONS = 8
const CUTS = 8
const database = await createTestDatabase('connection_loss', { max: 2 })
const { hostname, port } = new URL(database.url)
const authority = createAuthority('connection loss')
const folder = mkdtempSync(join(tmpdir(), 'connection-loss-'))
const ca = join(folder, 'ca.pem')
writeFileSync(ca, authority.ca)
const overTls = await postgresOverTls({ host: hostname, port: Number(port) }, authority.sign(['127.0.0.1']))
const knife = postgres(database.url, { max: 1, connection: { application_name: 'knife' } })
afterAll(async () => {
  await knife.end()
  await overTls.close()
  await database.drop()
  rmSync(folder, { recursive: true })
})

/** @param at the port that leads to the database, or to the server with TLS before it. */
function address(tls: string, at: string | number): string {
  const url = new URL(database.url)
  url.host = `127.0.0.1:${at}`
  return `${url.href}${tls}`
}

const person = await addPerson(database.db)
/** Terminates every session of the pool, from outside. */
const cutAll = () => knife`select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and application_name = 'quantum-job-service'`

describe.each([
  ['plain TCP', '', port],
  ['TLS', `?sslmode=verify-full&sslrootcert=${ca}`, overTls.port]
] as const)('over %s', (_transport, tls, at) => {
  const url = address(tls, at)
  const pool = connect(url, { max: CONNECTIONS })
  const { db } = pool
  afterAll(() => pool.close())

  /**
   * As many concurrent queries as the pool has connections, each long enough to need its own. A connection that was cut
   * in the middle of a statement fails its next one too, before it is sent; after that all is well.
   */
  const everyConnectionAnswers = () =>
    eventually(async () => {
      const queries = Array.from({ length: CONNECTIONS }, () => db.execute(sql`select pg_sleep(0.02), 1 as one`))
      const answers = await Promise.allSettled(queries)
      return answers.every((answer) => answer.status === 'fulfilled' && answer.value[0]!.one === 1)
    })

  test.each([
    [
      'while a statement runs',
      async () =>
        db.transaction(async (tx) => {
          await tx.execute(sql`insert into access_codes (code, remaining_uses) values ('torn', 1)`)
          await Promise.all([tx.execute(sql`select pg_sleep(5)`), cutAll()])
        })
    ],
    [
      'between two statements',
      async () =>
        db.transaction(async (tx) => {
          await tx.execute(sql`insert into access_codes (code, remaining_uses) values ('torn', 1)`)
          await cutAll()
          await tx.execute(sql`select 1`)
        })
    ],
    [
      'and learns of it late',
      async () =>
        db.transaction(async (tx) => {
          await tx.execute(sql`insert into access_codes (code, remaining_uses) values ('torn', 1)`)
          await cutAll()
          await delay(700)
          await tx.execute(sql`insert into access_codes (code, remaining_uses) values ('torn', 1)`)
        })
    ],
    [
      'before its commit',
      async () =>
        db.transaction(async (tx) => {
          await tx.execute(sql`insert into access_codes (code, remaining_uses) values ('torn', 1)`)
          await cutAll()
        })
    ]
  ])(
    'a transaction that loses its connection %s is rejected, and nothing of it is stored',
    async (_when, transaction) => {
      for (let times = 0; times < 5; times++) {
        await expect(transaction()).rejects.toThrow()
        await everyConnectionAnswers()
      }
      expect([...(await db.execute(sql`select code from access_codes where code = 'torn'`))]).toEqual([])
    }
  )

  test('every statement sent while a reset connection is being replaced is answered or rejected', async () => {
    const clients = new Set<Socket>()
    const proxy = createServer((client) => {
      const server = createConnection(Number(at), hostname)
      clients.add(client)
      for (const [from, to] of [
        [client, server],
        [server, client]
      ] as const)
        from
          .on('data', (bytes) => to.write(bytes))
          .on('error', () => {})
          .on('close', () => to.destroy())
    }).listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const reset = connect(address(tls, (proxy.address() as AddressInfo).port), {
      max: 1,
      statementTimeoutMs: 120_000
    })
    try {
      await reset.db.execute(sql`select 1`)
      const given: number[] = []
      const answers: unknown[] = []
      const send = (statement: SQL) => {
        const place = given.push(given.length) - 1
        reset.db.execute(statement).then(
          ([row]) => {
            answers[place] = row!.n
          },
          () => {
            answers[place] = 'rejected'
          }
        )
      }
      send(sql`select pg_sleep(60)`)
      await eventually(async () => {
        const running = await knife`select from pg_stat_activity
        where datname = current_database() and state = 'active' and query = 'select pg_sleep(60)'`
        return running.length > 0
      })
      for (const client of clients) client.resetAndDestroy()
      const sendNext = () => send(sql`select ${sql.raw(String(given.length))} as n`)
      // A process that is slow: what happens to the connection and the next statement fall into the same turn.
      for (let turns = 0; turns < 120; turns++, await delay(1)) {
        sendNext()
        for (const busyUntil = performance.now() + 4; performance.now() < busyUntil; );
      }
      // The replacement takes its time: from some statement on, all are answered.
      await eventually(async () => {
        sendNext()
        await eventually(() => Object.keys(answers).length === given.length)
        return answers.at(-1) !== 'rejected'
      })
      expect(answers).toEqual(given.map((n) => (answers[n] === 'rejected' ? 'rejected' : n)))
      expect(clients.size).toBe(2)
    } finally {
      for (const client of clients) client.destroy()
      proxy.close()
      await reset.close()
    }
  })

  longTest(
    'submissions are recorded completely or not at all while database sessions keep being terminated',
    async () => {
      const recorded: string[] = []
      let failed = 0
      let over = false
      const cutting = async () => {
        for (let cuts = 0; cuts < CUTS; cuts++) {
          const before = recorded.length
          await eventually(() => recorded.length > before)
          await cutAll()
        }
      }
      await Promise.all([
        cutting().finally(() => {
          over = true
        }),
        ...Array.from({ length: 12 }, async () => {
          while (!over)
            await addJob(db, person, { cost: 1n }).then(
              (id) => recorded.push(id),
              () => failed++
            )
        })
      ])
      expect(failed).toBeGreaterThan(0)
      await everyConnectionAnswers()
      const [counts] =
        await db.execute(sql`select (select count(*)::int from jobs) as jobs, (select count(*)::int from job_events) as events,
    (select count(*)::int from outbox) as outbox, (select count(*)::int from ledger) as ledger`)
      expect(counts).toEqual({ jobs: counts!.jobs, events: counts!.jobs, outbox: counts!.jobs, ledger: counts!.jobs })
      // Every acknowledged submission is there. One whose commit got no response may be there as well.
      expect(counts!.jobs as number).toBeGreaterThanOrEqual(recorded.length)
      for (const id of recorded)
        expect([...(await db.execute(sql`select status from jobs where id = ${id}`))]).toEqual([{ status: 'pending' }])
      expect([...(await ledgerMismatches(db))]).toEqual([])
    }
  )

  test('writes reach the primary again when the server of the open connections has become read-only', async () => {
    const former = connect(url, { max: 2 })
    const both = (work: () => Promise<unknown>) => Promise.all([work(), work()])
    const write = () => former.db.execute(sql`update teams set name = name`)
    await both(() =>
      former.db.transaction(async (tx) => {
        await tx.execute(sql`select pg_sleep(0.05)`)
        await tx.execute(sql`set session characteristics as transaction read only`)
      })
    )
    await expect(write()).rejects.toMatchObject({ cause: { code: '25006' } })
    await eventually(() => both(write).then(() => true))
    await former.close()
  })
})

test('an outage right after a job was claimed ends no job: the step continues when the database is back', async () => {
  const jobId = await addJob(database.db, person)
  const impatient = connect(database.url, { max: 1, statementTimeoutMs: 100 })
  const executor = createExecutorClient('http://127.0.0.1:1', 'nobody is asked')
  let warned = 0
  const deps = {
    db: impatient.db,
    gate: gateTo(executor),
    announce: () => {},
    log: { info: () => {}, warn: () => void warned++, error: () => {} },
    countFault: () => {},
    countRepeatedStep: () => {}
  }
  let end: ReturnType<typeof executeJob> | null = null
  await knife.begin(async (held) => {
    await held`lock table jobs in access exclusive mode`
    end = executeJob(deps, jobId, { generation: 1 }, new AbortController().signal, { isFirst: true })
    await Promise.race([end, eventually(async () => warned > 0)])
  })
  // It has not begun, so nothing runs.
  expect(await end).toEqual({ outcome: 'stopped' })
  expect(warned).toBeGreaterThan(0)
  await executor.close()
  await impatient.close()
})
