// Which runs a schedule creates, decided by the rows alone, whatever Temporal starts and how often.
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import { pino } from 'pino'
import { startScheduleSweep } from '../../../apps/worker/sweeps/schedule-sweep.js'
import { createSweepReports } from '../../../apps/worker/sweeps/sweep-reports.js'
import { afterVerdict } from '../../../db/capsule-runs/capsule-alerts.js'
import { backfillRuns, lockTeam, outcomeOfRun, startScheduledRun } from '../../../db/capsule-runs/scheduled-runs.js'
import {
  deleteSchedule,
  type GivenSchedule,
  loadSchedule,
  putSchedule
} from '../../../db/capsules/capsule-schedules.js'
import { newId } from '../../../db/ids.js'
import { loadSweeps } from '../../../db/service/sweeps.js'
import { capsuleAlertMails, capsuleRuns, capsuleSchedules, capsules } from '../../../db/tables/capsules.js'
import { webhookDeliveries, webhooks } from '../../../db/tables/teams.js'
import type { Verdict } from '../../../domain/verification/verdict.js'
import type { TemporalSchedules } from '../../../services/dispatch/schedule-copies.js'
import { addVerifiableCapsule, type VerifiableCapsule } from '../../support/capsules/verifiable-capsules.js'
import { eventually } from '../../support/eventually.js'
import { addPerson, type Person } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('scheduled-runs')
const { db } = database
afterAll(() => database.drop())

const hourly: GivenSchedule = {
  cron: '0 * * * *',
  timezone: 'UTC',
  paused: false,
  alertEmails: [],
  alertOn: ['different', 'drifted', 'failed']
}
/** Ids contain the creation time, so the clock is the real one. */
const at = new Date()
const due = (hour: number) => new Date(Date.UTC(2027, 4, 1, hour))

let owner: Person
let capsule: VerifiableCapsule
const put = (changes: Partial<GivenSchedule> = {}, id = capsule.id) =>
  db.transaction((tx) => putSchedule(tx, id, { ...hourly, ...changes }, owner.userId)).then(({ schedule }) => schedule)
const start = (hour: number, { id = capsule.id, version = 1, limit = 500 } = {}) =>
  startScheduledRun(db, { capsuleId: id, version, scheduledAt: due(hour) }, { at, limit })
const runs = (id = capsule.id) =>
  db.select().from(capsuleRuns).where(eq(capsuleRuns.capsuleId, id)).orderBy(capsuleRuns.id)

/** Stands for the end of its job and the verdict, which other tests cover. */
async function endRun(id: string, end: { verdict: Verdict } | { failed: string }): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`set local session_replication_role = replica`)
    await tx
      .update(capsuleRuns)
      .set({
        completedAt: new Date(),
        ...('verdict' in end ? { status: 'completed', verdict: end.verdict } : { status: 'failed', reason: end.failed })
      })
      .where(eq(capsuleRuns.id, id))
    await afterVerdict(tx, id)
  })
}

beforeEach(async () => {
  owner = await addPerson(db)
  capsule = await addVerifiableCapsule(db, owner)
})

describe('a due time of a schedule', () => {
  test('has one run, however often and concurrently it is started', async () => {
    await put()
    const answers = await Promise.all(Array.from({ length: 5 }, () => start(9)))
    const [run, ...others] = await runs()
    expect(others).toEqual([])
    expect(run).toMatchObject({
      mode: 'verify',
      trigger: 'schedule',
      status: 'pending',
      scheduledAt: due(9),
      userId: owner.userId
    })
    expect(answers).toEqual(answers.map(() => ({ next: 'await', runId: run!.id })))
  })

  test('is skipped while the previous run is open, and not afterwards', async () => {
    await put()
    const first = await start(8)
    expect(await start(9)).toMatchObject({ next: 'end', outcome: 'skipped' })
    await endRun((first as { runId: string }).runId, { verdict: 'exact' })
    expect(await start(10)).toMatchObject({ next: 'await' })
    expect(await runs()).toHaveLength(2)
  })

  test('has no run when the schedule was deleted, paused, or is no longer due then', async () => {
    expect(await start(9)).toMatchObject({ outcome: 'not due' })
    await put({ paused: true })
    expect(await start(9)).toMatchObject({ outcome: 'not due' })
    const { version } = await put({ cron: '30 * * * *' })
    // Temporal still has the first version, which was due on the hour.
    expect(await start(9, { version: version - 1 })).toMatchObject({ outcome: 'not due' })
    await db.transaction((tx) => deleteSchedule(tx, capsule.id))
    expect(await start(9, { version })).toMatchObject({ outcome: 'not due' })
    expect(await start(9, { id: newId() })).toMatchObject({ outcome: 'not due' })
    expect(await runs()).toEqual([])
  })

  test('has its run after a change of the addresses alone', async () => {
    await put()
    await put({ alertOn: [] })
    expect(await start(9, { version: 1 })).toMatchObject({ next: 'await' })
  })

  test('has no run when the capsule is archived', async () => {
    await put()
    await db.update(capsules).set({ state: 'archived' }).where(eq(capsules.id, capsule.id))
    expect(await start(9)).toMatchObject({ outcome: 'not due' })
  })
})

