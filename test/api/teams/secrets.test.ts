import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { startEmulators } from '../../../apps/emulators/emulators.js'
import type { CredentialProvider } from '../../../domain/backends/provider-credentials.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { openCredentials } from '../../../services/providers/credentials.js'
import { createProviders } from '../../../services/providers/providers.js'
import { type ApiResponse, startApi, type TestUser } from '../../support/api/api.js'

const keyRing = readKeyRing(`k1:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`)
const emulators = await startEmulators()
const ionq = emulators.provider('ionq')
const providers = createProviders({ ionq: { api: ionq.base_url } })
// A version that can ask IonQ alone.
const adapters = new Map([...providers.adapters].filter(([name]) => name === 'IonQ'))
const api = await startApi('secrets', { keyRing, providers: adapters })
const { db } = api.database
afterAll(async () => {
  await api.close()
  await providers.close()
  await emulators.close()
})

const path = '/api/team/secrets'
const aws = { access_key_id: 'AKIAIOSFODNN7EXAMPLE', secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' }
/** Of a provider that this version cannot ask. */
const azure = {
  subscription_id: '01234567-89ab-cdef-0123-456789abcdef',
  resource_group: 'a-group',
  workspace_name: 'a-workspace',
  location: 'eastus'
}
const unknownId = '01a1fdb6-9b8b-7716-8ef2-8ab24a008b25'

let owner: TestUser
let outsider: TestUser
let teamId: string

const newTeam = async (user: TestUser): Promise<string> => {
  const made = await user.post('/api/teams', { name: 'a team' })
  if (made.status !== 201) throw new Error(`a team answered ${made.status}: ${made.text}`)
  return made.body.id
}
const join = (user: TestUser, team: string, role: string) =>
  db.execute(sql`insert into members (team_id, user_id, role) values (${team}, ${user.id}, ${role})`)
const save = (provider: string, secrets: unknown, user = owner, team = teamId): Promise<ApiResponse> =>
  user.post(path, { team_id: team, provider, secrets })
const list = async (user = owner, team = teamId) => (await user.get(`${path}?team_id=${team}`)).body.secrets
const stored = (provider: CredentialProvider, team = teamId) => openCredentials(db, keyRing, team, provider)

beforeAll(async () => {
  ;[owner, outsider] = [await api.signUp(), await api.signUp()]
})
beforeEach(async () => {
  teamId = await newTeam(owner)
})

describe('with a provider that checks credentials,', () => {
  test.each([
    ['that it accepts', (key: string) => key, null, { valid: true, details: { validation_status: 'valid' } }],
    [
      'that it rejects',
      () => 'anotherKey0123456789',
      null,
      { valid: false, details: { validation_status: 'invalid' } }
    ],
    [
      'while it is unavailable',
      (key: string) => key,
      { kind: 'status' as const, status: 503, times: 10 },
      { valid: false, details: { validation_status: 'unreachable' } }
    ]
  ])('a test reports credentials %s, whether sent or stored', async (_what, keyOf, fault, expected) => {
    ionq.control.reset()
    if (fault) ionq.control.fault(fault)
    const secrets = { api_key: keyOf(ionq.credentials.api_key!) }
    const body = { team_id: teamId, provider: 'ionq' }
    expect((await owner.post(`${path}/test`, { ...body, secrets })).body).toMatchObject(expected)
    expect(await list()).toEqual([])
    await save('ionq', secrets)
    expect((await owner.post(`${path}/test`, body)).body).toMatchObject(expected)
    expect(await list()).toMatchObject([{ ...expected.details, validated_at: expect.stringMatching(/Z$/) }])
  })

  test('a new value is untested again', async () => {
    ionq.control.reset()
    await save('ionq', ionq.credentials)
    await owner.post(`${path}/test`, { team_id: teamId, provider: 'ionq' })
    await save('ionq', { api_key: 'anotherKey0123456789' })
    expect(await list()).toMatchObject([{ validation_status: 'untested', validated_at: null }])
  })
})

describe('credentials', () => {
  test('of all teams of the caller are listed when none is named, and of no other team', async () => {
    const [member, stranger, other] = [await api.signUp(), await api.signUp(), await newTeam(owner)]
    await join(member, teamId, 'member')
    await join(member, other, 'admin')
    await save('ionq', { api_key: 'exampleKey0123456789' })
    await save('aws-braket', aws, owner, other)
    await save('ionq', { api_key: 'exampleKey0123456789' }, stranger, await newTeam(stranger))
    const seen = (await member.get(path)).body.secrets.map((item: Item & { team_id: string }) => [
      item.team_id,
      item.key_name
    ])
    expect(seen.sort()).toEqual(
      [
        [teamId, 'api_key'],
        [other, 'access_key_id'],
        [other, 'secret_access_key']
      ].sort()
    )
    expect((await list(member, other)).map(({ key_name }: Item) => key_name)).toEqual([
      'access_key_id',
      'secret_access_key'
    ])
    const key = await owner.post('/api/team/api-keys', { team_id: teamId, name: 'k', tier: 'read', kind: 'live' })
    const keyed = await api.ask('GET', path, undefined, { authorization: `Bearer ${key.body.key}` })
    expect(keyed.body.secrets).toMatchObject([{ team_id: teamId, provider: 'ionq' }])
  })

  test('are listed masked, with everything about them but the value', async () => {
    const answer = await save('aws-braket', { AWS_ACCESS_KEY_ID: aws.access_key_id, ...without(aws, 'access_key_id') })
    expect(answer.status).toBe(201)
    const item = (key_name: string) => ({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      team_id: teamId,
      provider: 'aws-braket',
      key_name,
      masked_value: '********',
      status: 'active',
      validation_status: 'untested',
      validated_at: null,
      created_at: expect.stringMatching(/Z$/),
      updated_at: expect.stringMatching(/Z$/),
      can: { replace: true, test: true, delete: true }
    })
    expect(answer.body).toEqual({ secrets: [item('access_key_id'), item('secret_access_key')] })
    expect(await list()).toEqual(answer.body.secrets)
    expect(await stored('aws-braket')).toEqual(aws)
  })

  test('are the same for an id of the team in any case', async () => {
    const [first, second] = [teamId, teamId.toUpperCase()].map((id) => save('aws-braket', aws, owner, id))
    expect([(await first!).status, (await second!).status]).toEqual([201, 201])
    expect(await list()).toHaveLength(2)
    expect(await stored('aws-braket')).toEqual(aws)
  })

  test('are changed one at a time, and keep their ids', async () => {
    const before = (await save('aws-braket', aws)).body.secrets
    await save('ionq', { api_key: 'exampleKey0123456789' })
    const answer = await save('aws-braket', { default_region: 'us-east-1', secret_access_key: 'x'.repeat(40) })
    const ids = Object.fromEntries(answer.body.secrets.map((item: Item) => [item.key_name, item.id]))
    expect(answer.body.secrets.map((item: Item) => item.key_name)).toEqual([
      'access_key_id',
      'default_region',
      'secret_access_key'
    ])
    for (const item of before) expect(ids[item.key_name]).toBe(item.id)
    expect(await stored('aws-braket')).toEqual({
      ...aws,
      secret_access_key: 'x'.repeat(40),
      default_region: 'us-east-1'
    })
    expect(await list()).toHaveLength(4)
  })

  test('are accepted only with every value that the provider needs', async () => {
    const refused = await save('aws-braket', { access_key_id: aws.access_key_id })
    expect([refused.status, refused.body.error]).toEqual([
      400,
      'secrets.secret_access_key: is required; aws-braket needs access_key_id, secret_access_key'
    ])
    const half = await save('aws-braket', { ...aws, default_region: 'no region' })
    expect([half.status, half.body.error]).toEqual([
      400,
      'secrets.default_region: must be an AWS region such as us-east-1'
    ])
    expect(await list()).toEqual([])
  })

  test('are deleted one at a time, each only once', async () => {
    const [item] = (await save('aws-braket', aws)).body.secrets
    const answer = await owner.ask('DELETE', `${path}/${item.id}`)
    expect([answer.status, answer.body]).toEqual([200, { success: true }])
    expect((await list()).map(({ key_name }: Item) => key_name)).toEqual(['secret_access_key'])
    expect((await owner.ask('DELETE', `${path}/${item.id}`)).status).toBe(404)
    expect((await owner.ask('DELETE', `${path}/no-id`)).status).toBe(400)
    expect(await stored('aws-braket')).toEqual({ secret_access_key: aws.secret_access_key })
  })

  test.each([
    [
      'another provider',
      { provider: 'rigetti' },
      'provider: must be one of aws-braket, ibm-quantum, azure-quantum, ionq'
    ],
    ['no provider', { provider: undefined }, 'provider: is required'],
    ['no team', { team_id: undefined }, 'team_id: is required'],
    ['no secrets', { secrets: undefined }, 'secrets: is required'],
    ['empty secrets', { secrets: {} }, 'secrets: must hold at least one value'],
    ['a list of secrets', { secrets: [] }, 'secrets: must be an object'],
    ['an unknown name', { secrets: { password: 'x' } }, 'secrets.password: is not a credential of ionq; send api_key'],
    ['a number', { secrets: { api_key: 5 } }, 'secrets.api_key: must be a string'],
    ['a requested id', { id: unknownId }, 'id: is not a field of this request'],
    ['a requested mask', { masked_value: 'x' }, 'masked_value: is not a field of this request'],
    ['a requested validation', { validation_status: 'valid' }, 'validation_status: is not a field of this request'],
    ['a key of the ring', { ring_key_id: 'k0' }, 'ring_key_id: is not a field of this request'],
    ['an author', { user_id: unknownId }, 'user_id: is not a field of this request']
  ])('with %s are refused by every route that accepts them', async (_what, changes, message) => {
    const body = { team_id: teamId, provider: 'ionq', secrets: { api_key: 'exampleKey0123456789' }, ...changes }
    for (const route of [path, `${path}/test`]) {
      if (route.endsWith('test') && _what === 'no secrets') continue
      const answer = await owner.post(route, body)
      expect([route, answer.status, answer.body.error]).toEqual([route, 400, expect.stringContaining(message)])
    }
    expect(await list()).toEqual([])
  })

  test('of a caller without a team are an empty list', async () => {
    const answer = await outsider.get(path)
    expect([answer.status, answer.body]).toEqual([200, { secrets: [] }])
  })
})

describe('access to credentials:', () => {
  const body = () => ({ team_id: teamId, provider: 'ionq', secrets: { api_key: 'exampleKey0123456789' } })

  test('an outsider gets the same 404 as for unknown credentials', async () => {
    const [item] = (await save('aws-braket', aws)).body.secrets
    for (const [method, route, sent] of [
      ['POST', path, body()],
      ['POST', `${path}/test`, body()],
      ['GET', `${path}?team_id=${teamId}`],
      ['DELETE', `${path}/${item.id}`]
    ] as const) {
      const answer = await outsider.ask(method, route, sent)
      const unknown = await outsider.ask(
        method,
        route.replace(item.id, unknownId).replace(teamId, unknownId),
        sent && { ...sent, team_id: unknownId }
      )
      expect([route, answer.status, answer.text]).toEqual([route, 404, unknown.text])
    }
    expect(await list()).toHaveLength(2)
  })

  test('a member can only read the list; an admin can change it', async () => {
    const [member, admin] = [await api.signUp(), await api.signUp()]
    await join(member, teamId, 'member')
    await join(admin, teamId, 'admin')
    const [item] = (await save('aws-braket', aws)).body.secrets
    expect(await list(member)).toHaveLength(2)
    expect((await member.post(path, body())).status).toBe(403)
    expect((await member.post(`${path}/test`, body())).status).toBe(403)
    expect((await member.ask('DELETE', `${path}/${item.id}`)).status).toBe(403)
    expect((await admin.post(path, body())).status).toBe(201)
    expect((await admin.post(`${path}/test`, body())).status).toBe(200)
    expect((await admin.ask('DELETE', `${path}/${item.id}`)).status).toBe(200)
  })

  test('a suspended team is read-only', async () => {
    const [item] = (await save('aws-braket', aws)).body.secrets
    await db.execute(sql`update teams set suspended_at = now() where id = ${teamId}`)
    for (const answer of [
      await owner.post(path, body()),
      await owner.post(`${path}/test`, body()),
      await owner.ask('DELETE', `${path}/${item.id}`)
    ])
      expect([answer.status, answer.body.code]).toEqual([403, 'TEAM_SUSPENDED'])
    expect(await list()).toHaveLength(2)
  })
})

describe('a test of credentials', () => {
  const check = async (provider: string, secrets?: unknown) => {
    const answer = await owner.post(`${path}/test`, { team_id: teamId, provider, secrets })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      valid: false,
      provider,
      message: expect.any(String),
      checked_at: expect.stringMatching(/^\d{4}-.*Z$/),
      details: { validation_status: expect.any(String) }
    })
    return [answer.body.details.validation_status, answer.body.message]
  }
  const untested = ['untested', 'The format is right; this version cannot ask the provider']

  test('of an unsupported provider never calls them valid, and stores nothing', async () => {
    expect(await check('azure-quantum', azure)).toEqual(untested)
    expect(await list()).toEqual([])
  })

  test('reports what is missing or has a wrong format', async () => {
    expect(await check('ionq', { api_key: 'a b' })).toEqual([
      'invalid',
      'secrets.api_key: must be 8 to 4096 printable ASCII characters without spaces'
    ])
    expect(await check('aws-braket', { default_region: 'us-east-1' })).toEqual([
      'invalid',
      expect.stringContaining('secrets.access_key_id: is required')
    ])
  })

  test('uses the stored values when none are sent, and for omitted names', async () => {
    expect(await check('azure-quantum')).toEqual([
      'invalid',
      expect.stringContaining('The team has no azure-quantum credentials; set subscription_id, resource_group')
    ])
    const { secrets } = (await save('azure-quantum', azure)).body
    expect(await check('azure-quantum')).toEqual(untested)
    expect(await check('azure-quantum', { location: 'westus' })).toEqual(untested)
    const { id } = secrets.find((item: Item) => item.key_name === 'subscription_id')
    await owner.ask('DELETE', `${path}/${id}`)
    expect(await check('azure-quantum')).toEqual([
      'invalid',
      expect.stringContaining('secrets.subscription_id: is required')
    ])
  })

  test('reports stored ones that cannot be opened', async () => {
    await save('ionq', { api_key: 'exampleKey0123456789' })
    await db.execute(sql`update team_secrets set ring_key_id = 'lost' where team_id = ${teamId}`)
    expect(await check('ionq')).toEqual([
      'invalid',
      'The stored api_key of ionq cannot be opened: store it again, or ask the operator, whose log shows why'
    ])
    await save('ionq', { api_key: 'exampleKey0123456789' })
    expect(await check('ionq')).toEqual(['invalid', expect.stringContaining('IonQ does not take these credentials')])
  })
})

