// Deliveries as rows: inserted with the change that they report, taken by one sender, tried until they are abandoned.
// Time passes by changing the rows, never by waiting.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import type { Tx } from '../../../db/client.js'
import { firstIdAt, newId } from '../../../db/ids.js'
import {
  beginJob,
  completeJob,
  failJob,
  recordCancelled,
  recordFailure,
  requestCancel
} from '../../../db/job-steps/job-steps.js'
import { sweepDispatchDeadline } from '../../../db/job-steps/outbox.js'
import { jobStatus } from '../../../db/jobs/jobs.js'
import { changeTeamBudget } from '../../../db/money/budget.js'
import { jobs } from '../../../db/tables/jobs.js'
import { finishTry, listDeliveries, removeOldDeliveries, takeDelivery } from '../../../db/teams/webhook-deliveries.js'
import { createWebhook, deleteWebhook } from '../../../db/teams/webhooks.js'
import type { WebhookEvent } from '../../../domain/teams/webhook.js'
import { noFailures } from '../../support/failures.js'
import { addJob, addPerson, addTeam, type Person } from '../../support/jobs/rows.js'
import { untilLockAwaited } from '../../support/postgres/lock-waits.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('webhook_deliveries', { max: 20 })
const { db } = database
afterAll(() => database.drop())

let person: Person
let teamId: string
beforeAll(async () => {
  person = await addPerson(db)
})
beforeEach(async () => {
  await db.execute(sql`truncate webhooks cascade`)
  teamId = await addTeam(db, person)
})

const jobEvents: WebhookEvent[] = ['job.completed', 'job.failed', 'job.cancelled']
const addWebhook = async (events: WebhookEvent[] = jobEvents, team = teamId): Promise<string> => {
  const id = newId()
  const sealed = { ringKeyId: 'k', wrappedKey: Buffer.alloc(1), sealedSecret: Buffer.alloc(1) }
  await createWebhook(db, { id, teamId: team, url: 'https://example.org/', events, createdBy: null, ...sealed })
  return id
}
const add = (cost = 0n) => addJob(db, person, { cost, submission: { teamId } })
const fence = { generation: 1 }
const run = async (cost = 0n): Promise<string> => {
  const id = await add(cost)
  await beginJob(db, id, fence)
  return id
}
const storedDeliveries = async (): Promise<{ webhookId: string; event: string; payload: Record<string, unknown> }[]> =>
  (await db.execute(sql`select webhook_id as "webhookId", event, payload from webhook_deliveries order by id`)).map(
    ({ webhookId, event, payload }) => ({
      webhookId: `${webhookId}`,
      event: `${event}`,
      payload: JSON.parse(`${payload}`)
    })
  )
const events = async () => (await storedDeliveries()).map(({ event }) => event)
/** Makes every waiting delivery due. */
const pass = () => db.execute(sql`update webhook_deliveries set next_at = now() - interval '1 second'`)