/** The sweep of a worker. */
function startSweep(copies: Partial<TemporalSchedules>) {
  const log = pino({ enabled: false })
  return startScheduleSweep({
    db,
    log,
    times: { lookMs: 10, compareMs: 60_000 },
    reports: createSweepReports(db, log, () => performance.now()),
    copies: { put: async () => null, remove: async () => {}, list: async () => new Map(), ...copies }
  })
}
const isApplied = async (id: string) => (await loadSchedule(db, id))!.appliedVersion === 1

test('a schedule that Temporal refuses blocks no other', async () => {
  const others = await Promise.all([1, 2].map(() => addVerifiableCapsule(db, owner)))
  const ids = [capsule, ...others].map(({ id }) => id)
  for (const id of ids) await put({}, id)
  const sweep = startSweep({
    put: async ({ capsuleId }) => {
      if (capsuleId === capsule.id) throw new Error('the engine is not itself')
      return null
    }
  })
  await eventually(async () => (await Promise.all(others.map(({ id }) => isApplied(id)))).every(Boolean))
  await sweep.close()
  expect(await isApplied(capsule.id)).toBe(false)
  for (const id of ids) await db.delete(capsuleSchedules).where(eq(capsuleSchedules.capsuleId, id))
})

test('the copies of all schedules are compared by one worker, and by another one when that is away', async () => {
  await db.execute(sql`delete from sweeps`)
  let lists = 0
  const list = async () => {
    lists++
    return new Map()
  }
  const compared = () => eventually(async () => (await loadSweeps(db)).some(({ name }) => name === 'schedules_in_full'))
  /** A worker that applies schedules, until it has applied this one. */
  async function worked(): Promise<void> {
    const { id } = await addVerifiableCapsule(db, owner)
    await put({}, id)
    const sweep = startSweep({ list })
    await eventually(() => isApplied(id))
    await compared()
    await sweep.close()
    await db.delete(capsuleSchedules).where(eq(capsuleSchedules.capsuleId, id))
  }
  await worked()
  await worked()
  expect(lists).toBe(1)
  await db.execute(sql`update sweeps set succeeded_at = succeeded_at - interval '5 minutes'`)
  const sweep = startSweep({ list })
  await eventually(() => lists === 2)
  await sweep.close()
})

describe('a run that cannot be created is recorded with its reason', () => {
  test('of a suspended team', async () => {
    await put()
    await db.execute(sql`update teams set suspended_at = now() where id = ${capsule.teamId}`)
    const answer = await start(9)
    expect(answer).toMatchObject({ next: 'end', outcome: 'refused' })
    expect(await runs()).toMatchObject([{ status: 'refused', reason: 'The team is suspended', scheduledAt: due(9) }])
    // A repeated call returns the same and records nothing more.
    expect(await start(9)).toEqual(answer)
    expect(await runs()).toHaveLength(1)
  })

  test('of a retired backend, without a job', async () => {
    const other = await addVerifiableCapsule(db, owner, { task: { backend: 'aer-mps' } })
    await put({}, other.id)
    const [before] = await db.execute(sql`select count(*)::int as jobs from jobs`)
    await db.execute(sql`update backends set is_retired = true where slug = 'aer-mps'`)
    expect(await start(9, { id: other.id })).toMatchObject({ outcome: 'refused' })
    await db.execute(sql`update backends set is_retired = false where slug = 'aer-mps'`)
    expect(await runs(other.id)).toMatchObject([{ status: 'refused', reason: expect.stringMatching(/retired/) }])
    expect(await db.execute(sql`select count(*)::int as jobs from jobs`)).toEqual([before])
  })

  test('beyond the limit of the team, exactly', async () => {
    const others = await Promise.all(
      [0, 1, 2, 3, 4].map(() => addVerifiableCapsule(db, owner, { teamId: capsule.teamId }))
    )
    for (const { id } of others) await put({}, id)
    const answers = await Promise.all(others.map(({ id }) => start(9, { id, limit: 3 })))
    expect(answers.map(({ next }) => next).sort()).toEqual(['await', 'await', 'await', 'end', 'end'])
    const [refused] = await db.select().from(capsuleRuns).where(sql`team_id = ${capsule.teamId} and status = 'refused'`)
    expect(refused!.reason).toMatch(/3 scheduled runs/)
  })
})

