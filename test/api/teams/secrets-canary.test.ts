// A credential, sent through every route and error path of /api/team/secrets, appears in no response, no log and no table.
import { Writable } from 'node:stream'
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { openCredentials } from '../../../services/providers/credentials.js'
import { logOptions } from '../../../services/telemetry/log.js'
import { type ApiResponse, startApi, type TestUser } from '../../support/api/api.js'

const logged: string[] = []
const log = pino(
  { ...logOptions, level: 'trace' },
  new Writable({ write: (chunk, _encoding, done) => done(void logged.push(`${chunk}`)) })
)
const keyRing = readKeyRing(`k1:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`)
const api = await startApi('secrets_canary', { keyRing, log })
const { db } = api.database
afterAll(() => api.close())

const path = '/api/team/secrets'
const unknownId = '01a1fdb6-9b8b-7716-8ef2-8ab24a008b25'

test('a secret value appears in no response, log or table, however it was sent', async () => {
  const canary = 'CANARY9d1f4e7a8b2c3d5e6f70'
  const token = { api_key: canary }
  const [owner, member, outsider] = [await api.signUp(), await api.signUp(), await api.signUp()]
  const teamId = (await owner.post('/api/teams', { name: 'a team' })).body.id
  await db.execute(sql`insert into members (team_id, user_id, role) values (${teamId}, ${member.id}, 'member')`)
  const body = (changes: object = {}) => ({ team_id: teamId, provider: 'ionq', secrets: token, ...changes })
  logged.length = 0

  const answers: ApiResponse[] = []
  const send = async (user: TestUser, sent: unknown, headers = {}) => {
    for (const route of [path, `${path}/test`]) answers.push(await user.ask('POST', route, sent, headers))
  }
  await send(owner, body())
  answers.push(await owner.post(`${path}/test`, { team_id: teamId, provider: 'ionq' }), await owner.get(path))
  for (const secrets of [
    canary,
    [canary],
    { api_key: [canary] },
    { api_key: { value: canary } },
    { api_key: `${canary} ` },
    { api_key: `${canary}\u0000` },
    { api_key: `${canary}\ud800` },
    { api_key: canary.repeat(200) },
    { api_key: canary, IONQ_API_KEY: canary },
    { token: canary },
    { [canary]: 'x' },
    { [canary]: 5 },
    { api_key: 5, [canary]: canary }
  ])
    await send(owner, body({ secrets }))
  for (const provider of ['aws-braket', 'ibm-quantum', 'azure-quantum'])
    await send(owner, body({ provider, secrets: { default_region: canary, instance: canary, location: canary } }))
  for (const name of ['access_key_id', 'default_region', 's3_bucket', 's3_prefix', 'session_token'])
    await send(owner, body({ provider: 'aws-braket', secrets: { [name]: `${canary}\n` } }))
  for (const user of [member, outsider]) await send(user, body())
  await send(owner, body({ team_id: unknownId }))
  await send(owner, body({ team_id: 'none' }))
  await send(owner, body({ provider: 'none' }))
  await send(owner, body({ more: 1 }))
  const json = JSON.stringify(body())
  for (const broken of [
    json.slice(0, -1),
    json.slice(0, json.indexOf(canary) + 10),
    `${json}x`,
    Buffer.from(`${json}\xff`, 'latin1')
  ])
    await send(owner, broken, { 'content-type': 'application/json' })
  await send(owner, json, { 'content-type': 'text/plain' })
  await send(owner, json, { origin: 'https://evil.example' })
  await send(owner, json, { authorization: 'Bearer none' })
  answers.push(
    await api.ask('POST', path, body()),
    await owner.ask('PUT', path, body()),
    await owner.ask('DELETE', path, body())
  )
  // A failure of the database while the values are being written.
  await db.execute(sql`alter table team_secrets rename column sealed_value to sealed_value_away`)
  await send(owner, body())
  await db.execute(sql`alter table team_secrets rename column sealed_value_away to sealed_value`)
  await db.execute(sql`alter table team_secrets add constraint never check (octet_length(sealed_value) < 0) not valid`)
  await send(owner, body())
  await db.execute(sql`alter table team_secrets drop constraint never`)

  const statuses = new Set(answers.map(({ status }) => status))
  expect([200, 201, 400, 401, 403, 404, 415, 500].filter((status) => !statuses.has(status))).toEqual([])
  expect(answers.length).toBeGreaterThan(70)
  expect(await openCredentials(db, keyRing, teamId, 'ionq')).toEqual(token)
  // Parts of the value too, since a shortened message could still contain its beginning.
  for (const piece of [
    canary,
    canary.slice(0, 9),
    Buffer.from(canary).toString('base64').slice(0, 20),
    Buffer.from(canary).toString('hex')
  ]) {
    for (const { text, headers } of answers) expect(text + JSON.stringify(headers)).not.toContain(piece)
    expect(logged.filter((line) => line.includes(piece))).toEqual([])
  }
  expect(logged.some((line) => line.includes('request failed with an internal error'))).toBe(true)
  const tables = await db.execute<{ name: string }>(
    sql`select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
        where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`
  )
  expect(tables.map(({ name }) => name)).toContain('public.team_secrets')
  for (const { name } of tables) {
    const rows = await db.execute<{ text: string }>(sql`select t::text as text from ${sql.raw(name)} as t`)
    for (const { text } of rows)
      for (const form of [canary, Buffer.from(canary).toString('hex')])
        expect([name, text.includes(form)]).toEqual([name, false])
  }
})
