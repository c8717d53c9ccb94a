// Secret values, sent through every route and error path, appear in no response, no log, and nowhere in the database.

import { randomBytes } from 'node:crypto'
import { Writable } from 'node:stream'
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { retryWhileDatabaseAway } from '../../../activities/job/retry-while-database-away.js'
import { buildApp } from '../../../apps/api/app.js'
import { logResponses } from '../../../apps/api/http/telemetry/request-log.js'
import { createAccessCode } from '../../../db/accounts/accounts.js'
import { newId } from '../../../db/ids.js'
import { artifacts } from '../../../db/tables/jobs.js'
import { logOptions } from '../../../services/telemetry/log.js'
import { type ApiResponse, startApi } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('canary')
const { db } = api.database
const lines: string[] = []
const log = pino(
  { ...logOptions, level: 'trace' },
  new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    }
  })
)
const app = await buildApp(api.deps, { loggerInstance: log })
logResponses(app)
afterAll(async () => {
  await app.close()
  await api.close()
})

const CANARY = `canary${randomBytes(12).toString('hex')}`
const answers: [string, string][] = []

async function ask(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {}
): Promise<ApiResponse> {
  const response = await app.inject({
    method: method as 'GET',
    url,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) })
  })
  answers.push([`${method} ${url} ${response.statusCode}`, `${JSON.stringify(response.headers)} ${response.payload}`])
  return { status: response.statusCode, headers: {}, text: response.payload, body: undefined }
}