describe('a backfill', () => {
  const backfill = (hours: number[], limit = 500) =>
    db.transaction(async (tx) => {
      await lockTeam(tx, capsule.teamId)
      const [row] = await tx.select().from(capsules).where(eq(capsules.id, capsule.id))
      return backfillRuns(tx, {
        capsule: row!,
        times: hours.map(due),
        owner: { userId: owner.userId, keyId: null },
        actor: 'system',
        at,
        limit
      })
    })

  test('creates the missing and the refused runs', async () => {
    await put()
    await start(3)
    await db.execute(sql`update teams set suspended_at = now() where id = ${capsule.teamId}`)
    await endRun((await runs())[0]!.id, { verdict: 'exact' })
    await start(4)
    await db.execute(sql`update teams set suspended_at = null where id = ${capsule.teamId}`)
    const { made, passedOver } = await backfill([2, 3, 4, 5])
    expect(passedOver).toBe(1)
    expect(made.map(({ scheduledAt }) => scheduledAt)).toEqual([due(2), due(4), due(5)])
    // A backfilled run is not repeated, and not reported as refused.
    expect(await start(4)).toMatchObject({ next: 'await' })
    expect((await backfill([2, 3, 4, 5])).made).toEqual([])
    expect(await outcomeOfRun(db, made[0]!.runId)).toBeNull()
  })

  test('creates all of its runs or none', async () => {
    await put()
    await expect(backfill([1, 2, 3], 2)).rejects.toThrow(/These are 3 runs/)
    expect(await runs()).toEqual([])
  })
})

describe('a refused schedule', () => {
  const told = async () =>
    (await runs()).filter(({ alertedAt }) => alertedAt !== null).map(({ scheduledAt }) => scheduledAt)
  const suspend = (at: 'now()' | 'null') =>
    db.execute(sql`update teams set suspended_at = ${sql.raw(at)} where id = ${capsule.teamId}`)
  /** Moves everything into the past. */
  const age = (hours: number) =>
    db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`update capsule_runs set alerted_at = alerted_at - make_interval(hours => ${hours})
        where capsule_id = ${capsule.id}`)
    })

  test('sends an alert when refusals begin, not for each one, and again when they begin anew', async () => {
    await db.delete(capsuleAlertMails)
    await put({ alertEmails: [owner.email] })
    await suspend('now()')
    await start(1)
    await start(2)
    await age(25)
    await start(3)
    expect(await told()).toEqual([due(1)])
    expect((await db.select().from(capsuleAlertMails)).map(({ email }) => email)).toEqual([owner.email])
    await suspend('null')
    await endRun(((await start(4)) as { runId: string }).runId, { verdict: 'exact' })
    await suspend('now()')
    await start(5)
    expect(await told()).toEqual([due(1), due(5)])
    // Refusals that come and go are reported once a day.
    await suspend('null')
    await endRun(((await start(6)) as { runId: string }).runId, { verdict: 'exact' })
    await suspend('now()')
    await start(7)
    expect(await told()).toEqual([due(1), due(5)])
  })

  test('sends no alert when the schedule does not include failures, and hides no other alert', async () => {
    await put({ alertOn: ['different'] })
    await suspend('now()')
    await start(1)
    expect(await told()).toEqual([])
    await suspend('null')
    await put()
    const surprise = async (hour: number) => {
      const { runId } = (await start(hour, { version: 2 })) as { runId: string }
      await endRun(runId, { verdict: 'different' })
      const second = (await runs()).find(({ confirms }) => confirms === runId)
      if (second) await endRun(second.id, { verdict: 'different' })
    }
    await surprise(2)
    await suspend('now()')
    await start(3, { version: 2 })
    await suspend('null')
    await surprise(4)
    expect(await told()).toEqual([due(2), due(3)])
  })
})

