// Mails about the end of jobs: written with the end, sent until the server accepts them, only to the submitter.
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { type MailTimes, startMailSender } from '../../../apps/worker/sweeps/mail-sender.js'
import { createSweepReports } from '../../../apps/worker/sweeps/sweep-reports.js'
import type { TimerLoop } from '../../../apps/worker/sweeps/timer-loop.js'
import { beginJob, completeJob, failJob, recordCancelled, requestCancel } from '../../../db/job-steps/job-steps.js'
import { markUnreachable, sweepDispatchDeadline } from '../../../db/job-steps/outbox.js'
import { takeMail } from '../../../db/jobs/job-mails.js'
import { createMailClient } from '../../../services/mail/mail-client.js'
import { eventually } from '../../support/eventually.js'
import { noFailures } from '../../support/failures.js'
import { addJob, addPerson, addTeam, type Person } from '../../support/jobs/rows.js'
import { headerOf, readMail, startMailServer } from '../../support/receivers/mail-server.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('mail_sender', { max: 10 })
const { db } = database
const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})
afterAll(() => database.drop())

let ada: Person
beforeEach(async () => {
  await db.execute(sql`truncate jobs cascade`)
  ada = await addPerson(db)
  await db.execute(sql`update users set email_verified_at = now() where id = ${ada.userId}`)
})

const fence = { generation: 1 }
const waiting = async () => [...(await db.execute(sql`select job_id, tries, last_error from job_mails`))]
const add = (submission: Parameters<typeof addJob>[2] = {}) =>
  addJob(db, ada, { ...submission, submission: { notify: 'email', ...submission?.submission } })
async function failed(reason: string, submission: { name?: string } = {}): Promise<string> {
  const id = await add({ submission })
  await beginJob(db, id, fence)
  await failJob(db, id, fence, { code: 'execution_error', message: reason })
  return id
}

let lines: Record<string, unknown>[] = []
let outcomes: string[] = []
function startSender(smtpUrl: string, times: Partial<MailTimes> = {}, linkOrigin: string | null = null): TimerLoop {
  lines = []
  outcomes = []
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) })
  const client = createMailClient({ smtpUrl, mailDir: null, from: 'Jobs <jobs@jobs.example.org>' }, 2)!
  const sender = startMailSender({
    db,
    client,
    keyRing: null,
    linkOrigin,
    times: { lookMs: 20, retrySeconds: [0.01, 0.01], linkRetrySeconds: [0.01, 0.01], ...times },
    reports: createSweepReports(db, log, () => performance.now()),
    countMail: (outcome) => outcomes.push(outcome),
    log
  })
  open.push(() => sender.close())
  return sender
}
async function mailServer(...options: Parameters<typeof startMailServer>) {
  const server = await startMailServer(...options)
  open.push(() => server.close())
  return server
}

describe('the end of a job', () => {
  test.each([
    ['completed', (id: string) => completeJob(db, id, fence, 'a'.repeat(64))],
    ['failed', (id: string) => failJob(db, id, fence, { code: 'execution_error', message: 'no' })],
    ['cancelled', (id: string) => recordCancelled(db, id, fence, 'stopped_before_provider')]
  ])('(%s) writes one mail if the submission requested it', async (_status, end) => {
    const [asked, silent] = [await add(), await addJob(db, ada)]
    for (const id of [asked, silent]) {
      await beginJob(db, id, fence)
      await end(id)
      await end(id)
    }
    expect(await waiting()).toEqual([{ job_id: asked, tries: 0, last_error: null }])
  })

  test('before its start writes a mail too', async () => {
    const cancelled = await add()
    await requestCancel(db, cancelled)
    const lost = await add()
    const start = { jobId: lost, kind: 'start' as const }
    await markUnreachable(db, [start], { minSeconds: 0, maxSeconds: 0 })
    await db.execute(sql`update outbox set unreachable_since = now() - interval '1 hour'`)
    await sweepDispatchDeadline(db, 900, [start], noFailures)
    expect((await waiting()).map(({ job_id }) => job_id).sort()).toEqual([cancelled, lost])
  })
})

test('a mail gives the submitter the outcome of the job, the code of its error, the cost and the link, and no text of the program', async () => {
  const server = await mailServer()
  const id = await failed('line 3: <b>no</b> such gate\nat all', { name: 'Bell "pair"\r\nBcc: eve@example.org' })
  startSender(server.url, {}, 'https://jobs.example.org')
  await eventually(() => server.deliveries.length === 1)
  await eventually(async () => (await waiting()).length === 0)
  const [delivery] = server.deliveries
  expect([delivery!.to, delivery!.from]).toEqual([[ada.email], 'jobs@jobs.example.org'])
  const mail = await readMail(delivery!.raw)
  expect(mail.defects).toEqual([])
  expect(headerOf(mail, 'subject')).toEqual(['Job "Bell "pair" Bcc: eve@example.org" has failed'])
  expect(headerOf(mail, 'bcc')).toEqual([])
  expect(headerOf(mail, 'message-id')).toEqual([`<job-${id}@jobs.example.org>`])
  expect(mail.text).toBe(
    [
      'Job "Bell "pair" Bcc: eve@example.org", which you submitted to local on Quantum Job Service, has failed.',
      'The code of the error is execution_error; the record of the job has its message.',
      'It cost $0.00.',
      `Its id is ${id}, its status failed.`,
      'Its record, with the result:',
      `https://jobs.example.org/api/jobs/${id}`,
      'You get this mail because the submission requested it.\n'
    ].join('\n\n')
  )
  expect(mail.words).not.toContain('gate')
  expect(JSON.stringify(lines)).not.toContain(ada.email)
})

