// Money that stays held because the provider's charge is unknown: how administrators see it and settle it once, and the
// audit entry of that.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { recordSweep } from '../../../db/service/sweeps.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { addHeldJob, usd } from '../../support/jobs/money-rows.js'
import { addJob, type Person } from '../../support/jobs/rows.js'

const api = await startApi('admin_money')
const { db } = api.database
afterAll(() => api.close())

let admin: TestUser
let ada: TestUser & { teamId: string }
let person: Person
beforeAll(async () => {
  admin = await api.signUp({ admin: true })
  ada = await api.signUpWithTeam()
  person = { userId: ada.id, email: ada.email }
})

const held = (dollars: number) =>
  addHeldJob(db, person, { cost: usd(dollars), submission: { teamId: ada.teamId, backend: 'local' } })
const money = async () => (await admin.get('/api/admin/money')).body
const settle = (jobId: string, cost: number, note = 'bill of November') =>
  admin.post(`/api/admin/jobs/${jobId}/settle`, { cost_usd: cost, note })

test('held money is listed with team, backend and time until it is settled', async () => {
  const [first, second] = [await held(10), await held(4)]
  await db.execute(sql`update provider_tasks set ask_at = null where job_id = ${second}`)
  const listed = await money()
  expect(listed).toMatchObject({ held_jobs: 2, held_usd: 14, over_reservation: [] })
  expect(listed.held).toEqual([
    {
      job_id: first,
      team_id: ada.teamId,
      team_name: expect.any(String),
      backend: 'local',
      provider: 'Local',
      provider_job_id: `at-provider-${first}`,
      status: 'failed',
      status_reason: 'the provider has not answered',
      held_usd: 10,
      since: expect.stringMatching(/^\d{4}-.*Z$/),
      asks_provider_at: expect.stringMatching(/^\d{4}-.*Z$/)
    },
    expect.objectContaining({ job_id: second, asks_provider_at: null })
  ])
  expect((await admin.get('/api/admin/money?limit=1')).body).toMatchObject({ held: [{ job_id: first }], held_jobs: 2 })

  const settled = await settle(first, 7.25, ' bill of November ')
  expect(settled).toMatchObject({ status: 200, body: { id: first, status: 'failed', actual_cost_usd: 7.25 } })
  expect((await ada.get(`/api/jobs/${first}`)).body.actual_cost_usd).toBe(7.25)
  expect((await ada.get(`/api/team/budget?team_id=${ada.teamId}`)).body.day).toMatchObject({
    spent_usd: 7.25,
    reserved_usd: 4
  })
  expect(await money()).toMatchObject({ held: [{ job_id: second }], held_jobs: 1, held_usd: 4 })
  const { entries } = (await admin.get('/api/admin/audit?limit=1')).body
  expect(entries).toEqual([
    {
      id: expect.any(String),
      at: expect.any(String),
      actor: { id: admin.id, email: admin.email },
      action: 'job.settle',
      target: first,
      details: { team_id: ada.teamId, held_usd: 10, cost_usd: 7.25, note: 'bill of November' }
    }
  ])
  expect(await ledgerMismatches(db)).toEqual([])
})

test('the record of a job says to administrators what is held for it, whether it can be settled, and why not', async () => {
  const id = await held(3)
  const read = async (job: string) => (await admin.get(`/api/admin/jobs/${job}`)).body
  expect(await read(id)).toMatchObject({ held_usd: 3, actual_cost_usd: null, can: { settle: true } })
  expect((await settle(id, 2.000001)).status).toBe(200)
  const again = await settle(id, 4)
  expect(await read(id)).toMatchObject({
    held_usd: null,
    actual_cost_usd: 2.000001,
    can: { cancel: expect.stringContaining('already failed'), settle: again.body.error }
  })
  const plain = await addJob(db, person, { cost: usd(1), submission: { teamId: ada.teamId } })
  expect(await read(plain)).toMatchObject({
    held_usd: null,
    can: { cancel: true, settle: (await settle(plain, 1)).body.error }
  })
})

test('only held money can be settled, once, and a refusal changes nothing', async () => {
  const [mine, plain] = [await held(2), await addJob(db, person, { cost: usd(1), submission: { teamId: ada.teamId } })]
  const count = async () => (await db.execute(sql`select count(*)::int as n from admin_actions`))[0]!.n
  expect((await settle(mine, 2)).status).toBe(200)
  const before = await count()
  expect([await settle(mine, 2), await settle(mine, 3), await settle(plain, 1)].map(({ status }) => status)).toEqual([
    409, 409, 409
  ])
  expect((await settle('00000000-0000-4000-8000-000000000000', 1)).status).toBe(404)
  for (const body of [
    { cost_usd: 1 },
    { cost_usd: 1, note: '  ' },
    { cost_usd: -1, note: 'x' },
    { cost_usd: 1e-7, note: 'x' }
  ])
    expect([body, (await admin.post(`/api/admin/jobs/${mine}/settle`, body)).status]).toEqual([body, 400])
  expect(await count()).toBe(before)
})

test('twenty administrators at once settle a job once', async () => {
  const jobId = await held(2)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => settle(jobId, n / 10)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)])
  const paid = answers.find(({ status }) => status === 200)!
  expect((await ada.get(`/api/jobs/${jobId}`)).body.actual_cost_usd).toBe(paid.body.actual_cost_usd)
  expect(await ledgerMismatches(db)).toEqual([])
})

test('a bill above the reservation is accepted, and the job is listed as over its reservation', async () => {
  const jobId = await held(3)
  expect((await settle(jobId, 5.5)).status).toBe(200)
  expect((await money()).over_reservation).toEqual([
    {
      job_id: jobId,
      team_id: ada.teamId,
      team_name: expect.any(String),
      backend: 'local',
      reserved_usd: 3,
      settled_usd: 5.5,
      settled_at: expect.stringMatching(/^\d{4}-.*Z$/)
    }
  ])
})

test('findings of the ledger checks are shown with the money and in the state of the platform', async () => {
  await recordSweep(db, {
    name: 'money',
    periodSeconds: 60,
    error: null,
    handled: 0,
    findings: ['a dollar is missing']
  })
  await recordSweep(db, { name: 'outbox', periodSeconds: 10, error: null, handled: 3, findings: null })
  await recordSweep(db, { name: 'outbox', periodSeconds: 10, error: 'connection refused', handled: 0, findings: null })
  await db.execute(sql`update sweeps set succeeded_at = now() - interval '2 minutes' where name = 'outbox'`)
  const proof = {
    ran_at: expect.any(String),
    succeeded_at: expect.any(String),
    late: false,
    handled: 0,
    failed: 0,
    error: null,
    findings: [{ message: 'a dollar is missing', at: expect.any(String) }]
  }
  expect((await money()).proofs).toEqual({ money: proof })
  expect((await admin.get('/api/admin/system')).body.sweeps).toEqual({
    state: 'ok',
    money: proof,
    outbox: { ...proof, late: true, handled: 3, error: 'connection refused', findings: [] }
  })
})
