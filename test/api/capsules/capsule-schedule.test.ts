// Schedules of capsules at the API: who may set which, and what is recorded. Temporal takes no part.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import { loadSchedule } from '../../../db/capsules/capsule-schedules.js'
import { auditEntries } from '../../../db/tables/audit.js'
import { capsuleRuns } from '../../../db/tables/capsules.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { addFinishedJob, energyResult, finishJob } from '../../support/capsules/capsule-rows.js'
import { addPastRuns } from '../../support/capsules/past-runs.js'
import { addVerifiableCapsule, type VerifiableCapsule } from '../../support/capsules/verifiable-capsules.js'
import { submission } from '../../support/jobs/builders.js'

let now = new Date('2027-05-01T10:00:30Z')
const api = await startApi('capsule_schedule', { now: () => now })
afterAll(() => api.close())
const { db } = api.database

let owner: TestUser & { teamId: string }
let member: TestUser
let capsule: VerifiableCapsule
let path: string
const person = (user: TestUser) => ({ userId: user.id, email: user.email })
const put = (body: Record<string, unknown>, user: TestUser = owner, at = path) => user.ask('PUT', at, body)

beforeAll(async () => {
  owner = await api.signUpWithTeam()
  member = await api.signUp()
  await db.execute(sql`insert into members (team_id, user_id, role) values (${owner.teamId}, ${member.id}, 'member')`)
  capsule = await addVerifiableCapsule(db, person(owner), { teamId: owner.teamId })
  path = `/api/capsules/${capsule.id}/schedule`
})

test('a schedule is set, shown, replaced and ended, and each change is in the audit trail', async () => {
  expect((await owner.get(path)).status).toBe(404)
  const first = await put({
    cron: '0 3 * * *',
    timezone: 'europe/berlin',
    alert: { emails: [member.email.toUpperCase()] }
  })
  expect([first.status, first.body]).toEqual([
    200,
    {
      capsule_id: capsule.id,
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      paused: false,
      alert: { emails: [member.email], on: ['different', 'drifted', 'failed', 'not_testable'] },
      next_runs: [2, 3, 4, 5, 6].map((day) => `2027-05-0${day}T01:00:00.000Z`),
      last_run: null,
      engine: { state: 'pending', reason: null },
      created_at: expect.any(String),
      updated_at: expect.any(String)
    }
  ])
  expect((await member.get(path)).body).toEqual(first.body)
  const record = (await member.get(`/api/capsules/${capsule.id}`)).body
  expect(record.schedule).toMatchObject({ cron: '0 3 * * *', timezone: 'Europe/Berlin' })

  const second = await put({ cron: '@hourly', paused: true, alert: { on: ['failed', 'failed'] } })
  expect(second.body).toMatchObject({
    timezone: 'UTC',
    paused: true,
    alert: { emails: [], on: ['failed'] },
    next_runs: []
  })
  expect((await loadSchedule(db, capsule.id))!.version).toBe(2)

  expect((await owner.ask('DELETE', path)).body).toEqual({ success: true })
  expect((await owner.ask('DELETE', path)).status).toBe(404)
  expect((await owner.get(path)).status).toBe(404)
  expect((await owner.get(`/api/capsules/${capsule.id}`)).body.schedule).toBeNull()
  const third = await put({ cron: '@daily' })
  expect([third.status, third.body.engine.state]).toEqual([200, 'pending'])

  const entries = await db
    .select()
    .from(auditEntries)
    .where(eq(auditEntries.capsuleId, capsule.id))
    .orderBy(auditEntries.seq)
  const told = entries.filter(({ action }) => action.startsWith('capsule.schedule'))
  expect(told.map(({ action }) => action)).toEqual([
    'capsule.schedule.changed',
    'capsule.schedule.changed',
    'capsule.schedule.deleted',
    'capsule.schedule.changed'
  ])
  expect(JSON.parse(told[0]!.metadata)).toMatchObject({ cron: '0 3 * * *', alert_users: [member.id], made: true })
  expect(JSON.stringify(entries)).not.toContain('@example.org')
})

test.each([
  [{ cron: '0 0 * *' }, /cron: five fields/],
  [{ cron: '61 * * * *' }, /cron: .*61/],
  [{ cron: '0 0 30 2 *' }, /cron/],
  [{ cron: '0 0 * * *', timezone: '+02:00' }, /timezone: "\+02:00" is not a time zone/],
  [
    { cron: '0 0 * * *', alert: { emails: ['stranger@example.org'] } },
    /alert.emails: "stranger@example.org" is not the address of a member/
  ],
  [{ cron: '0 0 * * *', alert: { on: ['exact'] } }, /alert/],
  [{ timezone: 'UTC' }, /cron/],
  [{ cron: '0 0 * * *', every: 5 }, /every/]
])('%j is refused, and nothing changes', async (body, message) => {
  const before = await loadSchedule(db, capsule.id)
  const answer = await put(body)
  expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(message)])
  expect(await loadSchedule(db, capsule.id)).toEqual(before)
})

