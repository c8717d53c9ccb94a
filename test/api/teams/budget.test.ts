import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { members } from '../../../db/tables/accounts.js'
import { responseOf, startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'
import { addHeldJob } from '../../support/jobs/money-rows.js'

const api = await startApi('budget')
const { db } = api.database
afterAll(() => api.close())

let admin: TestUser
beforeAll(async () => {
  admin = await api.signUp({ admin: true })
  // With these prices, 100 shots cost one dollar.
  await admin.ask('PATCH', '/api/admin/backends/aer-statevector', { pricing: { perShot: 0.01 } })
})

const priced = (changes: Record<string, unknown> = {}) => submission({ backend: 'aer-statevector', ...changes })
const budget = async (user: TestUser) => (await user.get('/api/team/budget')).body
const setBudget = (teamId: string, body: Record<string, unknown>) =>
  admin.ask('PUT', `/api/admin/teams/${teamId}/budgets`, body)

describe('a budget with room for 37 jobs', () => {
  test('accepts exactly 37 of 200 simultaneous submissions; the others get 402 with the right figures; cancels release everything', async () => {
    const ada = await api.signUpWithTeam()
    await setBudget(ada.teamId, { daily_usd: 37.5 })
    const base = await api.listen()
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const response = await fetch(`${base}/api/jobs/submit`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', cookie: ada.cookie },
          body: JSON.stringify(priced())
        })
        return responseOf(response.status, {}, await response.text())
      })
    )
    const accepted = answers.filter((answer) => answer.status === 201)
    const refused = answers.filter((answer) => answer.status === 402)
    expect([accepted.length, refused.length]).toEqual([37, 163])
    for (const { body } of refused)
      expect(body).toEqual({
        error:
          "Budget exceeded: estimated cost $1.00 exceeds what is left of the team's daily budget ($0.50 of $37.50)",
        estimated_cost: 1,
        current_spend: 37,
        budget: 37.5,
        remaining_budget: 0.5
      })
    expect(await budget(ada)).toMatchObject({
      day: { spent_usd: 0, reserved_usd: 37, remaining_usd: 0.5 },
      month: { spent_usd: 0, reserved_usd: 37, remaining_usd: 963 }
    })
    expect([...(await ledgerMismatches(db))]).toEqual([])

    const cancels = await Promise.all(accepted.map(({ body }) => ada.post(`/api/jobs/${body.job_id}/cancel`)))
    expect(cancels.map((answer) => answer.status)).toEqual(Array(37).fill(202))
    expect(await budget(ada)).toMatchObject({
      day: { spent_usd: 0, reserved_usd: 0, remaining_usd: 37.5 },
      month: { spent_usd: 0, reserved_usd: 0, remaining_usd: 1000 }
    })
    expect([...(await ledgerMismatches(db))]).toEqual([])
  }, 60_000)
})

describe('402 names the limit that failed', () => {
  test.each([
    [
      "the request's own max_cost_usd",
      {},
      { max_cost_usd: 0.99 },
      { current_spend: 0, budget: 0.99, remaining_budget: 0.99 }
    ],
    ["the team's limit per job", { per_job_usd: 0.5 }, {}, { current_spend: 0, budget: 0.5, remaining_budget: 0.5 }],
    ["the team's daily budget", { daily_usd: 0 }, {}, { current_spend: 0, budget: 0, remaining_budget: 0 }],
    [
      "the team's monthly budget",
      { monthly_usd: 0.999999 },
      {},
      { current_spend: 0, budget: 0.999999, remaining_budget: 0.999999 }
    ]
  ])('%s', async (name, limits, changes, figures) => {
    const ada = await api.signUpWithTeam()
    await setBudget(ada.teamId, limits)
    const { status, body } = await ada.post('/api/jobs/submit', priced(changes))
    expect(status).toBe(402)
    expect(body).toEqual({ error: expect.stringContaining(name), estimated_cost: 1, ...figures })
    expect(Object.keys(body)).toEqual(['error', 'estimated_cost', 'current_spend', 'budget', 'remaining_budget'])
  })

  test('a team that is refused its very first job has spent and reserved nothing', async () => {
    const newcomer = await api.signUp()
    const { status } = await newcomer.post('/api/jobs/submit', priced({ max_cost_usd: 0.5 }))
    expect(status).toBe(402)
    expect((await budget(newcomer)).day).toMatchObject({ spent_usd: 0, reserved_usd: 0 })
  })

  test('exactly at each limit a job is accepted', async () => {
    const ada = await api.signUpWithTeam()
    await setBudget(ada.teamId, { per_job_usd: 1, daily_usd: 1, monthly_usd: 1 })
    expect((await ada.post('/api/jobs/submit', priced({ max_cost_usd: 1 }))).status).toBe(201)
  })
})

