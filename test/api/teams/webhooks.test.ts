import { Writable } from 'node:stream'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { finishTry, takeDelivery } from '../../../db/teams/webhook-deliveries.js'
import { BEING_SENT, webhookEvents } from '../../../domain/teams/webhook.js'
import { readKeyRing, webhookContext } from '../../../services/keys/key-ring.js'
import { startApi, type TestUser } from '../../support/api/api.js'

const logged: string[] = []
const log = pino(
  { level: 'trace' },
  new Writable({ write: (chunk, _encoding, done) => done(void logged.push(`${chunk}`)) })
)
const keyRing = readKeyRing(`k1:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`)
const api = await startApi('webhooks', { keyRing, log })
const { db } = api.database
afterAll(() => api.close())

const path = '/api/team/webhooks'
const url = 'https://hooks.example.org/jobs'
const unknownId = '01a1fdb6-9b8b-7716-8ef2-8ab24a008b25'

let owner: TestUser
let member: TestUser
let outsider: TestUser
let teamId: string

beforeAll(async () => {
  ;[owner, member, outsider] = [await api.signUp(), await api.signUp(), await api.signUp()]
})
beforeEach(async () => {
  teamId = (await owner.post('/api/teams', { name: 'a team' })).body.id
  await db.execute(sql`insert into members (team_id, user_id, role) values (${teamId}, ${member.id}, 'member')`)
})

const make = (body: Record<string, unknown> = {}, user = owner) =>
  user.post(path, { team_id: teamId, url, events: ['job.completed'], ...body })
const list = async (user = owner) => (await user.get(`${path}?team_id=${teamId}`)).body.webhooks
const remove = (id: string, user = owner) => user.ask('DELETE', `${path}/${id}`)
const deliveries = (id: string, user = owner) => user.get(`${path}/${id}/deliveries`)
const cancelledJob = async () => {
  const source = 'OPENQASM 3.0; qubit q; bit c; c = measure q;'
  const later = new Date(Date.now() + 3_600_000).toISOString()
  const id = await owner.submit({
    team_id: teamId,
    backend: 'local',
    framework: 'openqasm',
    inline_code: source,
    params: { shots: 10 },
    not_before: later
  })
  expect((await owner.post(`/api/jobs/${id}/cancel`)).status).toBe(202)
  return id
}

describe('a webhook', () => {
  test('is shown with its secret once, and afterwards without', async () => {
    const answer = await make({ events: ['job.failed', 'job.completed', 'job.failed'] })
    expect(answer.status).toBe(201)
    const { secret, ...shown } = answer.body
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(shown).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      team_id: teamId,
      url,
      events: ['job.failed', 'job.completed'],
      created_at: expect.stringMatching(/Z$/),
      can: { test: true, delete: true }
    })
    expect(await list()).toEqual([shown])
    expect((await make()).body.secret).not.toBe(secret)
  })

  test('can subscribe to every event', async () => {
    expect((await make({ events: [...webhookEvents] })).body.events).toEqual([...webhookEvents])
  })

  test('without a named team belongs to the personal team', async () => {
    const answer = await owner.post(path, { url, events: ['job.completed'] })
    const [personal] = await db.execute(sql`select id from teams where personal_of = ${owner.id}`)
    expect([answer.status, answer.body.team_id]).toEqual([201, personal!.id])
  })

  test.each([
    [{ url: 'http://hooks.example.org/' }, 'url: must begin with https://'],
    [{ url: 'https://localhost/' }, 'url: must be on the public Internet; this host belongs to a private network'],
    ...['127.0.0.1', '2130706433', '0x7f.1', '0177.0.0.1', '[::ffff:10.0.0.1]', '[::1]', '169.254.169.254'].map(
      (host) => [
        { url: `https://${host}:8443/hook` },
        'url: must be on the public Internet; this host belongs to a private network'
      ]
    ),
    [{ url: 'hooks.example.org' }, 'url: must be an address such as https://example.org/hook'],
    [{ url: 5 }, 'url: must be a string of 1 to 2000 characters (got 5)'],
    [{ url: undefined }, 'url: is required'],
    [{ events: [] }, 'events: must be a list of 1 to 5 items (got a list of 0 items)'],
    [{ events: ['job.started'] }, `events[0]: must be one of ${webhookEvents.join(', ')} (got "job.started")`],
    [{ events: undefined }, 'events: is required'],
    [{ secret: 'mine' }, 'secret: is not a field of this request'],
    [{ created_by: unknownId }, 'created_by: is not a field of this request']
  ] as [Record<string, unknown>, string][])(
    'with %j is refused, and the message states the rule',
    async (body, message) => {
      const answer = await make(body)
      expect([answer.status, answer.body]).toEqual([400, { error: message }])
      expect(await list()).toEqual([])
    }
  )

  test('is one of at most twenty of a team, also when thirty are created at once', async () => {
    const made = await Promise.all(Array.from({ length: 30 }, () => make()))
    const statuses = made.map(({ status }) => status)
    expect([statuses.filter((status) => status === 201), statuses.filter((status) => status === 409)]).toEqual([
      Array(20).fill(201),
      Array(10).fill(409)
    ])
    expect(made.find(({ status }) => status === 409)!.body.error).toContain('20 webhooks')
    expect(await list()).toHaveLength(20)
    await remove((await list())[0].id)
    expect((await make()).status).toBe(201)
  })

  test('is deleted with its log, and its pending deliveries are not sent', async () => {
    const { id } = (await make({ events: ['job.cancelled'] })).body
    await cancelledJob()
    expect((await deliveries(id)).body.deliveries).toHaveLength(1)
    expect(await remove(id)).toMatchObject({ status: 200, body: { success: true } })
    expect([await list(), await takeDelivery(db, [])]).toEqual([[], null])
    for (const answer of [await remove(id), await deliveries(id)])
      expect([answer.status, answer.body]).toEqual([404, { error: 'no such webhook' }])
  })
})

