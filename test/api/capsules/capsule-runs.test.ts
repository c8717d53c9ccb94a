// Requests for capsule runs: what they create, what is refused before anything is created, and what a run shows.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { changeBackend } from '../../../db/backends/backends.js'
import { changeTeamBudget } from '../../../db/money/budget.js'
import { proveAll, proveRecent } from '../../../db/proofs/money-proof.js'
import { createApiKey } from '../../../db/teams/api-keys.js'
import type { KeyTier } from '../../../domain/teams/api-key.js'
import { rateLimits } from '../../../domain/teams/rate-limits.js'
import { type ApiResponse, startApi, type TestUser } from '../../support/api/api.js'
import { finishJob } from '../../support/capsules/capsule-rows.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'
import { usd } from '../../support/jobs/money-rows.js'

const api = await startApi('capsule_runs')
const limited = await startApi('capsule_runs_limited', {
  limits: { ...rateLimits, submit: { ...rateLimits.submit, max: 1000 } }
})
const { db } = api.database
afterAll(async () => {
  await limited.close()
  await api.close()
})

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const nobody = '01900000-0000-7000-8000-000000000000'
/** A simulator that costs 1 USD per job in these tests. */
const paid = 'aer-statevector'

type Member = TestUser & { teamId: string }
let ada: Member
beforeAll(async () => {
  await changeBackend(db, paid, { pricing: { taskFee: usd(1), perShot: 0n, minimumCost: usd(1) } })
})
beforeEach(async () => {
  ada = await api.signUpWithTeam()
})

async function capsuleOfJob(user: TestUser, changes: Record<string, unknown> = {}, on = api): Promise<string> {
  const jobId = await user.submit(submission(changes))
  await finishJob(on.database.db, jobId)
  const answer = await user.post('/api/capsules/from-job', { job_id: jobId })
  return answer.body.capsule_id
}

const task = (name: string, changes: Record<string, unknown> = {}) => ({
  name,
  inline_code: bellQasm3(),
  framework: 'openqasm',
  backend: 'local',
  parameters: { shots: 10 },
  ...changes
})

async function suite(user: TestUser, tasks: object[], more: object = {}): Promise<string> {
  const answer = await user.post('/api/capsules/create', { name: 'Suite', workflow: { tasks }, ...more })
  if (answer.status !== 201) throw new Error(`create answered ${answer.status}: ${answer.text}`)
  return answer.body.capsule_id
}

const run = (user: TestUser, id: string, body: object = { mode: 'template' }) =>
  user.post(`/api/capsules/${id}/run`, body)
const runs = async (user: TestUser, id: string) => (await user.get(`/api/capsules/${id}/runs`)).body
const jobOf = async (user: TestUser, id: string) => (await user.get(`/api/jobs/${id}`)).body
const errorOf = ({ status, body }: ApiResponse) => [status, body.error]

async function keyOf(user: Member, tier: KeyTier, dailyLimit: bigint | null = null, kind: 'live' | 'test' = 'live') {
  const { key } = await createApiKey(db, {
    teamId: user.teamId,
    createdBy: user.id,
    name: 'k',
    tier,
    kind,
    dailyLimit,
    expiresAt: null
  })
  return { authorization: `Bearer ${key}` }
}

const rowsOf = async (capsuleId: string) =>
  (
    await db.execute(sql`select
      (select count(*)::int from capsule_runs where capsule_id = ${capsuleId}) as runs,
      (select count(*)::int from jobs where capsule_id = ${capsuleId} and capsule_run_id is not null) as jobs,
      (select count(*)::int from audit_entries where capsule_id = ${capsuleId} and action = 'capsule.run') as told,
      (select coalesce(sum(reserved_micro), 0)::int from capsule_budgets where capsule_id = ${capsuleId}) as reserved`)
  )[0]