test('a free backend is never 402, with every limit at 0', async () => {
  const ada = await api.signUpWithTeam()
  await setBudget(ada.teamId, { per_job_usd: 0, daily_usd: 0, monthly_usd: 0 })
  expect((await ada.post('/api/jobs/submit', submission({ max_cost_usd: 0 }))).status).toBe(201)
  expect((await ada.post('/api/jobs/submit', priced())).status).toBe(402)
})

test('a not_before in the past cannot hide a job from the budget of today', async () => {
  const ada = await api.signUpWithTeam()
  await setBudget(ada.teamId, { daily_usd: 1 })
  expect((await ada.post('/api/jobs/submit', priced({ not_before: '2020-01-01T00:00:00Z' }))).status).toBe(201)
  expect((await ada.post('/api/jobs/submit', priced({ not_before: '2020-01-02T00:00:00Z' }))).status).toBe(402)
  expect((await budget(ada)).day.reserved_usd).toBe(1)
})

test('a job shows its estimate, and a cancelled job shows that nothing was spent', async () => {
  const ada = await api.signUpWithTeam()
  const id = await ada.submit(priced({ params: { shots: 1234 } }))
  expect((await ada.get(`/api/jobs/${id}`)).body).toMatchObject({ estimated_cost_usd: 12.34, actual_cost_usd: null })
  expect((await ada.post(`/api/jobs/${id}/cancel`)).body).toMatchObject({
    estimated_cost_usd: 12.34,
    actual_cost_usd: 0
  })
})

describe('GET /api/team/budget', () => {
  test('shows the limits, the ceilings, and the UTC day and month', async () => {
    const ada = await api.signUpWithTeam()
    const now = new Date().toISOString()
    expect(await budget(ada)).toEqual({
      team_id: ada.teamId,
      limits: { per_job_usd: 100, per_suite_usd: 500, daily_usd: 100, monthly_usd: 1000 },
      ceilings: { per_job_usd: 1000, per_suite_usd: 5000, daily_usd: 1000, monthly_usd: 10000 },
      day: { date: now.slice(0, 10), spent_usd: 0, reserved_usd: 0, remaining_usd: 100 },
      month: { month: now.slice(0, 7), spent_usd: 0, reserved_usd: 0, remaining_usd: 1000 },
      held: { total_usd: 0, jobs: 0, oldest: [] }
    })
  })

  test('of a caller without a team shows the defaults, and creates no team', async () => {
    const newcomer = await api.signUp()
    const answer = await newcomer.get('/api/team/budget')
    expect([answer.status, answer.body.team_id, answer.body.limits.daily_usd]).toEqual([200, null, 100])
    expect((await newcomer.get('/api/auth/session')).body.teams).toEqual([])
  })

  test("is 404 for a team of others, and shows the budget of a team of one's own", async () => {
    const [ada, bob] = [await api.signUpWithTeam(), await api.signUpWithTeam()]
    expect((await bob.get(`/api/team/budget?team_id=${ada.teamId}`)).status).toBe(404)
    expect((await bob.get(`/api/team/budget?team_id=${bob.teamId}`)).status).toBe(200)
    expect((await bob.get('/api/team/budget?team_id=x')).status).toBe(400)
  })
})