test('only a sealed capsule that was made from a job can have a schedule', async () => {
  const runnable = await addVerifiableCapsule(db, person(owner), { teamId: owner.teamId, sealed: false })
  const refused = await put({ cron: '@daily' }, owner, `/api/capsules/${runnable.id}/schedule`)
  expect([refused.status, refused.body.error]).toEqual([403, expect.stringMatching(/This capsule is runnable/)])
  await db.transaction(async (tx) => {
    await tx.execute(sql`set local session_replication_role = replica`)
    await tx.execute(sql`update capsules set source_job_id = null, state = 'sealed' where id = ${runnable.id}`)
  })
  const unmade = await put({ cron: '@daily' }, owner, `/api/capsules/${runnable.id}/schedule`)
  expect([unmade.status, unmade.body.error]).toEqual([400, expect.stringMatching(/made from a job/)])
})

test('a sealed value without counts can be scheduled only if a seed fixed it', async () => {
  const scheduled = async (seed: number | null) => {
    const jobId = await owner.submit(submission())
    await finishJob(db, jobId, energyResult(seed))
    const { capsule_id: id } = (await owner.post('/api/capsules/from-job', { job_id: jobId, seal: true })).body
    const { status, body } = await put({ cron: '@daily' }, owner, `/api/capsules/${id}/schedule`)
    return [status, body.error, (await owner.get(`/api/capsules/${id}`)).body.can.schedule]
  }
  expect(await scheduled(7)).toEqual([200, undefined, true])
  const reason = expect.stringMatching(
    /^A schedule would learn nothing\. .* nothing fixed the randomness of the sealed run; a seed in the parameters would fix it$/
  )
  expect(await scheduled(null)).toEqual([409, reason, reason])
})

test('a member who owns neither the capsule nor the team cannot set its schedule', async () => {
  expect((await put({ cron: '@daily' }, member)).status).toBe(403)
  expect((await member.ask('DELETE', path)).status).toBe(403)
})

describe('a key of the capsule’s owner', () => {
  const asKey = async (more: Record<string, unknown>) => {
    const { body } = await owner.post('/api/team/api-keys', { team_id: owner.teamId, name: 'k', kind: 'live', ...more })
    return { authorization: `Bearer ${body.key}` }
  }

  test('sets and ends its schedule on behalf of the owner', async () => {
    const key = await asKey({ tier: 'simulate' })
    expect((await api.ask('PUT', path, { cron: '@daily' }, key)).status).toBe(200)
    expect((await loadSchedule(db, capsule.id))!.createdBy).toBe(owner.id)
    expect((await api.ask('DELETE', path, undefined, key)).status).toBe(200)
    expect((await put({ cron: '@daily' })).status).toBe(200)
    expect((await api.ask('GET', path, undefined, await asKey({ tier: 'read' }))).status).toBe(200)
    expect((await api.ask('DELETE', path, undefined, await asKey({ tier: 'read' }))).status).toBe(403)
  })

  test('cannot schedule runs that exceed its own limits', async () => {
    const paid = await addVerifiableCapsule(db, person(owner), {
      teamId: owner.teamId,
      task: { backend: 'aer-statevector' }
    })
    const price = (micro: number) =>
      db.execute(sql`update backends set task_fee_micro = ${micro} where slug = 'aer-statevector'`)
    await price(1_000_000)
    const at = `/api/capsules/${paid.id}/schedule`
    const answers = []
    for (const more of [
      { tier: 'simulate' },
      { tier: 'qpu', kind: 'test' },
      { tier: 'qpu', daily_limit_usd: 5 },
      { tier: 'qpu' }
    ]) {
      const { status, body } = await api.ask('PUT', at, { cron: '* * * * *' }, await asKey(more))
      answers.push([status, status === 200 ? '' : (body.error.message ?? body.error)])
    }
    expect(answers).toEqual([
      [403, expect.stringMatching(/tier qpu/)],
      [403, expect.stringMatching(/test key/)],
      [403, expect.stringMatching(/do not count against the daily limit/)],
      [200, '']
    ])
    // Back-filled runs belong to the key itself.
    const minute = (ago: number) => new Date(Math.floor(now.getTime() / 60_000 - ago) * 60_000).toISOString()
    const range = { from: minute(2), to: minute(1) }
    expect((await api.ask('POST', `${at}/backfill`, range, await asKey({ tier: 'simulate' }))).status).toBe(403)
    const limited = await asKey({ tier: 'qpu', daily_limit_usd: 0.5 })
    const over = await api.ask('POST', `${at}/backfill`, range, limited)
    await price(0)
    expect([over.status, JSON.stringify(over.body)]).toEqual([402, expect.stringMatching(/key/)])
  })
})