describe('a verification', () => {
  test('is a new job with the program, parameters and backend of the first', async () => {
    const capsule = await capsuleOfJob(ada, { params: { shots: 77, seed: 5, mine: [1, 'x'] } })
    const answer = await run(ada, capsule, { mode: 'verify' })
    expect([answer.status, answer.body]).toEqual([201, { job_id: uuid, capsule_run_id: uuid }])
    const job = await jobOf(ada, answer.body.job_id)
    expect(job).toMatchObject({
      capsule_id: capsule,
      capsule_run_id: answer.body.capsule_run_id,
      status: 'pending',
      source: { kind: 'capsule' },
      params: { shots: 77, seed: 5, mine: [1, 'x'] },
      backend: 'local'
    })
    expect((await ada.get(`/api/jobs/${job.id}/source`)).text).toBe(bellQasm3())
    expect(await runs(ada, capsule)).toMatchObject({
      runs: [
        {
          id: answer.body.capsule_run_id,
          capsule_id: capsule,
          mode: 'verify',
          trigger: 'request',
          user_id: ada.id,
          status: 'pending',
          reason: null,
          job_ids: [job.id],
          tasks: [{ name: 'main', job_id: job.id, status: 'pending', backend: 'local', shots: 77 }],
          verdict: null,
          verification: null,
          scheduled_at: null,
          completed_at: null
        }
      ],
      total: 1
    })
    // Newest first; the last is the job that the capsule was made from.
    expect((await ada.get(`/api/jobs?capsule_id=${capsule}`)).body.jobs).toMatchObject([
      { id: job.id },
      { capsule_run_id: null }
    ])
  })

  test.each([
    [{ mode: 'verify', params: {} }, 'params: a verification runs with identical parameters'],
    [{ mode: 'verify', backend: 'local' }, 'backend: a verification runs with identical parameters'],
    [{}, 'mode: is required'],
    [{ mode: 'again' }, 'mode: must be one of verify, template'],
    [{ mode: 'template', shots: 0 }, 'shots: must be an integer from 1 to 100000 (got 0)'],
    [{ mode: 'template', shot: 5 }, 'shot: is not a field of this request'],
    [{ mode: 'template', shots: 5, params: { shots: 6 } }, 'shots: 5 and params.shots differ'],
    [{ mode: 'template', params: { seed: 'x' } }, 'params.seed: must be'],
    [{ mode: 'template', backend: 'nothing' }, 'no backend is called "nothing"'],
    [
      { mode: 'template', params: { noise_model: { gate_errors: {} } } },
      'params.noise_model: local runs without noise'
    ],
    [{ mode: 'template', params: { x: { $result: 'other' } } }, 'no task is called "other"'],
    [{ mode: 'template', params: { x: { $result: 'main' } } }, 'circle: main needs main']
  ])('%j is refused: %s', async (body, message) => {
    const capsule = await capsuleOfJob(ada)
    expect(errorOf(await run(ada, capsule, body))).toEqual([400, expect.stringContaining(message)])
    expect(await rowsOf(capsule)).toEqual({ runs: 0, jobs: 0, told: 0, reserved: 0 })
  })

  test('is refused for a capsule without a result to compare with', async () => {
    const capsule = await suite(ada, [task('one')])
    expect(errorOf(await run(ada, capsule, { mode: 'verify' }))).toEqual([
      400,
      expect.stringContaining('only a capsule that was made from a job can be verified')
    ])
    const { body } = await ada.post('/api/capsules/create', { name: 'empty' })
    expect(errorOf(await run(ada, body.capsule_id))).toEqual([400, expect.stringContaining('no tasks')])
  })

  test('can have more shots than the original', async () => {
    const capsule = await capsuleOfJob(ada, { params: { shots: 10 } })
    const { body } = await run(ada, capsule, { mode: 'verify', shots: 5_000, execution_mode: 'temporal' })
    expect(await jobOf(ada, body.job_id)).toMatchObject({ params: { shots: 5_000 }, execution_mode: 'temporal' })
  })

  test("preserves integers beyond JavaScript's range", async () => {
    const capsule = await capsuleOfJob(ada)
    const big = 10n ** 25n
    const text = `{"big":${big},"shots":10}`
    await db.execute(sql`update capsules set definition = replace(definition, '"parameters":', ${`"parameters_text":${JSON.stringify(text)},"parameters":`})
      where id = ${await unguarded(capsule)}`)
    const same = await run(ada, capsule, { mode: 'verify' })
    expect((await ada.get(`/api/jobs/${same.body.job_id}`)).text).toContain(`"params":${text}`)
    const other = await run(ada, capsule, { mode: 'template', params: { x: 1 }, shots: 20 })
    expect((await ada.get(`/api/jobs/${other.body.job_id}`)).text).toContain(`"params":{"big":${big},"shots":20,"x":1}`)
    expect((await ada.get(`/api/jobs?capsule_id=${capsule}`)).text).toContain(`"big":${big}`)
    const again = await ada.post(`/api/jobs/${other.body.job_id}/rerun`)
    expect((await ada.get(`/api/jobs/${again.body.job_id}`)).text).toContain(`"big":${big}`)
  })
})