describe("the webhook event of a job's end", () => {
  test('has its ids and figures, and no text that a user wrote', async () => {
    await addWebhook()
    const id = await addJob(db, person, {
      cost: 1_250_000n,
      submission: { teamId, name: 'secret name', labels: ['l'] }
    })
    await beginJob(db, id, fence)
    await failJob(db, id, fence, { code: 'execution_error', message: 'secret text of theirs' })
    const [row] = await database.sql`select * from webhook_deliveries`
    expect(row).toMatchObject({ event: 'job.failed', state: 'pending', tries: 0, last_status: null })
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const [job] = await db.select().from(jobs).where(eq(jobs.id, id))
    expect(JSON.parse(row!.payload)).toEqual({
      type: 'job.failed',
      timestamp: job!.completedAt!.toISOString(),
      data: {
        job_id: id,
        team_id: teamId,
        user_id: person.userId,
        status: 'failed',
        backend: 'local',
        provider: 'Local',
        execution_mode: 'temporal',
        shots: 100,
        error_code: 'execution_error',
        estimated_cost_usd: 1.25,
        actual_cost_usd: 0,
        created_at: instant,
        started_at: instant,
        completed_at: job!.completedAt!.toISOString()
      }
    })
    expect(row!.payload).not.toContain('secret')
  })

  test('is delivered once to each subscribed webhook of its team, even when the step runs twice', async () => {
    const [first, second] = [await addWebhook(), await addWebhook(['job.completed'])]
    await addWebhook(['job.failed', 'capsule.verified', 'budget.exceeded'])
    await addWebhook(jobEvents, await addTeam(db, person))
    const id = await run(3n)
    expect(await events()).toEqual([])
    expect(await completeJob(db, id, fence, 'a'.repeat(64))).toBe('won')
    expect(await completeJob(db, id, fence, 'a'.repeat(64))).toBe('already_mine')
    expect(await failJob(db, id, fence, { code: 'internal_error', message: 'late' })).toBe('lost')
    const rows = await storedDeliveries()
    expect(rows.map(({ webhookId, event }) => [webhookId, event]).sort()).toEqual([
      [first, 'job.completed'],
      [second, 'job.completed']
    ])
    expect(rows[0]!.payload.data).toMatchObject({ estimated_cost_usd: 0.000003, actual_cost_usd: 0.000003 })
    expect(new Set((await database.sql`select id from webhook_deliveries`).map((row) => row.id)).size).toBe(2)
  })

  test('is delivered once when twenty workers complete it at the same time', async () => {
    await addWebhook()
    const id = await run(1n)
    await Promise.allSettled(Array.from({ length: 20 }, () => completeJob(db, id, fence, 'a'.repeat(64))))
    expect(await events()).toEqual(['job.completed'])
  })

  test('is not delivered when the transaction that ends it is rolled back', async () => {
    await addWebhook()
    const id = await run()
    const undone = db.transaction(async (tx) => {
      expect(await recordFailure(tx, id, { code: 'worker_lost', message: 'x' })).toBe('won')
      throw new Error('rolled back')
    })
    await expect(undone).rejects.toThrow('rolled back')
    expect([await events(), await jobStatus(db, id)]).toEqual([[], 'running'])
  })

  test('is job.cancelled for a cancel at any time, and job.failed for a failed dispatch', async () => {
    await addWebhook()
    await requestCancel(db, await add())
    expect(await events()).toEqual(['job.cancelled'])
    const id = await run()
    await requestCancel(db, id)
    expect(await events()).toHaveLength(1)
    await recordCancelled(db, id, fence, 'stopped_before_provider')
    // A cancel from Temporal passes through `cancelling` in one transaction.
    await recordCancelled(db, await run(), fence, 'stopped_before_provider')
    expect(await events()).toEqual(['job.cancelled', 'job.cancelled', 'job.cancelled'])
    const jobId = await add()
    await db.execute(sql`update outbox set unreachable_since = now() - interval '1 hour'`)
    await sweepDispatchDeadline(db, 60, [{ jobId, kind: 'start' }], noFailures)
    const last = (await storedDeliveries()).at(-1)!
    expect([last.event, last.payload.data]).toEqual([
      'job.failed',
      expect.objectContaining({ status: 'dispatch_failed', started_at: null })
    ])
  })

  test('does not fail the job when the webhook is deleted at that moment', async () => {
    const [gone, stays] = [await addWebhook(), await addWebhook()]
    const id = await run()
    let completing: Promise<unknown> = Promise.resolve()
    await db.transaction(async (tx) => {
      await deleteWebhook(tx, gone)
      completing = completeJob(db, id, fence, 'a'.repeat(64))
      await untilLockAwaited(db)
    })
    expect(await completing).toBe('won')
    expect((await storedDeliveries()).map(({ webhookId }) => webhookId)).toEqual([stays])
  })
})