describe('an unexpected verdict', () => {
  const firstRun = async (hour = 9): Promise<string> => ((await start(hour)) as { runId: string }).runId
  const confirmation = async (of: string) => (await runs()).find(({ confirms }) => confirms === of)!
  const mails = async () =>
    (await db.select({ email: capsuleAlertMails.email }).from(capsuleAlertMails)).map(({ email }) => email)
  const alerted = async (id: string) => (await runs()).find((run) => run.id === id)!.alertedAt

  beforeEach(async () => {
    await db.delete(capsuleAlertMails)
    await put({ alertEmails: [owner.email] })
  })

  test('is confirmed by one more run, and then reported', async () => {
    const webhookId = newId()
    const sealed = { ringKeyId: 'k', wrappedKey: Buffer.alloc(60), sealedSecret: Buffer.alloc(40) }
    await db.insert(webhooks).values({
      id: webhookId,
      teamId: capsule.teamId,
      url: 'https://hooks.example.org',
      events: ['capsule.verified'],
      ...sealed
    })
    const run = await firstRun()
    await endRun(run, { verdict: 'different' })
    const second = await confirmation(run)
    expect(second).toMatchObject({ trigger: 'confirmation', mode: 'verify', status: 'pending' })
    expect(await mails()).toEqual([])
    await endRun(second.id, { verdict: 'drifted' })
    expect(await mails()).toEqual([owner.email])
    expect(await alerted(run)).not.toBeNull()
    const told = await db.select().from(webhookDeliveries).where(eq(webhookDeliveries.webhookId, webhookId))
    expect(told.map(({ payload }) => JSON.parse(payload))).toMatchObject([
      { type: 'capsule.verified', data: { alert: true, outcome: 'drifted', confirmed: true, capsule_run_id: run } }
    ])
    // A repeated call, as after a crash of the caller, reports nothing more.
    await db.transaction((tx) => afterVerdict(tx, second.id))
    expect(await db.select().from(webhookDeliveries).where(eq(webhookDeliveries.webhookId, webhookId))).toHaveLength(1)
  })

  test('is not reported when the second run is good', async () => {
    const run = await firstRun()
    await endRun(run, { verdict: 'different' })
    await endRun((await confirmation(run)).id, { verdict: 'consistent' })
    expect(await mails()).toEqual([])
    expect(await alerted(run)).toBeNull()
  })

  test('is reported at once when the second run cannot be created', async () => {
    const run = await firstRun()
    await db.execute(sql`update teams set suspended_at = now() where id = ${capsule.teamId}`)
    await endRun(run, { verdict: 'different' })
    expect(await mails()).toEqual([owner.email])
  })

  test('is reported again after a day, or after a good verdict in between, and not before', async () => {
    const surprise = async (hour: number) => {
      const run = await firstRun(hour)
      await endRun(run, { verdict: 'different' })
      const second = await confirmation(run)
      if (second) await endRun(second.id, { verdict: 'different' })
      return alerted(run)
    }
    expect(await surprise(1)).not.toBeNull()
    expect(await surprise(2)).toBeNull()
    await endRun(await firstRun(3), { verdict: 'exact' })
    expect(await surprise(4)).not.toBeNull()
    await db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`update capsule_runs set alerted_at = alerted_at - interval '25 hours',
        completed_at = completed_at - interval '25 hours' where capsule_id = ${capsule.id}`)
    })
    expect(await surprise(5)).not.toBeNull()
  })

  test('of many runs that end at once is confirmed once and reported once', async () => {
    const hours = [1, 2, 3, 4, 5]
    await db.transaction(async (tx) => {
      const [row] = await tx.select().from(capsules).where(eq(capsules.id, capsule.id))
      await backfillRuns(tx, {
        capsule: row!,
        times: hours.map(due),
        owner: { userId: owner.userId, keyId: null },
        actor: 'system',
        at
      })
    })
    const many = await runs()
    await Promise.all(many.map(({ id }) => endRun(id, { verdict: 'different' })))
    const confirmations = (await runs()).filter(({ trigger }) => trigger === 'confirmation')
    expect(confirmations).toHaveLength(1)
    await endRun(confirmations[0]!.id, { verdict: 'different' })
    expect(await mails()).toEqual([owner.email])
    expect((await runs()).filter(({ alertedAt }) => alertedAt !== null)).toHaveLength(1)
  })

  test('includes a failed verification, and is not confirmed by a good second run', async () => {
    const run = await firstRun()
    await endRun(run, { failed: 'the backend is gone' })
    await endRun((await confirmation(run)).id, { failed: 'the backend is gone' })
    expect(await mails()).toEqual([owner.email])
  })

  test('is reported unconfirmed when the second run has no verdict', async () => {
    await put({ alertEmails: [owner.email], alertOn: ['different'] })
    const run = await firstRun()
    await endRun(run, { verdict: 'different' })
    await endRun((await confirmation(run)).id, { failed: 'the backend is gone' })
    expect(await mails()).toEqual([owner.email])
    expect(await alerted(run)).not.toBeNull()
  })

  test('of a requested run, or one that the schedule does not include, is not reported', async () => {
    await put({ alertEmails: [owner.email], alertOn: ['failed'] })
    const run = await firstRun()
    await endRun(run, { verdict: 'different' })
    expect(await runs()).toHaveLength(1)
  })

  test('is not mailed to former members of the team', async () => {
    const run = await firstRun()
    await endRun(run, { verdict: 'different' })
    const second = await confirmation(run)
    await db.execute(sql`update members set role = 'member' where user_id = ${owner.userId}`)
    await db.execute(sql`delete from members where user_id = ${owner.userId}`)
    await endRun(second.id, { verdict: 'different' })
    expect(await mails()).toEqual([])
    expect(await alerted(run)).not.toBeNull()
  })
})