/** Writes rows that the triggers of the database would refuse. */
async function unguarded(capsule: string): Promise<string> {
  await db.execute(sql`alter table capsules disable trigger capsules_guard`)
  return capsule
}

describe('a suite', () => {
  test('is one job per task, all created at once; all but the first wait and give the reason', async () => {
    const capsule = await suite(ada, [
      task('last', { parameters: { shots: 10, x: { $result: 'first', path: '/counts' } } }),
      task('first'),
      task('second')
    ])
    const answer = await run(ada, capsule)
    const [record] = (await runs(ada, capsule)).runs
    expect(record.tasks.map(({ name }: { name: string }) => name)).toEqual(['first', 'last', 'second'])
    expect(answer.body.job_id).toBe(record.job_ids[0])
    const jobs = await Promise.all(record.job_ids.map((id: string) => jobOf(ada, id)))
    expect(jobs.map(({ name, queue }) => [name, queue.reason])).toEqual([
      ['Run of Suite: first', 'waiting_for_worker'],
      ['Run of Suite: last', 'earlier_task'],
      ['Run of Suite: second', 'earlier_task']
    ])
    expect(errorOf(await ada.post(`/api/jobs/${record.job_ids[1]}/rerun`))).toEqual([
      409,
      expect.stringContaining('name results of first')
    ])
  })

  test('applies other parameters and shots to every task', async () => {
    const capsule = await suite(ada, [task('one'), task('two', { parameters: { shots: 20, x: 1 } })])
    await run(ada, capsule)
    await run(ada, capsule, { mode: 'template', params: { y: 2 }, shots: 30 })
    const [changed, own] = (await runs(ada, capsule)).runs
    expect(own.definition_sha256).toBe((await ada.get(`/api/capsules/${capsule}`)).body.definition_sha256)
    expect(changed.definition_sha256).not.toBe(own.definition_sha256)
    const jobs = await Promise.all(changed.job_ids.map((id: string) => jobOf(ada, id)))
    expect(jobs.map(({ params }) => params)).toEqual([
      { shots: 30, y: 2 },
      { shots: 30, x: 1, y: 2 }
    ])
  })

  test('runs the programs that it was created with, even if the scripts have changed', async () => {
    const made = await ada.post('/api/scripts/upload', { name: 'Bell', script_content: bellQasm3() })
    const scriptId = made.body.script_id
    const capsule = await suite(ada, [
      { name: 'main', script_id: scriptId, backend: 'local', parameters: { shots: 1 } }
    ])
    await ada.ask('PATCH', `/api/scripts/${scriptId}`, { script_content: `${bellQasm3()}// another\n` })
    await ada.ask('DELETE', `/api/scripts/${scriptId}`)
    const { body } = await run(ada, capsule)
    expect((await ada.get(`/api/jobs/${body.job_id}/source`)).text).toBe(bellQasm3())
    expect(await jobOf(ada, body.job_id)).toMatchObject({ script_id: scriptId, source: { script_version: 1 } })
  })

  test('is refused as a whole when one of its tasks cannot run, which is named', async () => {
    const capsule = await suite(ada, [task('one'), task('two', { backend: 'aer-noisy' })])
    await changeBackend(db, 'aer-noisy', { status: 'offline' })
    const answer = await run(ada, capsule)
    await changeBackend(db, 'aer-noisy', { status: 'online' })
    expect(errorOf(answer)).toEqual([400, expect.stringContaining('task "two": backend: aer-noisy is offline')])
    expect(await rowsOf(capsule)).toEqual({ runs: 0, jobs: 0, told: 0, reserved: 0 })
  })
})

