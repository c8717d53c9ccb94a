// A primary dies and its standby is promoted: the processes go on at the new primary, with everything that was acknowledged.
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { ensureDatabase } from '../../../apps/cli/stack/parts/postgres.js'
import { connect } from '../../../db/client.js'
import { listenToJobs } from '../../../db/jobs/job-changes.js'
import { eventually } from '../../support/eventually.js'
import { startOwnPostgres, startStandby } from '../../support/postgres/own-postgres.js'

const WRITERS = 4

const primary = await startOwnPostgres('primary', { durable: true })
const name = 'promotion'
const address = new URL(await ensureDatabase(primary.url, name, randomBytes(16).toString('hex')))
const standby = await startStandby(primary, 'standby')
afterAll(async () => {
  await primary.remove()
  await standby.remove()
})

test('no acknowledged write is lost when the primary dies and its standby is promoted, and writes go on there', async () => {
  const { username, password } = address
  const url = `postgres://${username}:${password}@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/${name}?target_session_attrs=read-write`
  const pool = connect(url, { max: WRITERS })
  const listener = listenToJobs({ directUrl: url })
  let missed = 0
  listener.onAny({ job: () => {}, capsuleRun: () => {}, missed: () => missed++ })
  await pool.db.execute(sql`create table writes (number int primary key, port int default inet_server_port())`)

  const acknowledged: number[] = []
  const stopped = new AbortController()
  let next = 0
  const writers = Array.from({ length: WRITERS }, async () => {
    while (!stopped.signal.aborted) {
      const number = next++
      await pool.db
        .transaction(async (tx) => {
          await tx.execute(sql`insert into writes (number) values (${number}::int)`)
        })
        .then(
          () => acknowledged.push(number),
          () => delay(20)
        )
    }
  })
  await eventually(() => acknowledged.length > 100)
  await primary.kill()
  const before = acknowledged.length
  await standby.run('select pg_promote()', "alter system set synchronous_standby_names = ''", 'select pg_reload_conf()')
  await eventually(() => acknowledged.length > before + 100, { timeoutMs: 100_000 })
  stopped.abort()
  await Promise.all(writers)

  const rows = await pool.db.execute<{ number: number; port: number }>(sql`select number, port from writes`)
  const stored = new Set(rows.map(({ number }) => number))
  expect(acknowledged.filter((number) => !stored.has(number))).toEqual([])
  expect(new Set(rows.map(({ port }) => port))).toEqual(new Set([primary.port, standby.port]))
  await eventually(() => missed > 0)
  await listener.close()
  await pool.close()
}, 240_000)
