// The sender with real receivers: deliveries arrive, are retried, and do not delay other webhooks.
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { createSweepReports } from '../../../apps/worker/sweeps/sweep-reports.js'
import { startWebhookSender, type WebhookTimes } from '../../../apps/worker/sweeps/webhook-sender.js'
import { newId } from '../../../db/ids.js'
import { beginJob, completeJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { type DeliveryRow, listDeliveries } from '../../../db/teams/webhook-deliveries.js'
import { createWebhook, deleteWebhook } from '../../../db/teams/webhooks.js'
import { readKeyRing, webhookContext } from '../../../services/keys/key-ring.js'
import { createWebhookClient, newWebhookSecret } from '../../../services/webhooks/webhook-client.js'
import { deadAddress } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import {
  accept,
  hang,
  type Receiver,
  type Reply,
  refuse,
  startReceiver,
  verified
} from '../../support/receivers/webhook-receiver.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('webhook_sender', { max: 20 })
const { db } = database
const person = await addPerson(db)
const keyRing = readKeyRing(`k1:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`)
const quick: WebhookTimes = { lookMs: 10, retrySeconds: [0.05, 0.05, 0.05], pauseMs: 10 }

let teamId: string
let logged: Record<string, unknown>[] = []
let secrets: string[] = []
let outcomes: string[] = []
const open: { close(): Promise<void> }[] = []
beforeEach(async () => {
  await db.execute(sql`truncate webhooks cascade`)
  teamId = await addTeam(db, person)
})
afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
  const text = JSON.stringify(logged)
  for (const secret of secrets) expect(text).not.toContain(secret.slice(6))
  logged = []
  secrets = []
  outcomes = []
})
afterAll(() => database.drop())

function closeLater<T extends { close(): Promise<void> }>(part: T): T {
  open.push(part)
  return part
}
const receiver = async (reply?: Reply): Promise<Receiver> => closeLater(await startReceiver(reply))
const start = (
  options: { times?: Partial<WebhookTimes>; timeoutMs?: number; allowPrivate?: boolean; ring?: typeof keyRing } = {}
) => {
  const { times, timeoutMs = 30_000, allowPrivate = true, ring = keyRing } = options
  const client = createWebhookClient({ allowPrivate, timeoutMs })
  const log = pino({ base: null, level: 'trace' }, { write: (line: string) => logged.push(JSON.parse(line)) })
  const reports = createSweepReports(db, log, () => performance.now())
  const sender = startWebhookSender({
    db,
    keyRing: ring,
    client,
    times: { ...quick, ...times },
    reports,
    countWebhook: (outcome) => outcomes.push(outcome),
    log
  })
  return closeLater({
    async close() {
      await sender.close()
      await client.close()
    }
  })
}
async function addWebhook(url: string): Promise<{ id: string; secret: string }> {
  const id = newId()
  const secret = newWebhookSecret()
  secrets.push(secret)
  const { sealedValue, ...wrapped } = keyRing.seal(secret, webhookContext({ teamId, id }))
  const events = ['job.completed' as const, 'job.cancelled' as const]
  await createWebhook(db, { id, teamId, url, events, ...wrapped, sealedSecret: sealedValue, createdBy: null })
  return { id, secret }
}
/** Creates an event for every webhook of the team. @returns the job's id. */
async function tell(): Promise<string> {
  const id = await addJob(db, person, { submission: { teamId } })
  await requestCancel(db, id)
  return id
}
const log = (webhookId: string) => listDeliveries(db, webhookId)
const until = (webhookId: string, holds: (row: DeliveryRow) => boolean, timeoutMs?: number) =>
  eventually(
    async () => {
      const rows = await log(webhookId)
      return rows.length > 0 && rows.every(holds) ? rows : null
    },
    { ...(timeoutMs && { timeoutMs }), message: async () => JSON.stringify(await log(webhookId)) }
  )
const delivered = (row: DeliveryRow) => row.state === 'delivered'

describe('a delivery', () => {
  test('arrives signed, with the id that the delivery log has', async () => {
    const { url, received } = await receiver()
    const { id, secret } = await addWebhook(url)
    start()
    const jobId = await tell()
    const [row] = await until(id, delivered)
    expect(received).toHaveLength(1)
    const { type, data } = verified(secret, received[0]!)
    expect([type, data.job_id, data.status]).toEqual(['job.cancelled', jobId, 'cancelled'])
    expect(received[0]!.headers['webhook-id']).toBe(row!.id)
    expect(row).toMatchObject({ tries: 1, lastStatus: 204, lastError: null })
    await eventually(() => outcomes.join() === 'sent')
  })

  test('arrives once per job, with several senders and repeated steps', async () => {
    const { url, received } = await receiver()
    const { id } = await addWebhook(url)
    for (let senders = 0; senders < 3; senders++) start()
    const jobs = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const jobId = await addJob(db, person, { submission: { teamId } })
        await beginJob(db, jobId, { generation: 1 })
        const complete = () => completeJob(db, jobId, { generation: 1 }, 'a'.repeat(64))
        await Promise.allSettled([complete(), complete()])
        await complete()
        return jobId
      })
    )
    await eventually(async () => (await log(id)).filter(delivered).length === jobs.length)
    expect(received.map(({ body }) => JSON.parse(body).data.job_id).sort()).toEqual(jobs.sort())
  })
})