describe('the budget', () => {
  const paidSuite = (user: TestUser, tasks: number, more: object = {}) =>
    suite(
      user,
      Array.from({ length: tasks }, (_, at) => task(`t${at}`, { backend: paid })),
      more
    )

  test.each([
    ['job', { perJob: usd(0.5) }, {}, "the team's limit per job", { estimated_cost: 1, budget: 0.5 }],
    ['suite', { perSuite: usd(2) }, {}, "the team's limit per suite", { estimated_cost: 3, budget: 2 }],
    ['capsule', {}, { max_budget_usd: 2.5 }, "the capsule's max_budget_usd", { estimated_cost: 3, budget: 2.5 }],
    ['day', { daily: usd(2) }, {}, "the team's daily budget", { estimated_cost: 3, budget: 2 }],
    ['month', { monthly: usd(2) }, {}, "the team's monthly budget", { estimated_cost: 3, budget: 2 }]
  ])('refuses a run as a whole at the limit per %s, with the figures', async (_, limits, more, named, figures) => {
    await changeTeamBudget(db, ada.teamId, limits)
    const capsule = await paidSuite(ada, 3, more)
    const answer = await run(ada, capsule)
    expect(errorOf(answer)).toEqual([402, expect.stringContaining(named)])
    expect(answer.body).toMatchObject({ ...figures, current_spend: 0, remaining_budget: figures.budget })
    expect(await rowsOf(capsule)).toEqual({ runs: 0, jobs: 0, told: 0, reserved: 0 })
  })

  test('of a capsule is never exceeded, over all its runs and with many at once', async () => {
    const capsule = await paidSuite(ada, 2, { max_budget_usd: 5 })
    const answers = await Promise.all(Array.from({ length: 6 }, () => run(ada, capsule)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 402, 402, 402, 402])
    expect(answers.find(({ status }) => status === 402)!.body).toMatchObject({
      current_spend: 4,
      remaining_budget: 1,
      estimated_cost: 2
    })
    expect((await ada.get(`/api/capsules/${capsule}`)).body).toMatchObject({ spent_usd: 0, reserved_usd: 4 })
    const [first, second] = (await runs(ada, capsule)).runs
    await finishJob(db, first.job_ids[0])
    for (const id of second.job_ids) await ada.post(`/api/jobs/${id}/cancel`)
    expect((await ada.get(`/api/capsules/${capsule}`)).body).toMatchObject({ spent_usd: 1, reserved_usd: 1 })
    expect((await run(ada, capsule)).status).toBe(201)
    expect([...(await proveRecent(db))!, ...(await proveAll(db))!]).toEqual([])
  })

  test('of a key is its own daily limit, and a key also needs the tier for the backend', async () => {
    const capsule = await paidSuite(ada, 2)
    const asKey = async (headers: Record<string, string>) =>
      api.ask('POST', `/api/capsules/${capsule}/run`, { mode: 'template' }, headers)
    const tooLow = await asKey(await keyOf(ada, 'simulate'))
    expect([tooLow.status, tooLow.body.error.message]).toEqual([403, expect.stringContaining('tier qpu')])
    const unpaid = await asKey(await keyOf(ada, 'qpu', null, 'test'))
    expect([unpaid.status, unpaid.body.error.message]).toEqual([403, expect.stringContaining('test key')])
    const poor = await asKey(await keyOf(ada, 'qpu', usd(1.5)))
    expect([poor.status, poor.body.error.code]).toEqual([402, 'spend_limit_exceeded'])
    const answer = await asKey(await keyOf(ada, 'qpu', usd(2)))
    expect(answer.status).toBe(201)
    expect(await rowsOf(capsule)).toMatchObject({ runs: 1, jobs: 2, reserved: 2_000_000 })
  })
})