test('archiving ends the schedule', async () => {
  const jobId = await addFinishedJob(db, person(owner), { submission: { teamId: owner.teamId } })
  const made = await owner.post('/api/capsules/from-job', { job_id: jobId, seal: true })
  expect([made.status, made.text]).toEqual([201, expect.any(String)])
  const id = made.body.capsule_id
  expect((await put({ cron: '@daily' }, owner, `/api/capsules/${id}/schedule`)).status).toBe(200)
  expect((await owner.post(`/api/capsules/${id}/archive`)).status).toBe(200)
  expect((await owner.get(`/api/capsules/${id}/schedule`)).status).toBe(404)
})

describe('a back-fill', () => {
  const backfill = (from: string, to: string) => owner.post(`${path}/backfill`, { from, to })
  const runs = () => db.select().from(capsuleRuns).where(eq(capsuleRuns.capsuleId, capsule.id))

  test('creates each run that the schedule would have created, once', async () => {
    // Ids contain the time of creation, so this test uses the real clock.
    now = new Date()
    const hour = (ago: number) => new Date(Math.floor(now.getTime() / 3_600_000 - ago) * 3_600_000).toISOString()
    await put({ cron: '0 * * * *' })
    const answer = await backfill(hour(5), hour(3))
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        count: 3,
        passed_over: 0,
        runs: [5, 4, 3].map((ago) => ({ capsule_run_id: expect.any(String), scheduled_at: hour(ago) }))
      }
    ])
    expect((await backfill(hour(6), hour(3))).body).toMatchObject({ count: 1, passed_over: 3 })
    expect(await runs()).toHaveLength(4)
    expect(
      (await runs()).every(
        ({ trigger, status, userId }) => trigger === 'backfill' && status === 'pending' && userId === owner.id
      )
    ).toBe(true)
    const jobs = await db.execute(sql`select count(*)::int as jobs from jobs where capsule_id = ${capsule.id}`)
    expect([...jobs]).toEqual([{ jobs: 4 }])
  })

  test.each([
    ['2026-13-01T00:00:00Z', '2026-01-01T00:00:00Z', /from/],
    ['2026-10-02T00:00:00Z', '2026-10-01T00:00:00Z', /from: must not be later/],
    ['2020-10-02T00:00:00Z', '2026-10-01T00:00:00Z', /from: must not be longer ago/],
    ['2026-10-02T00:00:00Z', '2199-10-01T00:00:00Z', /to: must not be in the future/]
  ])('from %s to %s is refused', async (from, to, message) => {
    const answer = await backfill(from, to)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(message)])
  })

  test('of more than a hundred times is refused with the time of the hundredth', async () => {
    now = new Date()
    const ago = (hours: number) => new Date(now.getTime() - hours * 3_600_000).toISOString()
    const answer = await backfill(ago(150), ago(0))
    expect([answer.status, answer.body.error]).toEqual([
      400,
      expect.stringMatching(/more than 100 times.*the 100th at 20/)
    ])
  })

  test('beyond a budget creates no run', async () => {
    const paid = await addVerifiableCapsule(db, person(owner), {
      teamId: owner.teamId,
      maxBudget: 1n,
      task: { backend: 'aer-statevector' }
    })
    await db.execute(sql`update backends set task_fee_micro = 1000000 where slug = 'aer-statevector'`)
    const of = `/api/capsules/${paid.id}/schedule`
    expect((await put({ cron: '0 * * * *' }, owner, of)).status).toBe(200)
    now = new Date()
    const range = { from: new Date(now.getTime() - 4 * 3_600_000).toISOString(), to: now.toISOString() }
    const answer = await owner.post(`${of}/backfill`, range)
    await db.execute(sql`update backends set task_fee_micro = 0 where slug = 'aer-statevector'`)
    expect(answer.status).toBe(402)
    expect(await db.select().from(capsuleRuns).where(eq(capsuleRuns.capsuleId, paid.id))).toEqual([])
  })
})

