import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { startApi, type TestUser } from '../../support/api/api.js'
import { submission } from '../../support/jobs/builders.js'

const api = await startApi('backends')
const { ask, database } = api
afterAll(() => api.close())

let admin: TestUser
let ada: TestUser
beforeAll(async () => {
  admin = await api.signUp({ admin: true })
  ada = await api.signUp()
})

const list = (headers = {}) => ask('GET', '/api/backends', undefined, headers)
const change = (slug: string, body: unknown, user = admin) => user.ask('PATCH', `/api/admin/backends/${slug}`, body)

/** Interface specification 2.3: type of each field, and whether it may be null. */
const fields: Record<string, (value: unknown) => boolean> = (() => {
  const is =
    (type: string, nullable = false) =>
    (value: unknown) =>
      (nullable && value === null) || typeof value === type
  const whole = (value: unknown) => value === null || Number.isInteger(value)
  return {
    id: is('string'),
    slug: is('string'),
    name: is('string'),
    provider: is('string'),
    deviceType: (value) => value === 'simulator' || value === 'qpu',
    providerTargetId: is('string'),
    region: is('string', true),
    qubitCount: whole,
    topology: is('string', true),
    isAvailable: is('boolean'),
    status: (value) => ['online', 'offline', 'maintenance'].includes(value as string),
    pricing: (value) =>
      Object.keys(value as object).join() === 'taskFee,perShot,minimumCost' &&
      Object.values(value as object).every((price) => typeof price === 'number' && price >= 0),
    maxShots: whole,
    maxQubits: whole,
    description: is('string', true),
    documentationUrl: is('string', true),
    tags: (value) => value === null || (value as unknown[]).every((tag) => typeof tag === 'string'),
    displayOrder: whole,
    isRecommended: is('boolean')
  }
})()

describe('the catalogue', () => {
  test('is public and has every field of the specification, of its type', async () => {
    const { status, body } = await list()
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['backends', 'updatedAt'])
    expect(new Date(body.updatedAt).toISOString()).toBe(body.updatedAt)
    const wrong = body.backends.flatMap((backend: Record<string, unknown>) =>
      Object.entries(fields).flatMap(([name, holds]) => (holds(backend[name]) ? [] : [`${backend.slug}.${name}`]))
    )
    expect(wrong).toEqual([])
  })

  test('contains the seeded backends with the specified prices, each slug once', async () => {
    const { body } = await list()
    const bySlug = new Map<string, Record<string, never>>(
      body.backends.map((backend: { slug: string }) => [backend.slug, backend])
    )
    expect(bySlug.size).toBe(body.backends.length)
    for (const [slug, taskFee, perShot] of [
      ['local', 0, 0],
      ['marqov-sim', 0, 0],
      ['aer-statevector', 0, 0],
      ['sv1', 0.075, 0],
      ['dm1', 0.075, 0],
      ['tn1', 0.075, 0],
      ['ionq-forte-1', 0.3, 0.01],
      ['rigetti-ankaa-3', 0.3, 0.00035],
      ['iqm-garnet', 0.3, 0.00145],
      ['quera-aquila', 0.3, 0.01]
    ] as const)
      expect([slug, bySlug.get(slug)?.pricing]).toEqual([slug, { taskFee, perShot, minimumCost: taskFee }])
    for (const slug of ['tn1', 'rigetti-ankaa-3'])
      expect(bySlug.get(slug)).toMatchObject({ isRetired: true, status: 'offline', isAvailable: false })
    for (const slug of ['local', 'marqov-sim', 'aer-statevector'])
      expect(bySlug.get(slug)).toMatchObject({ isAvailable: true, status: 'online' })
  })

  test('shows as available exactly the backends that accept a job', async () => {
    const { body } = await list()
    for (const { slug, isAvailable } of body.backends) {
      const answer = await ada.post('/api/jobs/submit', submission({ backend: slug, params: { shots: 1 } }))
      expect([slug, answer.status]).toEqual([slug, isAvailable ? 201 : 400])
    }
  })

  test('is cacheable as the specification requires, and does not vary by caller', async () => {
    const anonymous = await list()
    expect(anonymous.headers['cache-control']).toBe('public, max-age=600, s-maxage=300, stale-while-revalidate=3600')
    const signedIn = await list({ cookie: ada.cookie })
    expect(signedIn.text).toBe(anonymous.text)
    expect(signedIn.headers['set-cookie']).toBeUndefined()
  })

  test('is not sent again to a client that has the current version', async () => {
    const { headers } = await list()
    const etag = headers.etag as string
    expect(etag).toMatch(/^"[\w-]+"$/)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await list({ 'if-none-match': known })
      expect([known, again.status, again.text]).toEqual([known, 304, ''])
      expect(again.headers.etag).toBe(etag)
      expect(again.headers['cache-control']).toContain('max-age=600')
    }
    for (const other of ['"other"', etag.slice(1, -1), ''])
      expect((await list({ 'if-none-match': other })).status).toBe(200)
  })

  test('returns one backend by its slug, and 404 for an unknown slug', async () => {
    const { body } = await list()
    const one = await ask('GET', '/api/backends/local')
    expect(one.body).toEqual(body.backends.find((backend: { slug: string }) => backend.slug === 'local'))
    expect(one.headers.etag).toBeDefined()
    for (const slug of ['nope', 'LOCAL', "'", '__proto__']) {
      const none = await ask('GET', `/api/backends/${slug}`)
      expect([slug, none.status, none.headers['cache-control']]).toEqual([slug, 404, 'no-store'])
    }
  })
})