describe('the log of a webhook', () => {
  test('shows events and their outcomes, newest first', async () => {
    const { id } = (await make({ events: ['job.cancelled'] })).body
    expect((await deliveries(id)).body).toEqual({ deliveries: [] })
    await cancelledJob()
    await finishTry(db, (await takeDelivery(db, []))!, { status: 204, error: null }, [])
    await cancelledJob()
    await finishTry(db, (await takeDelivery(db, []))!, { status: 500, error: 'answered 500' }, [60])
    const shown = { id: expect.any(String), event: 'job.cancelled', tries: 1, created_at: expect.stringMatching(/Z$/) }
    expect((await deliveries(id)).body.deliveries).toEqual([
      {
        ...shown,
        state: 'pending',
        last_status: 500,
        last_error: 'answered 500',
        delivered_at: null,
        next_try_at: expect.stringMatching(/Z$/),
        can: { send_again: true }
      },
      {
        ...shown,
        state: 'delivered',
        last_status: 204,
        last_error: null,
        delivered_at: expect.stringMatching(/Z$/),
        next_try_at: null,
        can: { send_again: true }
      }
    ])
  })

  test('contains the newest hundred deliveries', async () => {
    const { id } = (await make()).body
    await db.execute(sql`insert into webhook_deliveries (id, webhook_id, event, payload, state, next_at)
      select overlay('01900000-0000-7000-8000-000000000000' placing lpad(n::text, 3, '0') from 34 for 3)::uuid,
        ${id}, 'job.completed', '{}', 'delivered', now() from generate_series(1, 120) n`)
    const ids = (await deliveries(id)).body.deliveries.map((row: { id: string }) => row.id.slice(-3))
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([100, '120', '021'])
  })
})

describe('a test of a webhook', () => {
  test('is a delivery of an event of its own, whatever the webhook subscribes to', async () => {
    const { id } = (await make({ events: ['job.failed'] })).body
    const { status, body } = await owner.post(`${path}/${id}/test`)
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        event: 'webhook.test',
        state: 'pending',
        tries: 0,
        last_status: null,
        last_error: null,
        created_at: expect.stringMatching(/Z$/),
        delivered_at: null,
        next_try_at: expect.stringMatching(/Z$/),
        can: { send_again: BEING_SENT }
      }
    ])
    const taken = (await takeDelivery(db, []))!
    expect([taken.id, taken.event]).toEqual([body.id, 'webhook.test'])
    expect(JSON.parse(taken.payload)).toEqual({
      type: 'webhook.test',
      timestamp: expect.stringMatching(/Z$/),
      data: { team_id: teamId, webhook_id: id }
    })
    await finishTry(db, taken, { status: 204, error: null }, [])
    expect((await deliveries(id)).body.deliveries).toMatchObject([{ id: body.id, state: 'delivered' }])
  })
})