describe('a sealed value in the database', () => {
  const rowsOf = (team: string) =>
    db.execute<Row>(sql`select * from team_secrets where team_id = ${team} order by key_name`)

  test.each([
    ['another row', sql`update team_secrets set id = gen_random_uuid() where team_id = `],
    ['another provider', sql`update team_secrets set provider = 'ibm-quantum' where team_id = `],
    ['another name', sql`update team_secrets set key_name = 'token' where team_id = `]
  ])('moved to %s is refused', async (what, update) => {
    await save('ionq', { api_key: 'exampleKey0123456789' })
    expect(await stored('ionq')).toEqual({ api_key: 'exampleKey0123456789' })
    await db.execute(sql`${update} ${teamId}`)
    const provider = what === 'another provider' ? 'ibm-quantum' : 'ionq'
    await expect(stored(provider)).rejects.toThrow(/cannot be opened/)
  })

  test('moved to another team, or exchanged with one of another team or name, is refused', async () => {
    const mine = teamId
    const theirs = await newTeam(owner)
    for (const team of [mine, theirs]) await save('aws-braket', aws, owner, team)
    const swap = (from: string, fromName: string, to: string, toName: string) =>
      db.execute(sql`update team_secrets as target set (ring_key_id, wrapped_key, sealed_value) =
        (select ring_key_id, wrapped_key, sealed_value from team_secrets where team_id = ${from} and key_name = ${fromName})
        where team_id = ${to} and key_name = ${toName}`)
    const before = await rowsOf(mine)
    await swap(theirs, 'secret_access_key', mine, 'secret_access_key')
    await expect(stored('aws-braket', mine)).rejects.toThrow('stored secret_access_key of aws-braket cannot be opened')
    await swap(mine, 'access_key_id', mine, 'secret_access_key')
    await expect(stored('aws-braket', mine)).rejects.toThrow('stored secret_access_key of aws-braket cannot be opened')
    expect((await rowsOf(mine))[1]!.sealed_value).not.toEqual(before[1]!.sealed_value)
    await db.execute(sql`delete from team_secrets where team_id = ${theirs}`)
    await db.execute(sql`update team_secrets set team_id = ${theirs} where team_id = ${mine}`)
    await expect(stored('aws-braket', theirs)).rejects.toThrow('stored access_key_id of aws-braket cannot be opened')
  })
})

