// What a team ran and spent in a month.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { settle } from '../../../db/money/budget.js'
import { paramsFromValue } from '../../../domain/jobs/params/params.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'
import { addJob } from '../../support/jobs/rows.js'

const now = new Date('2026-11-21T12:00:00Z')
const api = await startApi('usage', { now: () => now })
const { db } = api.database
let ada: TestUser
let teamId: string
afterAll(() => api.close())

const usd = (dollars: number) => BigInt(Math.round(dollars * 1e6))

/** Inserts a job of this day and cost, which began to run unless stated otherwise. */
async function ran(at: string, cost: number, options: { backend?: string; settled?: number; started?: boolean } = {}) {
  const { backend = 'local', settled = cost, started = true } = options
  const id = await addJob(
    db,
    { userId: ada.id, email: ada.email },
    { cost: usd(cost), at: new Date(at), submission: { teamId, params: paramsFromValue({ shots: 100 }) } }
  )
  await db.execute(sql`update jobs set created_at = ${at}::timestamptz, backend = ${backend},
    provider = case when ${backend} = 'local' then provider else 'IonQ' end,
    started_at = case when ${started} then ${at}::timestamptz end where id = ${id}`)
  await db.transaction((tx) => settle(tx, id, usd(settled)))
}

beforeAll(async () => {
  ada = await api.signUp()
  teamId = (await ada.post('/api/teams', { name: 'Ours' })).body.id
  await ran('2026-10-31T23:59:59.999Z', 4)
  await ran('2026-11-01T00:00:00Z', 1.5)
  await ran('2026-11-01T08:00:00Z', 3, { backend: 'ionq-direct-simulator', settled: 2.000001 })
  await ran('2026-11-20T08:00:00Z', 0)
  await ran('2026-11-20T09:00:00Z', 0.5, { settled: 0, started: false })
  await ran('2026-11-30T23:59:59.999Z', 0.25)
  await ran('2026-12-01T00:00:00Z', 8)
})

const usage = (query = '') => ada.get(`/api/team/usage?team_id=${teamId}${query}`)

describe('the totals of several months', () => {
  test('stand beside the usage, the newest first, each as the month itself has it', async () => {
    const { body } = await usage('&months=3')
    expect(body.months).toEqual([
      { month: '2026-11', spend: 3.750001 },
      { month: '2026-10', spend: 4 },
      { month: '2026-09', spend: 0 }
    ])
    expect(body.summary.totalSpend).toBe(3.750001)
    expect((await usage()).body.months).toBeUndefined()
    const { body: before } = await usage('&month=2026-12&months=12')
    expect(before.months).toHaveLength(12)
    expect(before.months.slice(0, 2)).toEqual([
      { month: '2026-12', spend: 8 },
      { month: '2026-11', spend: 3.750001 }
    ])
  })

  test.each(['0', '13', 'all'])('are not given for months=%s', async (months) => {
    expect((await usage(`&months=${months}`)).status).toBe(400)
  })

  test('are zeros for a caller without a team', async () => {
    const { body } = await (await api.signUp()).get('/api/team/usage?months=2')
    expect(body.months.map(({ spend }: { spend: number }) => spend)).toEqual([0, 0])
  })
})

describe('the usage of a month', () => {
  test('is the sum by provider, backend and day, including free runs and days without runs', async () => {
    const { status, body } = await usage()
    expect(status).toBe(200)
    expect(body.period).toEqual({ start: '2026-11-01', end: '2026-11-30', month: '2026-11' })
    expect(body.summary).toEqual({ totalSpend: 3.750001, lastMonthSpend: 4, changePercent: -6.2 })
    expect(body.byProvider).toEqual([
      { provider: 'IonQ', spend: 2.000001, jobs: 1, shots: 100 },
      { provider: 'Local', spend: 1.75, jobs: 3, shots: 300 }
    ])
    expect(body.byBackend).toEqual([
      {
        backend: 'ionq-direct-simulator',
        name: expect.any(String),
        provider: 'IonQ',
        spend: 2.000001,
        jobs: 1,
        shots: 100
      },
      { backend: 'local', name: expect.any(String), provider: 'Local', spend: 1.75, jobs: 3, shots: 300 }
    ])
    expect(body.daily).toHaveLength(30)
    const days = body.daily.filter(({ jobs, spend }: { jobs: number; spend: number }) => jobs > 0 || spend > 0)
    expect(days).toEqual([
      { date: '2026-11-01', spend: 3.500001, jobs: 2 },
      { date: '2026-11-20', spend: 0, jobs: 1 },
      { date: '2026-11-30', spend: 0.25, jobs: 1 }
    ])
  })

  test.each([
    ['2026-12', 8, 3.750001, 113.3],
    ['2026-10', 4, 0, null],
    ['2026-02', 0, 0, null],
    ['1970-01', 0, 0, null],
    ['9999-12', 0, 0, null]
  ])('%s is %p USD, after %p in the month before', async (month, total, last, change) => {
    const { body } = await usage(`&month=${month}`)
    expect(body.summary).toEqual({ totalSpend: total, lastMonthSpend: last, changePercent: change })
    if (month === '2026-02') expect(body.daily).toHaveLength(28)
  })

  test.each(['2026-13', '2026-1', 'november', '2026-11-01', '0000-01', '0001-01', '1969-12', '10000-01', ''])(
    'of %p is refused',
    async (month) => {
      expect((await usage(`&month=${month}`)).status).toBe(400)
    }
  )

  test('is also available as a table with a line for each day and backend', async () => {
    const answer = await usage('&format=csv')
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8')
    expect(answer.headers['content-disposition']).toBe('attachment; filename="usage-2026-11.csv"')
    expect(answer.text.split('\r\n')).toEqual([
      'date,provider,backend,jobs,shots,spend_usd',
      '2026-11-01,"IonQ","ionq-direct-simulator",1,100,2.000001',
      '2026-11-01,"Local","local",1,100,1.5',
      '2026-11-20,"Local","local",1,100,0',
      '2026-11-30,"Local","local",1,100,0.25',
      ''
    ])
  })

  test('of a caller without a team is empty, not an error', async () => {
    const { status, body } = await (await api.signUp()).get('/api/team/usage')
    expect([status, body.summary.totalSpend, body.byProvider, body.daily.length]).toEqual([200, 0, [], 30])
  })

  test('is limited to the team', async () => {
    await ada.submit(submission())
    expect((await usage()).body.summary.totalSpend).toBe(3.750001)
  })
})
