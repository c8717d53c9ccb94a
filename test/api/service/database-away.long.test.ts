// An api whose Postgres is stopped, and started again: callers get 503 with Retry-After, and everything goes on afterwards.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connect } from '../../../db/client.js'
import { migrate } from '../../../db/migrate.js'
import { PASSWORD, startApi, type TestUser } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { startOwnPostgres } from '../../support/postgres/own-postgres.js'

const server = await startOwnPostgres('database-away')
await migrate(server.url)
const { db, sql, close } = connect(server.url, { max: 2 })
const database = { name: `database_away_${process.pid}`, url: server.url, db, sql, drop: close }
const api = await startApi('database_away', { database })
let ada: TestUser

beforeAll(async () => {
  ada = await api.signUp()
})
afterAll(async () => {
  await api.close()
  await close()
  await server.remove()
})

const read = () => ada.get('/api/jobs')
const submit = () => ada.post('/api/jobs/submit', submission())
const signIn = () => api.ask('POST', '/api/auth/sign-in', { email: ada.email, password: PASSWORD })

test('while Postgres is stopped, a read, a submission and a sign-in get 503 with Retry-After at once', async () => {
  expect([(await read()).status, (await submit()).status, (await signIn()).status]).toEqual([200, 201, 200])
  await server.stop()
  for (const send of [read, submit, signIn]) {
    // More than the pool has connections: none waits for another's try to connect.
    const responses = await Promise.all(Array.from({ length: 30 }, send))
    for (const { status, headers, body } of responses)
      expect([status, headers['retry-after'], headers['x-error-code'], body.error]).toEqual([
        503,
        '5',
        'database_unavailable',
        expect.stringContaining('does not respond')
      ])
  }
  expect((await api.ask('GET', '/readyz')).status).toBe(503)
  expect((await api.ask('GET', '/healthz')).status).toBe(200)
})

test('once Postgres is back, the same requests are answered', async () => {
  await server.start()
  await eventually(async () => (await read()).status === 200)
  expect((await submit()).status).toBe(201)
  expect((await signIn()).status).toBe(200)
  expect((await read()).body.jobs).toHaveLength(2)
})