describe('a delivery that is sent again', () => {
  const again = (webhook: string, id: string, user = owner) => user.post(`${path}/${webhook}/deliveries/${id}/again`)
  const failed = async () => {
    const webhook = (await make({ events: ['job.cancelled'] })).body.id as string
    await cancelledJob()
    const taken = (await takeDelivery(db, []))!
    await finishTry(db, taken, { status: 500, error: 'answered 500' }, [])
    return { webhook, taken }
  }

  test('has its id and body once more, and one further try after its last', async () => {
    const { webhook, taken } = await failed()
    const { status, body } = await again(webhook, taken.id)
    expect([status, body.id, body.state]).toEqual([200, taken.id, 'pending'])
    const second = (await takeDelivery(db, []))!
    expect([second.id, second.payload, second.tries]).toEqual([taken.id, taken.payload, 2])
    expect(await finishTry(db, second, { status: 500, error: 'answered 500' }, [])).toBe('failed')
  })

  test('is refused while a sender has it, in the words of `can`, and ten presses at once send it once', async () => {
    const { webhook, taken } = await failed()
    const answers = await Promise.all(Array.from({ length: 10 }, () => again(webhook, taken.id)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    for (const { status, body } of answers) if (status !== 200) expect([status, body.error]).toEqual([409, BEING_SENT])
    expect((await deliveries(webhook)).body.deliveries[0].can.send_again).toBe(BEING_SENT)
    await takeDelivery(db, [])
    expect((await again(webhook, taken.id)).status).toBe(409)
  })

  test('cannot be one of another webhook', async () => {
    const { taken } = await failed()
    const other = (await make()).body.id
    const answer = await again(other, taken.id)
    expect([answer.status, answer.body.error]).toEqual([404, 'no such delivery'])
    expect((await again(other, taken.id, outsider)).body.error).toBe('no such webhook')
  })
})

describe('access to webhooks:', () => {
  test('members can neither see nor change webhooks; outsiders get 404', async () => {
    const { id } = (await make()).body
    const requests: [string, string, unknown?][] = [
      ['GET', `${path}?team_id=${teamId}`],
      ['POST', path, { team_id: teamId, url, events: ['job.completed'] }],
      ['GET', `${path}/${id}/deliveries`],
      ['DELETE', `${path}/${id}`]
    ]
    for (const [method, at, body] of requests) {
      const refused = await member.ask(method, at, body)
      expect([method, at, refused.status]).toEqual([method, at, 403])
      expect([method, at, (await outsider.ask(method, at, body)).status]).toEqual([method, at, 404])
    }
    for (const [method, rest] of [
      ['GET', '/deliveries'],
      ['DELETE', '']
    ]) {
      const foreign = await outsider.ask(method!, `${path}/${id}${rest}`)
      expect(foreign.body).toEqual((await outsider.ask(method!, `${path}/${unknownId}${rest}`)).body)
    }
    expect(await list()).toHaveLength(1)
  })

  test('a caller without any team sees none', async () => {
    const newcomer = await api.signUp()
    expect(await newcomer.get(path)).toMatchObject({ status: 200, body: { webhooks: [] } })
  })
})

test('a signing secret appears in no list, log, error or row of the database', async () => {
  const made = [await make({ events: [...webhookEvents] }), await make()]
  const shown = [await owner.get(`${path}?team_id=${teamId}`), await deliveries(made[0]!.body.id)]
  await cancelledJob()
  shown.push(await make({ url: 'https://localhost/' }), await deliveries(made[0]!.body.id), await remove(unknownId))
  const tables = await db.execute<{ name: string }>(
    sql`select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`
  )
  let dump = ''
  for (const { name } of tables)
    dump += JSON.stringify(await db.execute(sql`select t::text from ${sql.identifier(name)} t`))
  expect(dump).toContain(made[0]!.body.id)
  for (const { body } of made) {
    const key = Buffer.from(body.secret.slice(6), 'base64')
    for (const spelling of [body.secret.slice(6), key.toString('hex'), Buffer.from(body.secret).toString('hex')]) {
      expect(dump).not.toContain(spelling)
      expect(logged.join('')).not.toContain(spelling)
      expect(shown.map(({ text }) => text).join('')).not.toContain(spelling)
    }
  }
  // The stored value is the secret that was shown, and can be opened only for its own row.
  const [row] = await db.execute<{ id: string; ring_key_id: string; wrapped_key: Buffer; sealed_secret: Buffer }>(
    sql`select * from webhooks where id = ${made[0]!.body.id}`
  )
  const sealed = { ringKeyId: row!.ring_key_id, wrappedKey: row!.wrapped_key, sealedValue: row!.sealed_secret }
  expect(keyRing.open(sealed, webhookContext({ teamId, id: row!.id }))).toBe(made[0]!.body.secret)
  expect(() => keyRing.open(sealed, webhookContext({ teamId, id: made[1]!.body.id }))).toThrow()
})

describe('a service', () => {
  test('without keys reports that it cannot store a signing secret', async () => {
    const other = await startApi('webhooks_no_ring', { database: api.database, keyRing: null })
    try {
      const answer = await other.ask('POST', path, { url, events: ['job.completed'] }, { cookie: owner.cookie })
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('SECRETS_KEYS')])
    } finally {
      await other.close()
    }
  })

  test('whose operator allows private networks accepts their addresses', async () => {
    const other = await startApi('webhooks_private', { database: api.database, config: { webhookAllowPrivate: true } })
    try {
      const body = { team_id: teamId, url: 'http://127.0.0.1:9000/hook', events: ['job.completed'] }
      const answer = await other.ask('POST', path, body, { cookie: owner.cookie })
      expect([answer.status, answer.body.url]).toEqual([201, body.url])
    } finally {
      await other.close()
    }
  })
})