describe('concurrently,', () => {
  test('twenty writers leave one row per name, with the readable values of one writer', async () => {
    const values = Array.from({ length: 20 }, (_, at) => ({
      access_key_id: `AKIAIOSFODNN7EXAM${at + 10}`,
      secret_access_key: `${'x'.repeat(38)}${at + 10}`
    }))
    // From the second round on, every writer has a connection to the database.
    for (let round = 0; round < 4; round++) {
      const team = await newTeam(owner)
      const answers = await Promise.all(values.map((value) => save('aws-braket', value, owner, team)))
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(201))
      const items = await list(owner, team)
      expect(items.map(({ key_name }: Item) => key_name)).toEqual(['access_key_id', 'secret_access_key'])
      const answered = new Set(answers.flatMap(({ body }) => body.secrets.map(({ id }: Item) => id)))
      expect(answered).toEqual(new Set(items.map(({ id }: Item) => id)))
      expect(values).toContainEqual(await stored('aws-braket', team))
    }
  })

  test('writers and deletions leave only readable rows', async () => {
    await save('aws-braket', aws)
    for (let round = 0; round < 5; round++) {
      const items: Item[] = await list()
      const answers = await Promise.all([
        ...items.map(({ id }) => owner.ask('DELETE', `${path}/${id}`)),
        ...Array.from({ length: 4 }, () => save('aws-braket', aws)),
        ...items.map(({ id }) => owner.ask('DELETE', `${path}/${id}`))
      ])
      for (const { status } of answers) expect([200, 201, 404]).toContain(status)
      const left = await stored('aws-braket')
      expect(aws).toMatchObject(left)
      await save('aws-braket', aws)
      expect(await stored('aws-braket')).toEqual(aws)
    }
  })
})

test('a service without keys refuses to store credentials, and still lists and deletes them', async () => {
  const [item] = (await save('aws-braket', aws)).body.secrets
  const keyless = await startApi('secrets_keyless', { database: api.database, keyRing: null })
  const ask = (method: string, route: string, body?: unknown) =>
    keyless.ask(method, route, body, { cookie: owner.cookie })
  for (const [route, body] of [
    [path, { team_id: teamId, provider: 'ionq', secrets: { api_key: 'exampleKey0123456789' } }],
    [`${path}/test`, { team_id: teamId, provider: 'aws-braket' }]
  ] as const) {
    const answer = await ask('POST', route, body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('SECRETS_KEYS')])
  }
  expect((await ask('GET', `${path}?team_id=${teamId}`)).body.secrets).toHaveLength(2)
  expect((await ask('DELETE', `${path}/${item.id}`)).status).toBe(200)
  await keyless.close()
})

interface Item {
  id: string
  key_name: string
}

interface Row extends Record<string, unknown> {
  sealed_value: Buffer
}

const without = (values: Record<string, string>, name: string) =>
  Object.fromEntries(Object.entries(values).filter(([key]) => key !== name))
