// Deferred jobs with real workers, and the mail at the end.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { eventually } from '../support/eventually.js'
import { slowQiskit, submission } from '../support/jobs/builders.js'
import { longTest } from '../support/lane.js'
import { headerOf, readMail } from '../support/receivers/mail-server.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

const mails = mkdtempSync(join(tmpdir(), 'qjs-mails-'))
let platform: Platform
beforeAll(async () => {
  platform = await startPlatform('waiting_e2e', {}, { TEAM_RUNNING_JOBS_MAX: '1', MAIL_DIR: mails })
}, 180_000)
afterAll(async () => {
  await platform?.close()
  rmSync(mails, { recursive: true, force: true })
})

const idList = (ids: string[]) => sql`string_to_array(${ids.join(',')}, ',')::uuid[]`

test('a team with a limit of one completes its jobs one after the other, except for concurrent deliveries', async () => {
  const first = await platform.submit(submission({ inline_code: slowQiskit(120), framework: 'qiskit' }))
  await platform.accepted(first)
  const ids: string[] = []
  for (const mode of ['temporal', 'direct', 'temporal', 'direct'])
    ids.push(
      await platform.submit(
        submission({ inline_code: slowQiskit(0.5), framework: 'qiskit', execution_mode: mode, params: { shots: 1 } })
      )
    )
  await platform.until(ids[3]!, (job) => job.queue?.reason === 'concurrency_limit')
  await platform.call('POST', `/api/jobs/${first}/cancel`)
  for (const id of ids) expect((await platform.ended(id)).status).toBe('completed')
  const rows = await platform.connection.db.execute<{ id: string; beside: number }>(sql`
    select id, (select count(*)::int from jobs other where other.id = any(${idList(ids)}) and other.id <> job.id
      and other.started_at <= job.started_at and other.completed_at > job.started_at) as beside
    from jobs job where id = any(${idList(ids)})`)
  // Two lanes of the nudge and the relay can each deliver one that the others do not see yet.
  expect(Math.max(...rows.map(({ beside }) => beside))).toBeLessThanOrEqual(2)
}, 150_000)

longTest(
  'a job is deferred while its backend is offline and runs when it is back',
  async () => {
    const { db } = platform.connection
    const id = await platform.submit(
      submission({ backend: 'aer-mps', not_before: new Date(Date.now() + 8_000).toISOString() })
    )
    await db.execute(sql`update backends set status = 'maintenance' where slug = 'aer-mps'`)
    expect((await platform.until(id, (job) => job.queue?.reason === 'backend_offline')).status).toBe('pending')
    await db.execute(sql`update backends set status = 'online' where slug = 'aer-mps'`)
    expect((await platform.ended(id)).status).toBe('completed')
  },
  60_000
)

test('a submitter who requested it gets a mail when the job has ended', async () => {
  const id = await platform.submit(submission({ notify: 'email', name: 'the job of this mail' }))
  expect((await platform.ended(id)).status).toBe('completed')
  const file = await eventually(() => readdirSync(mails).find((name) => name.endsWith('.eml')) ?? null)
  const mail = await readMail(readFileSync(join(mails, file)))
  expect([headerOf(mail, 'to'), headerOf(mail, 'subject')]).toEqual([
    ['ada@example.org'],
    // The submitter has not proved the address.
    [`Job ${id} is completed`]
  ])
  expect(mail.text).toContain(id)
}, 60_000)