describe('the webhook event of an exceeded budget', () => {
  const refuse = (cost = 5_000_000n) =>
    addJob(db, person, { cost, submission: { teamId } }).then(
      () => 'taken',
      (error) => error.code
    )

  test('is delivered once an hour for the day and once for the month, with the figures of the refusal', async () => {
    await addWebhook(['budget.exceeded'])
    await changeTeamBudget(db, teamId, { daily: 2_000_000n })
    expect(await Promise.all(Array.from({ length: 10 }, () => refuse()))).toEqual(Array(10).fill('budget_exceeded'))
    expect((await storedDeliveries()).map(({ payload }) => payload)).toEqual([
      {
        type: 'budget.exceeded',
        timestamp: expect.stringMatching(/Z$/),
        data: {
          team_id: teamId,
          limit: 'daily',
          backend: 'local',
          estimated_cost: 5,
          current_spend: 0,
          budget: 2,
          remaining_budget: 2
        }
      }
    ])
    await changeTeamBudget(db, teamId, { daily: 90_000_000n, monthly: 1_000_000n })
    await refuse()
    await refuse()
    expect((await storedDeliveries()).map(({ payload }) => (payload.data as { limit: string }).limit)).toEqual([
      'daily',
      'monthly'
    ])
    await db.execute(sql`update webhook_deliveries set id = ${firstIdAt(new Date(Date.now() - 3_601_000))}
      where payload::json #>> '{data,limit}' = 'monthly'`)
    await refuse()
    expect(await events()).toHaveLength(3)
  })

  test('is the only trace of the submission, and is not delivered for other limits or to other teams', async () => {
    await addWebhook(['budget.exceeded'], await addTeam(db, person))
    await addWebhook(jobEvents)
    await changeTeamBudget(db, teamId, { daily: 1n })
    expect(await refuse()).toBe('budget_exceeded')
    await addWebhook(['budget.exceeded'])
    await changeTeamBudget(db, teamId, { perJob: 1n, daily: 90_000_000n })
    expect(await refuse()).toBe('budget_exceeded')
    expect(await events()).toEqual([])
    expect([...(await db.execute(sql`select id from jobs where team_id = ${teamId}`))]).toEqual([])
  })
})