describe('a receiver that', () => {
  test('responds 500 gets the same message again, with a new signature', async () => {
    const target = await receiver(refuse)
    const { id, secret } = await addWebhook(target.url)
    start()
    await tell()
    await eventually(() => target.received.length >= 2)
    target.reply = accept
    const [row] = await until(id, delivered)
    expect(row!.tries).toBe(target.received.length)
    expect(new Set(target.received.map(({ body }) => body)).size).toBe(1)
    expect(new Set(target.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    for (const message of target.received) verified(secret, message)
  })

  test('never accepts a message is given up after the last try, with the reason in the log', async () => {
    const target = await receiver(refuse)
    const { id } = await addWebhook(target.url)
    start()
    await tell()
    expect(await until(id, ({ state }) => state === 'failed')).toMatchObject([
      { tries: quick.retrySeconds.length + 1, lastStatus: 500, lastError: 'answered 500', deliveredAt: null }
    ])
    expect(target.received).toHaveLength(quick.retrySeconds.length + 1)
    await eventually(() => outcomes.join() === 'failed,failed,failed,given_up')
    expect(logged).toContainEqual(expect.objectContaining({ webhookId: id, msg: 'a webhook was given up' }))
  })

  test('hangs is tried again after the time limit', async () => {
    const target = await receiver(hang)
    const { id } = await addWebhook(target.url)
    // As many tries as it takes until one of a busy machine is answered within the limit.
    start({ timeoutMs: 100, times: { retrySeconds: Array<number>(200).fill(0.05) } })
    await tell()
    await eventually(() => target.received.length >= 2)
    expect((await log(id))[0]).toMatchObject({ lastStatus: null, lastError: 'no answer within 0.1 s' })
    target.reply = accept
    await until(id, delivered)
  })

  test('is not running is tried again', async () => {
    const { id } = await addWebhook(`http://${await deadAddress()}/`)
    start({ times: { retrySeconds: [0.05] } })
    await tell()
    expect(await until(id, ({ state }) => state === 'failed')).toMatchObject([
      { tries: 2, lastStatus: null, lastError: 'the receiver refused the connection' }
    ])
  })

  test('has a private address gets no message', async () => {
    const target = await receiver()
    const { port } = target
    const ids = [await addWebhook(target.url), await addWebhook(`http://localhost:${port}/`)].map(({ id }) => id)
    start({ allowPrivate: false, times: { retrySeconds: [] } })
    await tell()
    for (const id of ids)
      expect(await until(id, ({ state }) => state === 'failed')).toMatchObject([
        { lastStatus: null, lastError: 'not sent: the receiver has no public address' }
      ])
    expect(target.received).toEqual([])
  })
})

describe('receivers that hang', () => {
  test('do not delay other webhooks, however many they are', async () => {
    const dead = await receiver(hang)
    for (let count = 0; count < 12; count++) await addWebhook(dead.url)
    start({ timeoutMs: 2_000, times: { retrySeconds: [0.01, 0.01, 0.01, 0.01, 0.01, 0.01], pauseMs: 1 } })
    for (let count = 0; count < 10; count++) await tell()
    await eventually(() => dead.received.length >= 4)
    const alive = await receiver()
    const { id } = await addWebhook(alive.url)
    const jobs: string[] = []
    for (let count = 0; count < 10; count++) jobs.push(await tell())
    await until(id, delivered, 60_000)
    expect(new Set(alive.received.map(({ body }) => JSON.parse(body).data.job_id))).toEqual(new Set(jobs))
    // More than a hundred tries of two seconds each were due before these.
    expect(dead.received.length).toBeLessThan(100)
  }, 90_000)

  test('get one message at a time, and none during their pause', async () => {
    let most = 0
    let now = 0
    const target = await receiver((response) => {
      most = Math.max(most, ++now)
      response.once('close', () => now--)
    })
    const { id } = await addWebhook(target.url)
    for (let count = 0; count < 8; count++) await tell()
    start({ timeoutMs: 2_000, times: { pauseMs: 60_000 } })
    await until(id, ({ tries }) => tries <= 1)
    await eventually(async () => (await log(id)).some(({ lastError }) => lastError !== null))
    const other = await receiver()
    const { id: otherId } = await addWebhook(other.url)
    await tell()
    await until(otherId, delivered)
    expect([most, target.received.length]).toEqual([1, 1])
  })
})

test('a webhook that is deleted during a delivery gets no further message', async () => {
  let refuseIt = () => {}
  const target = await receiver((response) => {
    refuseIt = () => response.writeHead(500).end('no')
  })
  const { id } = await addWebhook(target.url)
  start()
  await tell()
  await tell()
  await eventually(() => target.received.length === 1)
  await deleteWebhook(db, id)
  refuseIt()
  await eventually(() => logged.some(({ webhookId }) => webhookId === id))
  const after = await receiver()
  const { id: otherId } = await addWebhook(after.url)
  await tell()
  await until(otherId, delivered)
  expect(target.received).toHaveLength(1)
  expect(logged.filter(({ level }) => Number(level) >= 40)).toEqual([])
})

test("a secret that cannot be opened is a failed try, in the delivery log and in the worker's log", async () => {
  const target = await receiver()
  const { id } = await addWebhook(target.url)
  const ring = readKeyRing(`k1:${Buffer.from('another ring key of 32 bytes, 32').toString('base64')}`)
  start({ ring, times: { retrySeconds: [] } })
  await tell()
  expect(await until(id, ({ state }) => state === 'failed')).toMatchObject([
    { lastError: 'the signing secret cannot be opened; delete this webhook and create it again' }
  ])
  expect(logged).toContainEqual(expect.objectContaining({ level: 50, webhookId: id }))
  expect(target.received).toEqual([])
})

test('closing finishes and records the delivery under way', async () => {
  let release = () => {}
  const target = await receiver((response) => {
    release = () => response.writeHead(204).end()
  })
  const { id } = await addWebhook(target.url)
  const sender = start()
  await tell()
  await eventually(() => target.received.length === 1)
  const closing = sender.close()
  release()
  await closing
  expect((await log(id)).map(({ state }) => state)).toEqual(['delivered'])
})
