// Jobs that have to wait although they are due, with real workers; and the mail at the end.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { slowQiskit, submission } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import { headerOf, readMail } from '../support/mail-server.js'
import { type Platform, startPlatform } from '../support/platform.js'

const mails = mkdtempSync(join(tmpdir(), 'qjs-mails-'))
let platform: Platform
beforeAll(async () => {
  platform = await startPlatform('waiting_e2e', {}, { TEAM_RUNNING_JOBS_MAX: '1', MAIL_DIR: mails })
}, 60_000)
afterAll(async () => {
  await platform?.close()
  rmSync(mails, { recursive: true, force: true })
})

test('a team runs no more jobs than it may, in the order of submission, in both modes', async () => {
  const ids: string[] = []
  for (const mode of ['temporal', 'direct', 'temporal', 'direct'])
    ids.push(
      await platform.submit(
        submission({ inline_code: slowQiskit(0.5), framework: 'qiskit', execution_mode: mode, params: { shots: 1 } })
      )
    )
  await platform.until(ids[3]!, (job) => job.queue?.reason === 'concurrency_limit')
  for (const id of ids) expect((await platform.ended(id)).status).toBe('completed')
  const spans = await platform.connection.db.execute<{ id: string; before: boolean }>(sql`
    select id, coalesce(lag(completed_at) over (order by id) <= started_at, true) as before from jobs
    where id = any(string_to_array(${ids.join(',')}, ',')::uuid[]) order by id`)
  // Told one after the other: none began before the one submitted earlier was over.
  expect(spans.map(({ id, before }) => [id, before])).toEqual(ids.map((id) => [id, true]))
}, 60_000)

test('a job waits for its backend and goes on when it is back', async () => {
  const { db } = platform.connection
  const id = await platform.submit(
    submission({ backend: 'aer-mps', not_before: new Date(Date.now() + 1_500).toISOString() })
  )
  await db.execute(sql`update backends set status = 'maintenance' where slug = 'aer-mps'`)
  expect((await platform.until(id, (job) => job.queue?.reason === 'backend_offline')).status).toBe('pending')
  await db.execute(sql`update backends set status = 'online' where slug = 'aer-mps'`)
  expect((await platform.ended(id)).status).toBe('completed')
}, 60_000)

test('the submitter who asked for it is mailed when the job has ended', async () => {
  const id = await platform.submit(submission({ notify: 'email', name: 'the job of this mail' }))
  expect((await platform.ended(id)).status).toBe('completed')
  const file = await eventually(() => readdirSync(mails).find((name) => name.endsWith('.eml')) ?? null)
  const mail = await readMail(readFileSync(join(mails, file)))
  expect([headerOf(mail, 'to'), headerOf(mail, 'subject')]).toEqual([
    ['ada@example.org'],
    ['Job "the job of this mail" is completed']
  ])
  expect(mail.text).toContain(id)
}, 60_000)
