// What a page of jobs has for a browser: several statuses at once, and no large parameters.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { type SendRequest, startApi, type TestUser } from '../../support/api/api.js'
import { finishJob } from '../../support/capsules/capsule-rows.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('listed_jobs')
afterAll(() => api.close())

let ada: TestUser
let pending: string
let cancelled: string
let completed: string
beforeAll(async () => {
  ada = await api.signUp()
  pending = await ada.submit(submission())
  cancelled = await ada.submit(submission())
  await ada.post(`/api/jobs/${cancelled}/cancel`)
  completed = await ada.submit(submission())
  await finishJob(api.database.db, completed)
})

const list = async (query: string) => (await ada.get(`/api/jobs?${query}`)).body
const idsOf = (page: { jobs: { id: string }[] }) => page.jobs.map(({ id }) => id)

describe('a list of jobs', () => {
  test('takes one status, several, and each of them any number of times', async () => {
    expect(idsOf(await list('status=pending'))).toEqual([pending])
    expect(idsOf(await list('status=pending&status=cancelled'))).toEqual([cancelled, pending])
    const page = await list('status=pending&status=pending&status=completed&limit=1')
    expect([idsOf(page), page.total]).toEqual([[completed], 2])
    expect(idsOf(await list(`status=pending&status=completed&limit=1&cursor=${page.next_cursor}`))).toEqual([pending])
  })

  test('refuses a status that does not exist, alone and among others', async () => {
    for (const query of ['status=done', 'status=pending&status=done', 'status='])
      expect(await ada.get(`/api/jobs?${query}`)).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/^status.*must be one of pending, running/) }
      })
  })

  test.each([
    ['limit=1&limit=2', 'limit: must be an integer from 1 to 100 (got a list of 2 items)'],
    ['mine=true&mine=true', 'mine: must be true or false (got a list of 2 items)'],
    ['backend=a&backend=b', 'backend: must be a string of at most 100 characters (got a list of 2 items)'],
    ['cursor=1&cursor=2', 'cursor: must be a string (got a list of 2 items)']
  ])('refuses %s: no other parameter can be repeated', async (query, error) => {
    expect(await ada.get(`/api/jobs?${query}`)).toMatchObject({ status: 400, body: { error } })
  })
})

describe('the parameters in a list', () => {
  /** JSON text of parameters with this many bytes, with a number whose text a parser changes. */
  const paramsOf = (bytes: number): string => {
    const empty = '{"shots":1,"exact":1.50,"note":""}'
    return empty.replace('""', `"${'é'.repeat((bytes - empty.length) / 2)}${(bytes - empty.length) % 2 ? 'x' : ''}"`)
  }
  const submitText = async (name: string, params: string): Promise<string> => {
    const { params: _, ...rest } = submission({ name })
    const body = `${JSON.stringify(rest).slice(0, -1)},"params":${params}}`
    const answer = await ada.ask('POST', '/api/jobs/submit', body)
    expect(answer.status).toBe(201)
    return answer.body.job_id
  }
  const itemText = async (ask: SendRequest, path: string) => (await ask('GET', path)).text

  test.each([
    [4096, false],
    [4097, true]
  ])('of %p bytes: left out is %p, and the record has every byte', async (bytes, omitted) => {
    const params = paramsOf(bytes)
    expect(Buffer.byteLength(params)).toBe(bytes)
    const id = await submitText(`with ${bytes} bytes`, params)
    const text = await itemText(ada.ask, `/api/jobs?q=with%20${bytes}%20bytes`)
    expect(JSON.parse(text).jobs).toMatchObject([{ id, params_omitted: omitted, ...(omitted && { params: null }) }])
    expect(text.includes(`"params":${params}`)).toBe(!omitted)
    expect(await itemText(ada.ask, `/api/jobs/${id}`)).toContain(`"params":${params}`)
  })

  test('of a megabyte each make no large page, for administrators neither', async () => {
    const large = `{"shots":1,"note":"${'x'.repeat(1024 ** 2)}"}`
    for (let count = 0; count < 5; count++) await submitText('a large one', large)
    const root = await api.signUp({ admin: true })
    for (const text of [
      await itemText(ada.ask, '/api/jobs?limit=100'),
      await itemText(root.ask, '/api/admin/jobs?limit=100')
    ])
      expect([text.length < 64 * 1024, text.match(/"params_omitted":true/g)?.length]).toEqual([true, 6])
  })
})

// The last test: its jobs are in the lists of administrators.
test('a list of more than 10,000 jobs has a capped total and an estimate', async () => {
  const eve = await api.signUp()
  const id = await eve.submit(submission())
  const { db } = api.database
  await db.execute(sql`insert into jobs select (jsonb_populate_record(j, jsonb_build_object('id', gen_random_uuid()))).*
    from jobs j, generate_series(1, 11999) where j.id = ${id}`)
  await db.execute(sql`analyze jobs`)
  const { total, total_capped, total_estimate } = (await eve.get('/api/jobs?limit=1')).body
  expect({ total, total_capped, total_estimate }).toEqual({ total: 10_000, total_capped: true, total_estimate: 12_000 })
})