describe('a change by a platform administrator', () => {
  test('of a price is visible at once, with a new ETag and a new updatedAt', async () => {
    const before = await list()
    const answer = await change('sv1', { pricing: { perShot: 0.000123 } })
    expect(answer.status).toBe(200)
    expect(answer.body.pricing).toEqual({ taskFee: 0.075, perShot: 0.000123, minimumCost: 0.075 })
    const after = await list()
    expect(after.body.backends.find((backend: { slug: string }) => backend.slug === 'sv1').pricing.perShot).toBe(
      0.000123
    )
    expect(after.headers.etag).not.toBe(before.headers.etag)
    expect(Date.parse(after.body.updatedAt)).toBeGreaterThan(Date.parse(before.body.updatedAt))
  })

  test('sets a price of the machine’s time with its cap, which estimates and audit then have, and clears both', async () => {
    const before = await list()
    const set = await change('ibm-fez', { pricing: { perSecond: 1.6, secondsMax: 60 } })
    const pricing = { taskFee: 0.3, perShot: 0.00145, minimumCost: 0.3, perSecond: 1.6, secondsMax: 60 }
    expect([set.status, set.body.pricing]).toEqual([200, pricing])
    expect((await ask('GET', '/api/backends/ibm-fez')).body.pricing).toEqual(pricing)
    const { body } = await ada.get('/api/jobs/estimate?backend=ibm-fez&shots=100&tasks=2')
    expect(body).toMatchObject({
      estimated_cost_usd: 192.89,
      breakdown: { task_fee: 0.3, per_shot: 0.00145, shots: 100, tasks: 2, per_second: 1.6, seconds_max: 60 }
    })
    const { entries } = (await admin.get('/api/admin/audit?limit=1')).body
    expect(entries).toMatchObject([
      { action: 'backend.change', target: 'ibm-fez', details: { after: { pricing: { perSecond: 1.6 } } } }
    ])

    expect((await change('ibm-fez', { pricing: { perSecond: 2 } })).body.pricing).toEqual({ ...pricing, perSecond: 2 })
    expect((await change('ibm-fez', { pricing: { taskFee: 0 } })).body.pricing).toMatchObject({ perSecond: 2 })
    const cleared = await change('ibm-fez', { pricing: { taskFee: 0.3, perSecond: null, secondsMax: null } })
    expect(Object.keys(cleared.body.pricing)).toEqual(['taskFee', 'perShot', 'minimumCost'])
    expect((await list()).body.backends).toEqual(before.body.backends)
    expect((await ada.get('/api/jobs/estimate?backend=ibm-fez&shots=100')).body.breakdown).toEqual({
      task_fee: 0.3,
      per_shot: 0.00145,
      shots: 100,
      tasks: 1,
      minimum_cost: 0.3
    })
  })

  test('of the status sets its time, other changes do not', async () => {
    const before = (await ask('GET', '/api/backends/dm1')).body
    const described = (await change('dm1', { description: 'x' })).body
    expect(described.statusUpdatedAt).toBe(before.statusUpdatedAt)
    const offline = (await change('dm1', { status: 'maintenance' })).body
    expect(Date.parse(offline.statusUpdatedAt)).toBeGreaterThan(Date.parse(before.statusUpdatedAt))
  })

  test.each([
    [
      'a price finer than a micro-dollar',
      { pricing: { perShot: 0.0000001 } },
      'pricing.perShot: prices finer than a micro-dollar are refused (got 1e-7)'
    ],
    ['a sum of doubles', { pricing: { taskFee: 0.1 + 0.2 } }, 'pricing.taskFee: prices finer than a micro-dollar'],
    ['a negative price', { pricing: { taskFee: -1 } }, 'pricing.taskFee: must be a number from 0 to 1000000'],
    ['a price as text', { pricing: { taskFee: '1' } }, 'pricing.taskFee: must be a number'],
    ['a price of null', { pricing: { taskFee: null } }, 'pricing.taskFee: must be a number'],
    ['a price of time without a cap', { pricing: { perSecond: 1 } }, 'pricing: perSecond and secondsMax go together'],
    ['a cap without a price', { pricing: { secondsMax: 60 } }, 'pricing: perSecond and secondsMax go together'],
    [
      'a price of time that is too fine',
      { pricing: { perSecond: 1e-7, secondsMax: 1 } },
      'pricing.perSecond: prices finer'
    ],
    ['a cap of nothing', { pricing: { perSecond: 1, secondsMax: 0 } }, 'pricing.secondsMax: must be'],
    ['a cap beyond a day', { pricing: { perSecond: 1, secondsMax: 86_401 } }, 'pricing.secondsMax: must be'],
    ['a cap of part of a second', { pricing: { perSecond: 1, secondsMax: 1.5 } }, 'pricing.secondsMax: must be'],
    ['a negative price of time', { pricing: { perSecond: -1, secondsMax: 1 } }, 'pricing.perSecond: must be'],
    ['no price at all', { pricing: {} }, 'pricing: must name at least one field'],
    ['an unknown price', { pricing: { perQubit: 1 } }, 'pricing.perQubit: is not a field'],
    ['an unknown status', { status: 'gone' }, 'status: must be one of online, offline, maintenance'],
    ['availability as text', { isAvailable: 'yes' }, 'isAvailable: must be true or false'],
    ['a field that cannot be set', { slug: 'x' }, 'slug: is not a field of this request'],
    ['no field', {}, 'body: must name at least one field']
  ])('to %s is refused, and nothing changes', async (_what, body, message) => {
    const before = await list()
    const answer = await change('iqm-garnet', body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(message)])
    expect((await list()).text).toBe(before.text)
  })

  test('to a price of time is refused for a simulator of this service, which bills none', async () => {
    const answer = await change('local', { pricing: { perSecond: 1, secondsMax: 60 } })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('local is a simulator of this')])
  })

  test('of an unknown backend is 404', async () => {
    expect((await change('nope', { isRecommended: true })).status).toBe(404)
  })

  test('is a 404 for other callers, and changes nothing', async () => {
    const before = await list()
    const missing = await ada.ask('PATCH', '/api/admin/no-such-route', {})
    for (const body of [{ isAvailable: false }, { rubbish: true }]) {
      const answer = await change('local', body, ada)
      expect([answer.status, answer.body.error]).toEqual([
        404,
        missing.body.error.replace('no-such-route', 'backends/local')
      ])
    }
    expect((await list()).text).toBe(before.text)
  })

  test('is refused as soon as the role is revoked, since it is read at each request', async () => {
    const former = await api.signUp({ admin: true })
    expect((await change('local', { displayOrder: 10 }, former)).status).toBe(200)
    await database.db.execute(sql`update users set is_platform_admin = false where id = ${former.id}`)
    expect((await change('local', { displayOrder: 10 }, former)).status).toBe(404)
  })
})