test('the list of capsules shows the last verdict, the schedule and the open runs of each', async () => {
  const listed = async (id: string) =>
    (await owner.get(`/api/capsules?team_id=${owner.teamId}`)).body.capsules.find(
      (item: { id: string }) => item.id === id
    )
  const made = await addVerifiableCapsule(db, person(owner), { teamId: owner.teamId })
  expect(await listed(made.id)).toMatchObject({ last_verification: null, schedule: null, runs_under_way: 0 })
  now = new Date('2027-05-01T10:00:30Z')
  await put({ cron: '0 3 * * *', timezone: 'Europe/Berlin' }, owner, `/api/capsules/${made.id}/schedule`)
  await addPastRuns(
    db,
    made.id,
    sql`values ('pending', null, null, null, 'request'), ('judging', null, null, null, 'request'),
      ('completed', 'different', '2027-04-30T01:02:03Z', null, 'request')`
  )
  expect(await listed(made.id)).toMatchObject({
    last_verification: { verdict: 'different', completed_at: '2027-04-30T01:02:03.000Z' },
    schedule: {
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      paused: false,
      next_run_at: '2027-05-02T01:00:00.000Z',
      engine: { state: 'pending', reason: null }
    },
    runs_under_way: 2
  })
  await owner.ask('DELETE', `/api/capsules/${made.id}/schedule`)
  expect(await listed(made.id)).toMatchObject({ schedule: null })
})

test('a preview of a schedule shows the next five times, or the fault in the words of the refusal', async () => {
  now = new Date('2027-03-27T10:00:30Z')
  const preview = async (query: string) => (await member.get(`/api/schedules/preview?${query}`)).body
  // 02:30 does not exist on the 28th.
  expect(await preview('cron=30 2 * * *&timezone=Europe/Berlin')).toEqual({
    next_runs: [29, 30, 31]
      .map((day) => `2027-03-${day}T00:30:00.000Z`)
      .concat('2027-04-01T00:30:00.000Z', '2027-04-02T00:30:00.000Z'),
    due: null,
    fault: null
  })
  const range = 'from=2027-03-20T00:00:00Z&to=2027-03-20T12:00:00Z'
  expect((await preview(`cron=@hourly&${range}`)).due).toEqual({ count: 13, capped: false })
  expect((await preview(`cron=* * * * *&${range}`)).due).toEqual({ count: 100, capped: true })
  expect((await preview(`cron=@hourly&from=2028-03-20T00:00:00Z&to=2028-03-21T00:00:00Z`)).fault).toMatch(
    /^to: must not be in the future/
  )
  for (const body of [{ cron: '61 * * * *' }, { cron: '0 0 30 2 *' }, { cron: '@daily', timezone: 'Mars/Base' }]) {
    const query = new URLSearchParams(body as Record<string, string>).toString()
    const refusal = await put(body)
    expect(refusal.status).toBe(400)
    expect(await preview(query)).toEqual({ next_runs: [], due: null, fault: refusal.body.error })
  }
})

test('the verifications of a capsule show the drift of its distance', async () => {
  const other = await addVerifiableCapsule(db, person(owner), { teamId: owner.teamId })
  const empty = await member.get(`/api/capsules/${other.id}/verifications`)
  expect(empty.body).toEqual({ verifications: [], drift: null, total: 0, limit: 100, offset: 0 })
  const ids: string[] = []
  for (const [at, tvd] of [0.01, 0.03, 0.05].entries()) {
    const run = await owner.post(`/api/capsules/${other.id}/run`, { mode: 'verify' })
    expect(run.status).toBe(201)
    ids.push(run.body.capsule_run_id)
    await db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx
        .update(capsuleRuns)
        .set({
          status: 'completed',
          verdict: 'consistent',
          verification: { tvd, tvd_upper: tvd + 0.02, margin: 0.1, p_values: { combined: at === 1 ? null : 0.5 } },
          completedAt: new Date(Date.UTC(2026, 0, 1 + 30 * at))
        })
        .where(eq(capsuleRuns.id, run.body.capsule_run_id))
    })
  }
  const { body } = await member.get(`/api/capsules/${other.id}/verifications`)
  expect(body.verifications.map((one: { capsule_run_id: string }) => one.capsule_run_id)).toEqual(ids.reverse())
  expect(body.verifications[1]).toEqual({
    capsule_run_id: ids[1],
    trigger: 'request',
    scheduled_at: null,
    completed_at: '2026-01-31T00:00:00.000Z',
    verdict: 'consistent',
    tvd: 0.03,
    tvd_upper: 0.05,
    margin: 0.1,
    p_value: null,
    alerted_at: null
  })
  expect(body.drift).toMatchObject({ points: 3, min: 0.01, max: 0.05 })
  expect(body.drift.per_30_days).toBeCloseTo(0.02, 9)
})
