// What platform administrators change, and the audit entries of each change.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'
import { forceStatus } from '../../support/jobs/rows.js'

const api = await startApi('admin_audit')
const { ask, database } = api
const { db } = database
afterAll(() => api.close())

let admin: TestUser
beforeAll(async () => {
  admin = await api.signUp({ admin: true })
})

const nobody = '00000000-0000-4000-8000-000000000000'
const suspend = (teamId: string, reason = 'unpaid bills') =>
  admin.post(`/api/admin/teams/${teamId}/suspend`, { reason })
const limits = (teamId: string, body: object) => admin.ask('PATCH', `/api/admin/teams/${teamId}`, body)
const unsuspend = (teamId: string) => admin.post(`/api/admin/teams/${teamId}/unsuspend`)
const auditCount = async (): Promise<number> =>
  (await db.execute<{ n: number }>(sql`select count(*)::int as n from admin_actions`))[0]!.n
/** The audit entries that `work` adds, oldest first, without the fields that differ in every run. */
async function entriesOf(work: () => Promise<unknown>) {
  const before = await auditCount()
  await work()
  const made = (await auditCount()) - before
  const { entries } = (await admin.get('/api/admin/audit')).body
  return entries
    .slice(0, made)
    .reverse()
    .map(({ id: _, at, ...entry }: { id: string; at: string }) => {
      expect(new Date(at).toISOString()).toBe(at)
      return entry
    })
}

describe('cancelling a job as an administrator', () => {
  const cancel = (id: string) => admin.post(`/api/admin/jobs/${id}/cancel`)

  test('works for a suspended team, whose members cannot cancel it, and returns its record', async () => {
    const ada = await api.signUpWithTeam()
    const id = await ada.submit(submission())
    await suspend(ada.teamId)
    expect((await ada.post(`/api/jobs/${id}/cancel`)).status).toBe(403)
    const answer = await cancel(id)
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({
      id,
      status: 'cancelled',
      cancel: { outcome: 'stopped_before_provider' },
      result: null
    })
    const { can: _can, ...record } = (await ada.get(`/api/jobs/${id}`)).body
    expect(record).toEqual(answer.body)
  })

  test('stops a running job; a repetition changes nothing and is recorded once', async () => {
    const ada = await api.signUpWithTeam()
    const id = await ada.submit(submission({ execution_mode: 'temporal' }))
    await forceStatus(db, id, { status: 'running' })
    const entries = await entriesOf(async () => {
      for (let time = 0; time < 2; time++) {
        const answer = await cancel(id)
        expect([answer.status, answer.body.status]).toEqual([202, 'cancelling'])
      }
    })
    expect(entries).toEqual([
      expect.objectContaining({ action: 'job.cancel', target: id, details: { status: 'running', team_id: ada.teamId } })
    ])
    const rows = await db.execute(sql`select kind from outbox where job_id = ${id} and kind = 'cancel'`)
    expect(rows.length).toBe(1)
  })

  test('returns 409 for a finished job and 404 for an unknown one, and records neither', async () => {
    const ada = await api.signUpWithTeam()
    const id = await ada.submit(submission())
    await ada.post(`/api/jobs/${id}/cancel`)
    const entries = await entriesOf(async () => {
      const late = await cancel(id)
      expect([late.status, late.body]).toEqual([
        409,
        { error: 'the job is already cancelled; only a job that is not final can be cancelled' }
      ])
      const none = await cancel(nobody)
      expect([none.status, none.body]).toEqual([404, { error: 'no such job' }])
    })
    expect(entries).toEqual([])
  })

  test('cancels it once when five administrators and its owner try at once, with at most one audit entry', async () => {
    const ada = await api.signUpWithTeam()
    const id = await ada.submit(submission())
    const entries = await entriesOf(async () => {
      const answers = await Promise.all([
        ...Array.from({ length: 5 }, () => cancel(id)),
        ada.post(`/api/jobs/${id}/cancel`)
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409, 409])
    })
    expect(entries.length).toBeLessThanOrEqual(1)
  })
})