describe('requests for runs:', () => {
  test('a run counts as one job of the daily limit per task, and as none when it is refused', async () => {
    const eve = await limited.signUpWithTeam()
    const capsule = await suite(
      eve,
      Array.from({ length: 30 }, (_, at) => task(`t${at}`))
    )
    // One job was submitted already: 99 are left.
    for (let n = 0; n < 5; n++) expect((await run(eve, capsule, { mode: 'verify' })).status).toBe(400)
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) statuses.push((await run(eve, capsule)).status)
    expect(statuses).toEqual([201, 201, 201, 429])
    const nine = await suite(
      eve,
      Array.from({ length: 9 }, (_, at) => task(`t${at}`))
    )
    expect([(await run(eve, nine)).status, (await run(eve, nine)).status]).toEqual([201, 429])
  })

  test('a request repeated with the same Idempotency-Key creates one run', async () => {
    const capsule = await suite(ada, [task('one'), task('two')])
    const headers = { 'idempotency-key': 'once' }
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => ada.ask('POST', `/api/capsules/${capsule}/run`, { mode: 'template' }, headers))
    )
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(await rowsOf(capsule)).toMatchObject({ runs: 1, jobs: 2, told: 1 })
  })

  test('a run is shown only under its own capsule, and only to members', async () => {
    const [capsule, other] = [await suite(ada, [task('one')]), await suite(ada, [task('one')])]
    const { body } = await run(ada, capsule)
    const path = `/runs/${body.capsule_run_id}`
    expect((await ada.get(`/api/capsules/${capsule}${path}`)).status).toBe(200)
    expect(errorOf(await ada.get(`/api/capsules/${other}${path}`))).toEqual([404, 'no such run of this capsule'])
    const bob = await api.signUpWithTeam()
    for (const answer of [
      await bob.get(`/api/capsules/${capsule}${path}`),
      await bob.get(`/api/capsules/${capsule}/runs`),
      await run(bob, capsule),
      await bob.get(`/api/capsules/${nobody}/runs`)
    ])
      expect(errorOf(answer)).toEqual([404, 'no such capsule'])
  })

  test('runs are listed newest first, in pages, by status and by trigger', async () => {
    const capsule = await suite(ada, [task('one')])
    const ids: string[] = []
    for (let n = 0; n < 3; n++) ids.unshift((await run(ada, capsule)).body.capsule_run_id)
    const list = async (query: string) => (await ada.get(`/api/capsules/${capsule}/runs?${query}`)).body
    const { runs: page, ...rest } = await list('limit=2&offset=1')
    expect([page.map(({ id }: { id: string }) => id), rest]).toEqual([ids.slice(1), { total: 3, limit: 2, offset: 1 }])
    expect((await list('status=completed')).total).toBe(0)
    expect((await list('trigger=request&status=pending')).total).toBe(3)
  })

  test('a capsule is not deleted while a run of it is under way', async () => {
    const capsule = await suite(ada, [task('one')])
    await run(ada, capsule)
    expect((await ada.ask('DELETE', `/api/capsules/${capsule}`)).status).toBe(409)
  })

  test('every run is in the audit trail with its definition, its maximum cost and its caller', async () => {
    const capsule = await suite(ada, [task('one', { backend: paid })])
    const { body } = await run(ada, capsule, { mode: 'template', shots: 3 })
    const { entries } = (await ada.get(`/api/capsules/${capsule}/audit`)).body
    expect(entries[0]).toMatchObject({
      action: 'capsule.run',
      actor: `user:${ada.id}`,
      previous_state: 'draft',
      new_state: 'draft',
      metadata: {
        run_id: body.capsule_run_id,
        mode: 'template',
        trigger: 'request',
        estimated_cost_usd: 1,
        changed: { shots: 3 },
        tasks: [{ name: 'one', job_id: body.job_id, backend: paid }]
      }
    })
  })
})
