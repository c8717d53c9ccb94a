// The API process dies during a submission, or between its commit and its response: a client that repeats the request
// gets one job.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import postgres from 'postgres'
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

/** Sends a submission, and kills the API while its transaction waits for `table`. */
async function killedAtSubmission(key: string): Promise<void> {
  const { sql } = platform.connection
  const other = postgres(platform.settings.DATABASE_URL!, { max: 1, onnotice: () => {} })
  await other.begin(async (tx) => {
    await tx`lock table outbox in share mode`
    const torn = submit(key).then(
      () => 'answered',
      () => 'torn'
    )
    await eventually(async () => {
      const [row] = await sql`select count(*)::int as count from pg_locks where not granted and locktype = 'relation'
        and relation = 'outbox'::regclass and database = (select oid from pg_database where datname = current_database())`
      return row!.count > 0
    })
    await platform.kill('api')
    expect(await torn).toBe('torn')
  })
  await other.end()
  await platform.start.api()
}

test('a request repeated after the API was killed during its transaction creates the one job', async () => {
  await killedAtSubmission('in the middle')
  const again = await submit('in the middle')
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, null])
  const { job_id: id } = (await again.json()) as { job_id: string }
  expect(await jobs()).toBe(1)
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1 })
}, 180_000)

test('a request repeated until it succeeds, while the API is killed again and again, creates one job', async () => {
  const before = await jobs()
  for (let death = 0; death < 3; death++) await killedAtSubmission('again and again')
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
  await sql`create constraint trigger wait_at_commit after update on idempotency_keys
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
