// A database without room for a write: what callers and operators are told, and that nothing else breaks.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startApi, type TestUser } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'

let now = 0
const api = await startApi('full_disk', { disk: { clock: () => now } })
const { sql } = api.database
let ada: TestUser

beforeAll(async () => {
  ada = await api.signUp()
  await sql.unsafe(`create function full_disk() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`)
})
afterAll(() => api.close())

const fill = () => sql.unsafe('create trigger full_disk before insert on jobs execute function full_disk()')
const free = () => sql.unsafe('drop trigger full_disk on jobs')

test('a write on a full disk is 503 storage_full with Retry-After, and stores nothing; reads still work', async () => {
  await fill()
  const refused = await ada.post('/api/jobs/submit', submission())
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30'])
  expect(refused.body.error).toContain('The disk of this service is full')
  expect((await ada.get('/api/jobs')).body.jobs).toEqual([])

  // Until the database has answered a probe, an api is not ready.
  await eventually(async () => {
    const ready = await api.ask('GET', '/readyz')
    expect([ready.status, ready.body.status]).toEqual([200, 'degraded'])
    expect(ready.body.parts.database).toMatchObject({ state: 'degraded', message: expect.stringContaining('is full') })
    return true
  })
})

test('once there is room, the same request is accepted and the service is ready again', async () => {
  await free()
  expect((await ada.post('/api/jobs/submit', submission())).status).toBe(201)
  now += 31_000
  await eventually(async () => {
    const { parts } = (await api.ask('GET', '/readyz')).body
    expect(parts.database).toEqual({ state: 'ok', latency_ms: expect.any(Number) })
    return true
  })
})
