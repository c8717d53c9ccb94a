// Mails about verifications: sent once to each address of the schedule, except to former members.
import { afterAll, afterEach, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import { pino } from 'pino'
import { startMailSender } from '../../../apps/worker/sweeps/mail-sender.js'
import { createSweepReports } from '../../../apps/worker/sweeps/sweep-reports.js'
import { afterVerdict } from '../../../db/capsule-runs/capsule-alerts.js'
import { startScheduledRun } from '../../../db/capsule-runs/scheduled-runs.js'
import { putSchedule } from '../../../db/capsules/capsule-schedules.js'
import { capsuleAlertMails, capsuleRuns } from '../../../db/tables/capsules.js'
import { createMailClient } from '../../../services/mail/mail-client.js'
import { alertMail } from '../../../services/mail/text.js'
import { addVerifiableCapsule } from '../../support/capsules/verifiable-capsules.js'
import { eventually } from '../../support/eventually.js'
import { addPerson } from '../../support/jobs/rows.js'
import { headerOf, readMail, startMailServer } from '../../support/receivers/mail-server.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('alert_mails')
const { db } = database
const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})
afterAll(() => database.drop())

test('an alert reaches each address once, with the outcomes of both runs, the reason and the link', async () => {
  const [ada, bob, eve] = [await addPerson(db), await addPerson(db), await addPerson(db)]
  const capsule = await addVerifiableCapsule(db, ada)
  await db.execute(sql`update users set email_verified_at = now() where id = ${ada.userId}`)
  for (const { userId } of [bob, eve])
    await db.execute(sql`insert into members (team_id, user_id, role) values (${capsule.teamId}, ${userId}, 'member')`)
  const emails = [ada.email, bob.email, eve.email]
  await db.transaction((tx) =>
    putSchedule(
      tx,
      capsule.id,
      { cron: '0 9 * * *', timezone: 'UTC', paused: false, alertEmails: emails, alertOn: ['different'] },
      ada.userId
    )
  )
  const due = { capsuleId: capsule.id, version: 1, scheduledAt: new Date('2027-05-01T09:00:00Z') }
  const first = await startScheduledRun(db, due, { at: new Date() })
  const report = { tvd: 0.31234, margin: 0.05, reason: 'the counts <b>differ</b>\nby far' }
  const end = (id: string) =>
    db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx
        .update(capsuleRuns)
        .set({ status: 'completed', verdict: 'different', verification: report, completedAt: new Date() })
        .where(eq(capsuleRuns.id, id))
      await afterVerdict(tx, id)
    })
  await end(first.runId!)
  const [second] = await db.select().from(capsuleRuns).where(eq(capsuleRuns.confirms, first.runId!))
  await end(second!.id)
  await db.execute(sql`delete from members where user_id = ${eve.userId}`)

  const server = await startMailServer()
  open.push(() => server.close())
  const lines: string[] = []
  const log = pino({ base: null }, { write: (line: string) => lines.push(line) })
  const sender = startMailSender({
    db,
    client: createMailClient({ smtpUrl: server.url, mailDir: null, from: 'jobs@jobs.example.org' }, 2)!,
    keyRing: null,
    linkOrigin: 'https://jobs.example.org',
    times: { lookMs: 20, retrySeconds: [0.01], linkRetrySeconds: [] },
    reports: createSweepReports(db, log, () => performance.now()),
    countMail: () => {},
    log
  })
  open.push(() => sender.close())
  await eventually(async () => (await db.select().from(capsuleAlertMails)).length === 0)
  expect(server.deliveries.map(({ to }) => to[0]).sort()).toEqual([ada.email, bob.email].sort())
  // Those of the recipient who has proved the address come first.
  const ordered = server.deliveries.sort(({ to }) => (to[0] === ada.email ? -1 : 1))
  const mails = await Promise.all(ordered.map(({ raw }) => readMail(raw)))
  expect(headerOf(mails[1]!, 'subject')).toEqual([`Capsule ${capsule.id}: different`])
  expect(mails[1]!.text).not.toContain('a bell pair')
  expect(new Set(mails.map((mail) => headerOf(mail, 'message-id')[0])).size).toBe(2)
  expect(headerOf(mails[0]!, 'subject')).toEqual(['Capsule "a bell pair": different'])
  expect(mails[0]!.text).toBe(
    [
      'The verification of capsule "a bell pair" on Quantum Job Service that was due on 2027-05-01 09:00 UTC came out as: different.',
      'A second run, made to confirm it, came out as: different.',
      'Distance from the sealed counts: 0.3123 (tolerated: 0.0500).',
      'The reason:',
      '> the counts <b>differ</b>\n> by far',
      `The id of the capsule is ${capsule.id}, that of the run ${first.runId}.`,
      'Its verifications:',
      `https://jobs.example.org/api/capsules/${capsule.id}/verifications`,
      'You get this mail because the schedule of the capsule names your address.\n'
    ].join('\n\n')
  )
  for (const email of emails) expect(lines.join('')).not.toContain(email)
})

test('an alert about a refused run says that it was refused', () => {
  const first = { outcome: 'refused', reason: 'The team is suspended', tvd: null, margin: null }
  const of = { capsuleId: 'c', capsuleName: 'a bell pair', runId: 'r', scheduledAt: new Date('2027-05-01T09:00:00Z') }
  const { subject, text } = alertMail({ ...of, first, second: null, link: null })
  expect(subject).toBe('Capsule "a bell pair": not verified')
  expect(text).toContain('that was due on 2027-05-01 09:00 UTC could not be run.')
  expect(text).toContain('this is reported once, until a run can be made again')
  expect(text).toContain('> The team is suspended')
  expect(text).not.toContain('confirmed')
})