describe('the audit', () => {
  test('has one entry for every change, with actor, action and target, and none for a refusal', async () => {
    const ada = await api.signUpWithTeam()
    const job = await ada.submit(submission())
    let code = ''
    const entries = await entriesOf(async () => {
      await suspend(ada.teamId, 'first')
      await suspend(ada.teamId, 'second')
      await unsuspend(ada.teamId)
      await unsuspend(ada.teamId)
      await suspend(nobody)
      code = (await admin.post('/api/admin/access-codes', { uses: 4 })).body.code
      await admin.post('/api/admin/access-codes', { code, uses: 4 })
      await admin.post('/api/admin/access-codes', { uses: 0 })
      await admin.ask('PATCH', '/api/admin/backends/local', { displayOrder: 12, isRecommended: true })
      await admin.ask('PATCH', '/api/admin/backends/local', { pricing: { taskFee: 0.0000001 } })
      await admin.ask('PATCH', '/api/admin/backends/aer-statevector', { isAvailable: false, pricing: { perShot: 0.5 } })
      await admin.ask('PATCH', '/api/admin/backends/nope', { displayOrder: 1 })
      await admin.ask('PUT', `/api/admin/teams/${ada.teamId}/budgets`, { daily_usd: 7, ceilings: { per_job_usd: 50 } })
      await admin.ask('PUT', `/api/admin/teams/${ada.teamId}/budgets`, { daily_usd: 0.0000001 })
      await admin.ask('PUT', `/api/admin/teams/${ada.teamId}/budgets`, {})
      await admin.ask('PUT', `/api/admin/teams/${nobody}/budgets`, { daily_usd: 7 })
      await limits(ada.teamId, { running_jobs_max: 5, slots_max: 1 })
      await limits(ada.teamId, { running_jobs_max: null })
      await limits(ada.teamId, {})
      await limits(ada.teamId, { slots_max: 0 })
      await limits(nobody, { slots_max: 1 })
      await admin.post(`/api/admin/jobs/${job}/cancel`)
      await admin.post(`/api/admin/jobs/${job}/cancel`)
    })
    const actor = { id: admin.id, email: admin.email }
    expect(entries).toEqual([
      { actor, action: 'team.suspend', target: ada.teamId, details: { reason: 'first' } },
      { actor, action: 'team.suspend', target: ada.teamId, details: { reason: 'second', previous_reason: 'first' } },
      {
        actor,
        action: 'team.unsuspend',
        target: ada.teamId,
        details: { reason: 'second', suspended_at: expect.stringMatching(/Z$/) }
      },
      { actor, action: 'access_code.create', target: code, details: { uses: 4, expires_at: null } },
      {
        actor,
        action: 'backend.change',
        target: 'local',
        details: { before: { displayOrder: 10 }, after: { displayOrder: 12 } }
      },
      {
        actor,
        action: 'backend.change',
        target: 'aer-statevector',
        details: {
          before: { isAvailable: true, pricing: { taskFee: 0, perShot: 0, minimumCost: 0 } },
          after: { isAvailable: false, pricing: { taskFee: 0, perShot: 0.5, minimumCost: 0 } }
        }
      },
      {
        actor,
        action: 'team.budget',
        target: ada.teamId,
        details: {
          requested: { daily_usd: 7, ceilings: { per_job_usd: 50 } },
          before: { per_job_usd: 100, daily_usd: 100, ceilings: expect.objectContaining({ per_job_usd: 1000 }) },
          after: { per_job_usd: 50, daily_usd: 7, ceilings: expect.objectContaining({ per_job_usd: 50 }) }
        }
      },
      {
        actor,
        action: 'team.limits',
        target: ada.teamId,
        details: { before: { running_jobs_max: null, slots_max: null }, after: { running_jobs_max: 5, slots_max: 1 } }
      },
      {
        actor,
        action: 'team.limits',
        target: ada.teamId,
        details: { before: { running_jobs_max: 5 }, after: { running_jobs_max: null } }
      },
      { actor, action: 'job.cancel', target: job, details: { status: 'pending', team_id: ada.teamId } }
    ])
  })

  test('rolls back a change whose entry cannot be written', async () => {
    const ada = await api.signUpWithTeam()
    const job = await ada.submit(submission())
    const state = async () => [
      (await admin.get(`/api/admin/teams?q=${ada.teamId}`)).body,
      (await admin.get(`/api/admin/teams/${ada.teamId}/budgets`)).body.limits,
      (await admin.get('/api/admin/access-codes')).body.total,
      (await ask('GET', '/api/backends/local')).body,
      (await ada.get(`/api/jobs/${job}`)).body
    ]
    const before = await state()
    await db.execute(sql`alter table admin_actions add constraint full_disk check (false) not valid`)
    try {
      const answers = [
        await suspend(ada.teamId),
        await admin.ask('PUT', `/api/admin/teams/${ada.teamId}/budgets`, { daily_usd: 3 }),
        await limits(ada.teamId, { slots_max: 3 }),
        await admin.post('/api/admin/access-codes', { uses: 1 }),
        await admin.ask('PATCH', '/api/admin/backends/local', { description: 'changed' }),
        await admin.post(`/api/admin/jobs/${job}/cancel`)
      ]
      expect(answers.map(({ status }) => status)).toEqual([500, 500, 500, 500, 500, 500])
    } finally {
      await db.execute(sql`alter table admin_actions drop constraint full_disk`)
    }
    expect(await state()).toEqual(before)
  })

  test('is filtered by action and time', async () => {
    const ada = await api.signUpWithTeam()
    await suspend(ada.teamId)
    await unsuspend(ada.teamId)
    const listed = async (query: string) => (await admin.get(`/api/admin/audit?${query}`)).body.entries
    const [newest] = await listed('action=team.unsuspend&limit=1')
    expect(newest).toMatchObject({ action: 'team.unsuspend', target: ada.teamId })
    const actions = async (query: string) => (await listed(query)).map(({ action }: { action: string }) => action)
    expect(await actions(`from=${newest.at}`)).toEqual(['team.unsuspend'])
    expect(await actions(`to=${newest.at}&limit=2`)).toEqual(['team.unsuspend', 'team.suspend'])
    expect(await actions('to=2020-01-01T00:00:00Z')).toEqual([])
    expect((await admin.get('/api/admin/audit?action=nothing')).status).toBe(400)
    expect((await admin.get('/api/admin/audit?from=2026-06-30T23:59:60Z')).body.error).toMatch(/^from: /)
  })

  test('is listed newest first in pages that show every entry once while new ones are added', async () => {
    const ada = await api.signUpWithTeam()
    for (const reason of ['1', '2', '3', '4', '5']) await suspend(ada.teamId, reason)
    const reasons: string[] = []
    let cursor = ''
    for (let page = 0; page < 3; page++) {
      const { body } = await admin.get(`/api/admin/audit?limit=2${cursor && `&cursor=${cursor}`}`)
      reasons.push(...body.entries.map((entry: { details: { reason: string } }) => entry.details.reason))
      expect([body.limit, body.entries.length]).toEqual([2, 2])
      cursor = body.next_cursor
      await suspend(ada.teamId, 'while somebody reads')
    }
    expect(reasons.slice(0, 5)).toEqual(['5', '4', '3', '2', '1'])
    const rest = (await admin.get(`/api/admin/audit?limit=100&cursor=${cursor}`)).body
    expect(rest.next_cursor).toBe(null)
    expect((await admin.get('/api/admin/audit?cursor=x')).status).toBe(400)
  })
})