test('passwords, tokens, codes, keys and credentials appear in no response and no log', async () => {
  const ada = await api.signUp()
  const { cookie } = ada
  const team = (await ada.post('/api/teams', { name: 'Ours' })).body.id
  const email = 'somebody@example.org'
  // A valid value, one of the wrong type, one that is too long, and one with an extra field.
  const spoiled = (value: string): unknown[] => [value, [value], { [value]: value }, value.repeat(20), 7]
  const bodies: [string, string, (value: unknown) => unknown][] = [
    ['POST', '/api/auth/validate-code', (code) => ({ code })],
    ['POST', '/api/auth/sign-up', (password) => ({ email, password, code: 'x' })],
    ['POST', '/api/auth/sign-up', (code) => ({ email, password: 'long enough', code })],
    ['POST', '/api/auth/sign-up', (token) => ({ email, password: 'long enough', invitation_token: token })],
    ['POST', '/api/auth/sign-in', (password) => ({ email: ada.email, password })],
    ['POST', '/api/auth/reset-password', (token) => ({ token, password: 'long enough' })],
    ['POST', '/api/auth/reset-password', (password) => ({ token: 'x', password })],
    ['POST', '/api/auth/change-password', (password) => ({ password, new_password: 'long enough' })],
    ['POST', '/api/auth/change-password', (new_password) => ({ password: 'x', new_password })],
    ['DELETE', '/api/profile', (password) => ({ password })],
    ['POST', '/api/team/secrets', (secret) => ({ team_id: team, provider: 'ionq', secrets: { api_key: secret } })],
    ['POST', '/api/team/secrets', (secret) => ({ team_id: team, provider: 'none', secrets: { api_key: secret } })],
    ['POST', '/api/team/secrets', (secret) => ({ team_id: team, provider: 'aws-braket', secrets: secret })],
    ['POST', '/api/team/secrets/test', (secret) => ({ team_id: team, provider: 'ionq', secrets: { api_key: secret } })]
  ]
  for (const [method, path, body] of bodies)
    for (const value of spoiled(CANARY))
      for (const extra of [{}, { another: 1 }])
        await ask(method, path, { ...(body(value) as object), ...extra }, { cookie })
  const given: [string, Record<string, string>][] = [
    ['/api/jobs', { authorization: `Bearer marqey_live_${CANARY}` }],
    ['/api/jobs', { authorization: `Bearer ${CANARY}` }],
    ['/api/jobs', { authorization: `Basic ${CANARY}` }],
    ['/api/jobs', { cookie: `qjs_session=${CANARY}` }],
    ['/api/jobs', { cookie: `qjs_session=${CANARY}; qjs_session=${CANARY}` }],
    [`/api/invitations/${CANARY}`, {}],
    [`/invitations/${CANARY}`, {}],
    [`/reset-password/${CANARY}`, {}]
  ]
  for (const [path, headers] of given) await ask('GET', path, undefined, headers)
  await ask('POST', `/api/invitations/${CANARY}/accept`, {}, { cookie })

  expect(answers.filter(([, text]) => text.includes(CANARY)).map(([name]) => name)).toEqual([])
  expect(answers.filter(([name]) => / 5\d\d$/.test(name)).map(([name]) => name)).toEqual([])
  expect(lines.length).toBeGreaterThan(100)
  expect(lines.filter((line) => line.includes(CANARY))).toEqual([])
  // Each line has its route, so that a slow or failing one can be found.
  const logged = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'answered')
  expect(logged.length).toBeGreaterThan(100)
  expect(logged.filter(({ route }) => !/^\/(api|invitations|reset-password)\//.test(route))).toEqual([])
  const tables = await db.execute(
    sql`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`
  )
  expect(tables.length).toBeGreaterThan(15)
  for (const { name } of tables) {
    const rows = await db.execute(sql`select row::text as text from ${sql.identifier(name as string)} row`)
    expect([name, rows.filter((row) => String(row.text).includes(CANARY))]).toEqual([name, []])
    // Binary columns are compared in hex.
    const hex = Buffer.from(CANARY).toString('hex')
    expect([name, rows.filter((row) => String(row.text).includes(hex))]).toEqual([name, []])
  }
})

test('a database that fails during a sign-up, a submission or the storing of a result puts nothing of them into the log', async () => {
  const ada = await api.signUp()
  const code = await createAccessCode(db, { uses: 5 })
  lines.length = 0
  for (const table of ['users', 'jobs', 'artifacts'])
    await db.execute(sql.raw(`alter table ${table} add constraint refuses_all check (false) not valid`))
  try {
    const account = { email: `${CANARY}@example.org`, password: `${CANARY} a password`, display_name: CANARY, code }
    const signUp = await ask('POST', '/api/auth/sign-up', account)
    const submit = await ask('POST', '/api/jobs/submit', submission({ inline_code: CANARY }), { cookie: ada.cookie })
    expect([signUp.status, submit.status]).toEqual([500, 500])
    const stopped = new AbortController()
    const tried = retryWhileDatabaseAway({ log, jobId: 'a job', signal: stopped.signal }, () =>
      db
        .insert(artifacts)
        .values(resultOf(CANARY))
        .catch((error) => {
          stopped.abort()
          throw error
        })
    )
    await expect(tried).rejects.toThrow(/abort/)
  } finally {
    for (const table of ['users', 'jobs', 'artifacts'])
      await db.execute(sql.raw(`alter table ${table} drop constraint refuses_all`))
  }
  const faults = lines.map((line) => JSON.parse(line)).filter(({ err }) => err)
  expect(faults.map(({ err }) => [err.cause.code, err.cause.constraint, err.query.split(' ', 3).join(' ')])).toEqual(
    ['users', 'jobs'].map(() => ['23514', 'refuses_all', expect.any(String)])
  )
  expect(lines.filter((line) => line.includes('artifacts')).map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ kind: 'fault', reason: expect.stringContaining('refuses_all') })
  ])
  const hex = Buffer.from(CANARY).toString('hex')
  expect(lines.filter((line) => [CANARY, hex, '$argon2id'].some((piece) => line.includes(piece)))).toEqual([])
})

const resultOf = (text: string) => ({
  jobId: newId(),
  name: 'result.json',
  sha256: 'a'.repeat(64),
  sizeBytes: text.length,
  mediaType: 'application/json',
  content: Buffer.from(text)
})