describe('PATCH /api/team/budget', () => {
  const patch = (user: TestUser, body: unknown) => user.ask('PATCH', '/api/team/budget', body)

  test('is allowed to the owner; a member and an admin of the team are refused, and non-members get 404', async () => {
    const owner = await api.signUpWithTeam()
    const [teamAdmin, member, outsider] = [await api.signUp(), await api.signUp(), await api.signUp()]
    await db.insert(members).values([
      { teamId: owner.teamId, userId: teamAdmin.id, role: 'admin' },
      { teamId: owner.teamId, userId: member.id, role: 'member' }
    ])
    const body = { team_id: owner.teamId, daily_usd: 12.5 }
    for (const [user, status] of [
      [outsider, 404],
      [member, 403],
      [teamAdmin, 403],
      [owner, 200]
    ] as const)
      expect((await patch(user, body)).status).toBe(status)
    // Every member of the team can read it.
    for (const user of [owner, teamAdmin, member])
      expect((await user.get(`/api/team/budget?team_id=${owner.teamId}`)).body.limits.daily_usd).toBe(12.5)
  })

  test('without team_id changes the personal team, also for a member of another team', async () => {
    const [ada, host] = [await api.signUp(), await api.signUpWithTeam()]
    await db.insert(members).values({ teamId: host.teamId, userId: ada.id, role: 'member' })
    const answer = await patch(ada, { daily_usd: 3 })
    expect([answer.status, answer.body.limits.daily_usd]).toEqual([200, 3])
    expect(answer.body.team_id).not.toBe(host.teamId)
    expect((await budget(host)).limits.daily_usd).toBe(100)
  })

  test('accepts values up to the ceiling, and leaves omitted limits unchanged', async () => {
    const ada = await api.signUpWithTeam()
    expect((await patch(ada, { team_id: ada.teamId, daily_usd: 1000, per_job_usd: 7 })).status).toBe(200)
    const above = await patch(ada, { team_id: ada.teamId, daily_usd: 1000.000001, per_job_usd: 8 })
    expect([above.status, above.body.error]).toEqual([
      400,
      'daily_usd: must be at most $1000.00, the ceiling that the platform sets'
    ])
    expect((await patch(ada, { team_id: ada.teamId, monthly_usd: 2000 })).body.limits).toEqual({
      per_job_usd: 7,
      per_suite_usd: 500,
      daily_usd: 1000,
      monthly_usd: 2000
    })
  })

  test.each([
    [{ daily_usd: -1 }, 'daily_usd: must be a number from 0'],
    [{ daily_usd: '5' }, 'daily_usd: must be a number'],
    [{ daily_usd: null }, 'daily_usd: must be a number'],
    [{ daily_usd: 1e-7 }, 'daily_usd: must have at most 6 decimals (got 1e-7)'],
    [{ daily_usd: 1_000_000_001 }, 'daily_usd: must be a number from 0 to 1000000000'],
    [{ ceilings: { daily_usd: 1 } }, 'ceilings: is not a field of this request'],
    [{ spent_usd: 0 }, 'spent_usd: is not a field of this request'],
    [{ team_id: 'x' }, 'team_id: must be a valid uuid']
  ])('with %p is refused', async (body, message) => {
    const ada = await api.signUpWithTeam()
    const answer = await patch(ada, { team_id: ada.teamId, ...body })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(message)])
  })
})

test('the budget names the held money of its team alone, with the reason', async () => {
  const [ada, eve] = [await api.signUpWithTeam(), await api.signUpWithTeam()]
  const job = await addHeldJob(
    db,
    { userId: ada.id, email: ada.email },
    { cost: 1_250_001n, submission: { teamId: ada.teamId } }
  )
  expect((await budget(ada)).held).toEqual({
    total_usd: 1.250001,
    jobs: 1,
    oldest: [expect.objectContaining({ job_id: job, held_usd: 1.250001, since: expect.stringMatching(/Z$/) })]
  })
  expect((await budget(eve)).held).toEqual({ total_usd: 0, jobs: 0, oldest: [] })
})

describe('the budgets of a platform administrator', () => {
  test('can change ceilings, and a lowered ceiling applies at once', async () => {
    const ada = await api.signUpWithTeam()
    const answer = await setBudget(ada.teamId, { daily_usd: 5000, ceilings: { daily_usd: 6000 } })
    expect([answer.status, answer.body.limits.daily_usd, answer.body.ceilings.daily_usd]).toEqual([200, 5000, 6000])
    await setBudget(ada.teamId, { ceilings: { daily_usd: 0.5 } })
    expect((await budget(ada)).limits.daily_usd).toBe(0.5)
    expect((await ada.post('/api/jobs/submit', priced())).status).toBe(402)
    const { held, ...figures } = await budget(ada)
    expect((await admin.get(`/api/admin/teams/${ada.teamId}/budgets`)).body).toEqual(figures)
    expect(held.jobs).toBe(0)
  })

  test('are a 404 for other callers and for unknown teams', async () => {
    const ada = await api.signUpWithTeam()
    expect((await ada.get(`/api/admin/teams/${ada.teamId}/budgets`)).status).toBe(404)
    expect((await ada.ask('PUT', `/api/admin/teams/${ada.teamId}/budgets`, { daily_usd: 1 })).status).toBe(404)
    expect((await budget(ada)).limits.daily_usd).toBe(100)
    const nobody = '01900000-0000-7000-8000-000000000000'
    expect((await setBudget(nobody, { daily_usd: 1 })).status).toBe(404)
    expect((await admin.get(`/api/admin/teams/${nobody}/budgets`)).status).toBe(404)
    expect([...(await db.execute(sql`select 1 from team_budgets where team_id = ${nobody}`))]).toEqual([])
  })
})
