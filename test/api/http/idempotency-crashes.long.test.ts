// The API process dies during a submission, or between its commit and its response: a client that repeats the request
// gets one job.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import postgres from 'postgres'
import { holdSubmissions } from '../../support/api/held-submissions.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { type Platform, startPlatform } from '../../support/stack/platform.js'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform('idempotency-crashes')
}, 180_000)
afterAll(() => platform.close())

const jobs = async (): Promise<number> =>
  ((await (await platform.call('GET', '/api/jobs')).json()) as { total: number }).total
const submit = (key: string) =>
  platform.call('POST', '/api/jobs/submit', submission({ execution_mode: 'direct' }), { 'idempotency-key': key })

/**
 * Sends a submission, and kills the API while it waits for its last row.
 * @param server what Postgres does with it then: it notices the lost connection, or continues the statement.
 */
async function killedAtSubmission(key: string, server: 'notices' | 'continues'): Promise<void> {
  await holdSubmissions(platform.settings.DATABASE_URL!, async ({ held, end }) => {
    const torn = submit(key).then(
      () => 'answered',
      () => 'torn'
    )
    await held(1)
    await platform.kill('api')
    expect(await torn).toBe('torn')
    if (server === 'notices') await end()
  })
  await platform.start.api()
}

test.each([
  ['and its submission ended with it, creates the job', 'notices', null],
  ['and Postgres continued its submission, gets the response of the first', 'continues', 'true']
] as const)(
  'a request repeated after the API was killed, %s',
  async (_how, server, replayed) => {
    const before = await jobs()
    await killedAtSubmission(server, server)
    const again = await eventually(async () => {
      const answer = await submit(server)
      return answer.headers.get('idempotency-replayed') === replayed ? answer : null
    })
    expect(again.status).toBe(201)
    const { job_id: id } = (await again.json()) as { job_id: string }
    expect(await jobs()).toBe(before + 1)
    expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1 })
  },
  180_000
)

test('a request repeated until it succeeds, while the API is killed again and again, creates one job', async () => {
  const before = await jobs()
  for (let death = 0; death < 3; death++) await killedAtSubmission('again and again', 'notices')
  const answers = await Promise.all(Array.from({ length: 5 }, () => submit('again and again')))
  const bodies = await Promise.all(answers.map((answer) => answer.text()))
  expect([new Set(bodies).size, ...answers.map(({ status }) => status)]).toEqual([1, 201, 201, 201, 201, 201])
  expect(await jobs()).toBe(before + 1)
}, 180_000)

test('a request repeated after the API was killed between commit and response gets the response of the first', async () => {
  const before = await jobs()
  const { sql } = platform.connection
  // The wait is the last step of the commit.
  await sql`create or replace function wait_at_commit() returns trigger language plpgsql
    as $$ begin perform pg_advisory_xact_lock(4711); return null; end $$`
  await sql`create constraint trigger wait_at_commit after insert or update on idempotency_keys
    deferrable initially deferred for each row execute function wait_at_commit()`
  const other = postgres(platform.settings.DATABASE_URL!, { max: 1, onnotice: () => {} })
  await other`select pg_advisory_lock(4711)`
  const torn = submit('at the end').catch(() => 'torn')
  await eventually(
    // Only this database and this lock: other files wait for locks of their own on the same server.
    async () =>
      (
        await sql`select 1 from pg_locks join pg_database on pg_database.oid = pg_locks.database
          where locktype = 'advisory' and objid = 4711 and not granted and datname = current_database()`
      ).length > 0
  )
  await platform.kill('api')
  expect(await torn).toBe('torn')
  // The server side of the connection stays open: it has received the commit, and will execute it.
  await other.end()
  await eventually(async () => (await sql`select 1 from idempotency_keys where key = 'at the end'`).length > 0)
  await sql`drop trigger wait_at_commit on idempotency_keys`
  await platform.start.api()
  const again = await submit('at the end')
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
  expect(await jobs()).toBe(before + 1)
  // The nudge was lost with the process, so the relay delivered the job.
  const { job_id: id } = (await again.json()) as { job_id: string }
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1 })
}, 180_000)
