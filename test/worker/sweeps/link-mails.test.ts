// Mails whose links hold a live token: sealed in the database, sent after the commit, and kept no longer than the token.
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { startMailSender } from '../../../apps/worker/sweeps/mail-sender.js'
import { createSweepReports } from '../../../apps/worker/sweeps/sweep-reports.js'
import { removeOutdated } from '../../../db/deletion/retention.js'
import { takeSealedMail } from '../../../db/service/sealed-mails.js'
import { createMailClient } from '../../../services/mail/mail-client.js'
import { createMailer, openMail } from '../../../services/mail/mailer.js'
import { testKeyRing } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { throwFailure } from '../../support/failures.js'
import { link, mailTo, RECIPIENT } from '../../support/receivers/mail-bench.js'
import { headerOf, readMail, startMailServer } from '../../support/receivers/mail-server.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('link_mails')
const { db } = database
const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})
afterAll(() => database.drop())
beforeEach(() => db.execute(sql`truncate sealed_mails`))

const lines: Record<string, unknown>[] = []
const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) })
const mailer = createMailer({ sends: true, keyRing: testKeyRing, log })
const tomorrow = () => new Date(Date.now() + 86_400_000)
const stored = async () => [...(await db.execute(sql`select tries, last_error from sealed_mails`))]

async function startSender(...options: Parameters<typeof startMailServer>) {
  const server = await startMailServer(...options)
  open.push(() => server.close())
  const sender = startMailSender({
    db,
    client: createMailClient({ smtpUrl: server.url, mailDir: null, from: 'Jobs <jobs@jobs.example.org>' }, 2)!,
    keyRing: testKeyRing,
    linkOrigin: null,
    times: { lookMs: 20, retrySeconds: [], linkRetrySeconds: [0.01, 0.01] },
    reports: createSweepReports(db, log, () => performance.now()),
    countMail: () => {},
    log
  })
  open.push(() => sender.close())
  return server
}

test('a mail is sent once after the commit, and its row is removed', async () => {
  await db.transaction((tx) => mailer.send(tx, mailTo(), tomorrow()))
  const { deliveries } = await startSender()
  await eventually(async () => (await stored()).length === 0)
  expect(deliveries.map(({ to }) => to)).toEqual([[RECIPIENT]])
  const mail = await readMail(deliveries[0]!.raw)
  expect(mail.text.split('\n')).toContain(link)
  expect(headerOf(mail, 'Message-ID')).toEqual([expect.stringMatching(/^<link-[0-9a-f-]{36}@jobs\.example\.org>$/)])
  expect(lines.at(-1)).toMatchObject({ domain: 'people.example.org', tries: 1, msg: 'a mail with a link was sent' })
})

test('a transaction that rolls back sends no mail', async () => {
  const rolledBack = db.transaction(async (tx) => {
    await mailer.send(tx, mailTo(), tomorrow())
    throw new Error('rolled back on purpose')
  })
  await expect(rolledBack).rejects.toThrow('on purpose')
  expect(await stored()).toEqual([])
})

test('the database and the log contain neither the link nor the recipient', async () => {
  await mailer.send(db, mailTo(), tomorrow())
  const [row] = await db.execute(
    sql`select sealed_mails::text as text, encode(sealed_mail, 'escape') as sealed from sealed_mails`
  )
  await startSender({ answer: () => ({ code: 554, text: `<${RECIPIENT}> ${link}` }) })
  await eventually(async () => (await stored()).length === 0)
  for (const secret of [link, RECIPIENT]) expect(JSON.stringify([row, lines])).not.toContain(secret)
  expect(lines.at(-1)).toMatchObject({ level: 50, reply: '554' })
})

test('a mail that the server defers is sent by a later try', async () => {
  await mailer.send(db, mailTo(), tomorrow())
  const { deliveries, messages } = await startSender({
    answer: (index) => (index < 2 ? { code: 451, text: 'later' } : null)
  })
  await eventually(async () => (await stored()).length === 0)
  expect([deliveries.length, messages()]).toEqual([1, 3])
})

test('a mail is given up after its last try', async () => {
  await mailer.send(db, mailTo(), tomorrow())
  const { messages } = await startSender({ answer: () => ({ code: 451, text: 'later' }) })
  await eventually(async () => (await stored()).length === 0)
  expect(messages()).toBe(3)
})

test('a link to a new password is sent before a thousand invitations that have waited longer', async () => {
  await db.execute(sql`insert into sealed_mails (id, ring_key_id, wrapped_key, sealed_mail, expires_at, next_at)
    select gen_random_uuid(), 'gone', '', '', now() + interval '1 day', now() - interval '1 hour'
    from generate_series(1, 1000)`)
  await mailer.send(db, mailTo('invited@example.org'), tomorrow())
  await mailer.send(db, mailTo(), tomorrow(), { first: true })
  const taken = await takeSealedMail(db)
  expect(openMail(testKeyRing, taken!).to).toBe(RECIPIENT)
})

test('mails whose key is gone are given up after their tries, each with a line in the log, and hold up no other', async () => {
  await db.execute(sql`insert into sealed_mails (id, ring_key_id, wrapped_key, sealed_mail, expires_at)
    select gen_random_uuid(), 'gone', '', '', now() + make_interval(days => n) from generate_series(0, 3) n`)
  await mailer.send(db, mailTo(), tomorrow())
  const { deliveries } = await startSender()
  await eventually(async () => (await stored()).length === 0)
  expect(deliveries.map(({ to }) => to)).toEqual([[RECIPIENT]])
  const givenUp = lines.filter(({ msg }) => msg === 'a mail with a link was given up; check the keys in SECRETS_KEYS')
  expect(givenUp).toHaveLength(3)
  expect(givenUp[0]).toMatchObject({
    level: 50,
    tries: 3,
    mailId: expect.any(String),
    message: expect.stringContaining('gone')
  })
})

test('an expired mail is not sent', async () => {
  await mailer.send(db, mailTo('late@example.org'), new Date(Date.now() - 1_000))
  await mailer.send(db, mailTo(), tomorrow())
  const { deliveries } = await startSender()
  await eventually(async () => (await stored()).length === 0)
  expect(deliveries.map(({ to }) => to)).toEqual([[RECIPIENT]])
})

test('an expired mail is removed even where no worker sends mails', async () => {
  await mailer.send(db, mailTo(), new Date(Date.now() - 1_000))
  await mailer.send(db, mailTo(), tomorrow())
  await removeOutdated(db, throwFailure)
  expect(await stored()).toHaveLength(1)
})

test.each([
  ['a mail server', createMailer({ sends: false, keyRing: testKeyRing, log }), 'neither SMTP_URL nor MAIL_DIR is set'],
  ['a key ring', createMailer({ sends: true, keyRing: null, log }), 'SECRETS_KEYS is not set']
])('without %s a mail is dropped with a line in the log', async (_what, dropping, reason) => {
  await dropping.send(db, mailTo(), tomorrow())
  expect(await stored()).toEqual([])
  expect(lines.at(-1)).toMatchObject({ level: 40, domain: 'people.example.org', msg: `mail dropped: ${reason}` })
})