test('a mail to an address that the submitter has not proved names the job by its id alone', async () => {
  await db.execute(sql`update users set email_verified_at = null where id = ${ada.userId}`)
  const server = await mailServer()
  const id = await failed('a message', { name: 'You won, see evil.example' })
  startSender(server.url)
  await eventually(() => server.deliveries.length === 1)
  const mail = await readMail(server.deliveries[0]!.raw)
  expect(headerOf(mail, 'subject')).toEqual([`Job ${id} has failed`])
  expect(server.deliveries[0]!.raw.toString()).not.toMatch(/won,|evil|a message/)
})

test('without a public address a mail has no link, and a job without a name is named by its id', async () => {
  const server = await mailServer()
  const id = await add({ cost: 1_250_000n })
  await beginJob(db, id, fence)
  await completeJob(db, id, fence, 'a'.repeat(64))
  startSender(server.url)
  await eventually(() => server.deliveries.length === 1)
  const { text } = await readMail(server.deliveries[0]!.raw)
  expect(text).not.toContain('http')
  expect(text).toContain(`Job ${id}, which you submitted to local on Quantum Job Service, is completed.`)
  expect(text).toContain('It cost $1.25.')
})

describe('a mail that the server does not accept', () => {
  test('is tried again, also by a later worker, and arrives once', async () => {
    const server = await mailServer({ answer: (index) => (index < 2 ? { code: 451, text: 'later' } : null) })
    await failed('no')
    const first = startSender(server.url, { retrySeconds: [3_600, 3_600, 3_600] })
    await eventually(() => server.messages() >= 1)
    await first.close()
    expect(await waiting()).toHaveLength(1)
    await db.execute(sql`update job_mails set next_at = now()`)
    startSender(server.url, { retrySeconds: [0.01, 0.01, 0.01, 0.01, 0.01, 0.01] })
    await eventually(async () => (await waiting()).length === 0)
    expect(server.deliveries).toHaveLength(1)
    expect(outcomes.at(-1)).toBe('sent')
  })

  test('is given up after the last try, with a line in the log', async () => {
    const server = await mailServer({ answer: () => ({ code: 451, text: `no ${ada.email}` }) })
    const id = await failed('no')
    startSender(server.url)
    await eventually(async () => (await waiting()).length === 0)
    expect(server.messages()).toBe(3)
    expect(lines.at(-1)).toMatchObject({ level: 50, jobId: id, tries: 3, reply: '451' })
    expect(outcomes).toEqual(['failed', 'failed', 'given_up'])
    expect(JSON.stringify(lines)).not.toContain(ada.email)
  })

  test('is given up at once when it is refused for good', async () => {
    const server = await mailServer({ answer: () => ({ code: 550, text: '5.1.1 nobody' }) })
    await failed('no')
    startSender(server.url)
    await eventually(async () => (await waiting()).length === 0)
    expect(server.messages()).toBe(1)
  })

  test('when its worker stops is left to the next worker at once', async () => {
    const server = await mailServer({ onMailFrom: () => {} })
    await failed('hangs')
    const sender = startSender(server.url)
    await eventually(() => server.open() > 0)
    const began = performance.now()
    await sender.close()
    // The limit for a silent server is ten seconds.
    expect(performance.now() - began).toBeLessThan(8_000)
    const [left] = (await waiting()) as { tries: number }[]
    expect(left).toMatchObject({ last_error: 'the worker stopped' })
    // The other loop can have been about to take it when the first released it.
    expect(left!.tries).toBeLessThanOrEqual(2)
    expect(await takeMail(db)).toMatchObject({ tries: left!.tries + 1 })
    expect(await takeMail(db)).toBeNull()
  })
})

test('a submitter who is gone or has left the team gets no mail', async () => {
  const server = await mailServer()
  const owner = await addPerson(db)
  const teamId = await addTeam(db, owner)
  await db.execute(sql`insert into members (team_id, user_id, role) values (${teamId}, ${ada.userId}, 'member')`)
  const left = await add({ submission: { teamId } })
  const gone = await addJob(db, owner, { submission: { notify: 'email', teamId } })
  const stays = await add()
  await db.execute(sql`delete from members where user_id = ${ada.userId} and team_id = ${teamId}`)
  await db.execute(sql`update jobs set user_id = null where id = ${gone}`)
  for (const id of [left, gone, stays]) await requestCancel(db, id)
  startSender(server.url)
  await eventually(async () => (await waiting()).length === 0)
  expect(server.deliveries.map(({ to }) => to)).toEqual([[ada.email]])
  expect((await readMail(server.deliveries[0]!.raw)).text).toContain(stays)
})

test('two workers send each mail once', async () => {
  const server = await mailServer()
  for (let count = 0; count < 12; count++) await failed(`number ${count}`)
  for (let count = 0; count < 2; count++) startSender(server.url)
  await eventually(async () => (await waiting()).length === 0)
  await eventually(() => server.deliveries.length === 12)
  expect(server.messages()).toBe(12)
})