describe('a webhook delivery', () => {
  const waits = [60, 300, 1_200]
  const failedTry = { status: 500, error: 'answered 500' }
  const make = async (count = 1) => {
    const webhookId = await addWebhook()
    for (let made = 0; made < count; made++) await requestCancel(db, await add())
    return webhookId
  }
  /** What a step returns, and in how many seconds the delivery is due then. No time passes within the transaction. */
  const withDueIn = <T>(step: (tx: Tx) => Promise<T>) =>
    db.transaction(async (tx) => {
      const returned = await step(tx)
      const [row] = await tx.execute(sql`select extract(epoch from next_at - now()) as s from webhook_deliveries`)
      return { returned, dueIn: Math.round(Number(row!.s)) }
    })

  test('is taken by one of several concurrent senders, with everything that it needs', async () => {
    const webhookId = await make(5)
    const taken = await Promise.all(Array.from({ length: 10 }, () => takeDelivery(db, [])))
    const ids = taken.flatMap((one) => (one ? [one.id] : []))
    expect(ids.sort()).toEqual((await listDeliveries(db, webhookId)).map(({ id }) => id).sort())
    expect(taken.find(Boolean)).toMatchObject({
      tries: 1,
      payload: expect.stringContaining('job.cancelled'),
      webhook: { id: webhookId, teamId, url: 'https://example.org/', ringKeyId: 'k', sealedSecret: Buffer.alloc(1) }
    })
  })

  test('is taken in the order of due times, and not before it is due', async () => {
    const webhookId = await make(3)
    const [a, b, c] = await listDeliveries(db, webhookId)
    for (const [row, seconds] of [
      [a, 10],
      [b, 20],
      [c, -60]
    ] as const)
      await db.execute(
        sql`update webhook_deliveries set next_at = now() - make_interval(secs => ${seconds}) where id = ${row!.id}`
      )
    const taken = [await takeDelivery(db, []), await takeDelivery(db, []), await takeDelivery(db, [])]
    expect(taken.map((one) => one?.id)).toEqual([b!.id, a!.id, undefined])
  })

  test('of a webhook to be skipped is left', async () => {
    const [passedOver, other] = [await make(3), await addWebhook()]
    expect(await takeDelivery(db, [passedOver])).toBeNull()
    await requestCancel(db, await add())
    expect((await takeDelivery(db, [passedOver]))?.webhook.id).toBe(other)
    expect(await takeDelivery(db, [passedOver, other])).toBeNull()
  })

  test('whose sender died is due again, and the try has counted', async () => {
    await make()
    const { returned: first, dueIn } = await withDueIn((tx) => takeDelivery(tx, []))
    expect(await takeDelivery(db, [])).toBeNull()
    expect(dueIn).toBe(30)
    await pass()
    const second = await takeDelivery(db, [])
    expect([second?.id, second?.tries]).toEqual([first?.id, 2])
    // The first sender was only slow: its outcome comes too late to change anything.
    expect(await finishTry(db, first!, { status: 204, error: null }, waits)).toBeNull()
    expect(await finishTry(db, second!, failedTry, waits)).toBe('pending')
  })

  test('is retried after each wait, then has failed, and is never taken again', async () => {
    const webhookId = await make()
    const seen: unknown[] = []
    for (let tries = 1; tries <= waits.length; tries++) {
      const taken = (await takeDelivery(db, []))!
      const { returned, dueIn } = await withDueIn((tx) => finishTry(tx, taken, failedTry, waits))
      expect(returned).toBe('pending')
      seen.push(dueIn)
      expect(await takeDelivery(db, [])).toBeNull()
      await pass()
    }
    expect(seen).toEqual(waits)
    expect(await finishTry(db, (await takeDelivery(db, []))!, failedTry, waits)).toBe('failed')
    await pass()
    expect(await takeDelivery(db, [])).toBeNull()
    expect(await listDeliveries(db, webhookId)).toMatchObject([
      { state: 'failed', tries: 4, lastStatus: 500, lastError: 'answered 500', deliveredAt: null }
    ])
  })

  test('that was delivered records when, and is never taken again', async () => {
    const webhookId = await make()
    await finishTry(db, (await takeDelivery(db, []))!, failedTry, waits)
    await pass()
    expect(await finishTry(db, (await takeDelivery(db, []))!, { status: 204, error: null }, waits)).toBe('delivered')
    await pass()
    expect(await takeDelivery(db, [])).toBeNull()
    expect(await listDeliveries(db, webhookId)).toMatchObject([
      { state: 'delivered', tries: 2, lastStatus: 204, lastError: null, deliveredAt: expect.any(Date) }
    ])
  })

  test('stays in the log for 30 days, whatever its outcome', async () => {
    const webhookId = await make(3)
    const [a, b] = await listDeliveries(db, webhookId)
    const daysAgo = (days: number) => firstIdAt(new Date(Date.now() - days * 86_400_000))
    await db.execute(sql`update webhook_deliveries set id = ${daysAgo(30.01)} where id = ${a!.id}`)
    await db.execute(sql`update webhook_deliveries set id = ${daysAgo(29.99)} where id = ${b!.id}`)
    expect([await removeOldDeliveries(db, 10), await removeOldDeliveries(db, 10)]).toEqual([1, 0])
    expect(await listDeliveries(db, webhookId)).toHaveLength(2)
  })

  test('is deleted with its webhook', async () => {
    const webhookId = await make(2)
    await deleteWebhook(db, webhookId)
    expect([await takeDelivery(db, []), await events()]).toEqual([null, []])
  })
})
