// How long a team keeps contents of its jobs, and what readers are told afterwards.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { limitedContents, removeDue } from '../../../db/deletion/content-retention.js'
import { startApi, type TestUser } from '../../support/api/api.js'
import { addFinishedJob } from '../../support/capsules/capsule-rows.js'
import { ageJob } from '../../support/jobs/rows.js'

const api = await startApi('team_retention')
const { db } = api.database
afterAll(() => api.close())

type Member = TestUser & { teamId: string }
let ada: Member
beforeAll(async () => {
  ada = await api.signUpWithTeam()
})

const person = () => ({ userId: ada.id, email: ada.email })
const unset = { days: null, team_days: null, team_days_from: null, platform_days: null }
const retention = async () => (await ada.get(`/api/team/retention?team_id=${ada.teamId}`)).body
const change = (body: Record<string, unknown>) =>
  ada.ask('PATCH', '/api/team/retention', { team_id: ada.teamId, ...body })

describe('the numbers of a team', () => {
  test('are none at first, hold a day after they were set, stay where they are left out, and can be taken back', async () => {
    expect(await retention()).toEqual({ team_id: ada.teamId, results: unset, task_values: unset, output: unset })
    const before = Date.now()
    const set = await change({ results_days: 30, output_days: 7 })
    expect([set.status, set.body]).toEqual([200, await retention()])
    expect(set.body).toMatchObject({ results: { days: 30, team_days: 30 }, task_values: unset, output: { days: 7 } })
    const from = Date.parse(set.body.results.team_days_from)
    expect(from).toBeGreaterThanOrEqual(before + 24 * 3_600_000 - 2_000)
    expect((await change({ output_days: null })).body).toMatchObject({ results: { days: 30 }, output: unset })
    const unchanged = (await change({ results_days: 30 })).body.results
    expect(unchanged).toEqual(set.body.results)
  })

  test.each([0, -1, 36_501, 1.5, '30'])('%p is refused', async (days) => {
    const { status, body } = await change({ results_days: days })
    expect([status, body.error]).toEqual([400, expect.stringContaining('results_days')])
  })

  test('are unknown for a caller without a team', async () => {
    const newcomer = await api.signUp()
    expect((await newcomer.get('/api/team/retention')).body).toMatchObject({ team_id: null, results: unset })
  })
})

describe('a job whose contents were removed', () => {
  let id: string
  beforeAll(async () => {
    const finished = await addFinishedJob(db, person(), { submission: { teamId: ada.teamId } })
    id = await ageJob(db, finished, 31)
    await db.execute(
      sql`insert into job_events (job_id, seq, type, status, task, attempt) values (${id}, 900, 'output', 'running', '', 1)`
    )
    await db.execute(sql`insert into job_output (job_id, seq, text, text_offset) values (${id}, 900, 'printed', 0)`)
    await db.execute(sql`update jobs set event_seq = 900 where id = ${id}`)
    const platform = { results: 30, task_values: null, output: 30 }
    const { contents } = await limitedContents(db, platform, { after: null, max: 100 })
    for (const content of contents) await removeDue(db, content, content.mark)
  })

  test('has its record, which says so, and no result', async () => {
    const { body } = await ada.get(`/api/jobs/${id}`)
    expect(body).toMatchObject({ status: 'completed', result: null })
    expect(body.removed).toEqual({ results: expect.stringMatching(/Z$/), output: expect.stringMatching(/Z$/) })
    expect((await ada.get(`/api/jobs/${id}?result=omit`)).body).toMatchObject({
      removed: body.removed,
      result_bytes: null
    })
    expect((await ada.get(`/api/jobs/${id}/status`)).body).toMatchObject({ status: 'completed', result: null })
  })

  test('refuses its result, a file and a capsule with 410, and says so beforehand', async () => {
    const gone = { error: expect.stringMatching(/^Removed on \d{4}-\d\d-\d\d: the result and the files of this job\./) }
    for (const path of ['result', 'artifacts/circuit.qasm']) {
      const { status, body } = await ada.get(`/api/jobs/${id}/${path}`)
      expect([path, status, body]).toEqual([path, 410, gone])
    }
    expect((await ada.get(`/api/jobs/${id}/artifacts`)).body).toEqual({ artifacts: [] })
    const capsule = await ada.ask('POST', '/api/capsules/from-job', { job_id: id })
    expect([capsule.status, capsule.body]).toEqual([410, gone])
    expect((await ada.get(`/api/jobs/${id}`)).body.can.make_capsule).toBe(capsule.body.error)
  })

  test('cannot be compared, and can run again', async () => {
    const other = await addFinishedJob(db, person(), { submission: { teamId: ada.teamId } })
    const compared = await ada.ask('POST', '/api/jobs/compare', { a: id, b: other })
    expect([compared.status, compared.body.error]).toEqual([400, 'a: the result of this job has been deleted'])
    expect((await ada.ask('POST', `/api/jobs/${id}/rerun`)).status).toBe(201)
  })

  test('has an output event in the place of what was printed, so that numbers have no gap', async () => {
    const { text } = await ada.get(`/api/jobs/${id}/events?follow=false`)
    expect(text).toContain(
      'id: 900\nevent: output\ndata: {"seq":900,"type":"output","attempt":1,"text":"","offset":0,"removed":true'
    )
  })
})
