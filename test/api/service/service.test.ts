import { afterAll, describe, expect, test } from '@jest/globals'
import { deadAddress, startApi } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'

const api = await startApi('service')
const { ask } = api
afterAll(() => api.close())

const broken = `127.0.0.1:${(await deadAddress()).split(':')[1]}`

/** `GET /api/jobs/{id}` and so on, from the router's own tree: four characters of indentation a level. */
function routesOf(tree: string): string[] {
  const path: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indentation, part, methods] = /^([│ ]*)[├└]── (\S+) \(([^)]+)\)/.exec(line) ?? []
    if (!part) return []
    path.length = indentation!.length / 4
    path.push(part)
    const url = path.join('').replaceAll(/:(\w+)/g, '{$1}')
    return methods!.split(', ').flatMap((method) => (method === 'HEAD' ? [] : [`${method} ${url}`]))
  })
}

/** The response once the database has answered for the first time: until then, an api is not ready. */
const readyBody = ({ ask }: Pick<typeof api, 'ask'>) =>
  eventually(async () => {
    const { status, body } = await ask('GET', '/readyz')
    return status === 200 && body
  })

describe('/healthz and /readyz', () => {
  test('respond, and name every part with its state and latency', async () => {
    expect((await ask('GET', '/healthz')).status).toBe(200)
    const part = { state: 'ok', latency_ms: expect.any(Number) }
    const parts = { database: part, redis: part, temporal: part, executor: part }
    await eventually(async () => {
      expect(await readyBody(api)).toEqual({ status: 'ok', parts })
      return true
    })
  })

  test('are degraded and still return 200 without Redis, Temporal and the executor', async () => {
    const lame = await startApi('service_lame', {
      redisUrl: `redis://${broken}`,
      temporalAddress: broken,
      executorUrl: `http://${broken}`
    })
    try {
      const body = await readyBody(lame)
      expect(body.status).toBe('degraded')
      expect(body.parts.database.state).toBe('ok')
      for (const name of ['redis', 'temporal', 'executor']) expect(body.parts[name].state).toBe('degraded')
    } finally {
      await lame.close()
    }
  })

  test('answer within the second that a balancer waits while a part hangs, as it was before and then as degraded', async () => {
    let hung = false
    const redis = () => (hung ? new Promise<never>(() => {}) : Promise.resolve())
    const stuck = await startApi('service_stuck', { database: api.database, probes: { redis } })
    try {
      expect((await readyBody(stuck)).parts.redis.state).toBe('ok')
      hung = true
      const states = new Set<string>()
      await eventually(async () => {
        const began = performance.now()
        const { status, body } = await stuck.ask('GET', '/readyz')
        states.add(body.parts.redis.state)
        expect(status).toBe(200)
        return states.has('degraded') && performance.now() - began < 1_000
      })
      expect([...states]).toEqual(['ok', 'degraded'])
    } finally {
      await stuck.close()
    }
  })

  test('answer within that second when a part has hung since the start', async () => {
    const stuck = await startApi('service_stuck', {
      database: api.database,
      probes: { redis: () => new Promise<never>(() => {}) }
    })
    try {
      await eventually(async () => {
        const began = performance.now()
        const { status, body } = await stuck.ask('GET', '/readyz')
        expect([status, body.parts.redis.state]).toEqual([200, 'degraded'])
        return performance.now() - began < 1_000
      })
    } finally {
      await stuck.close()
    }
  })

  test('return 503 without the database, also when it hangs', async () => {
    for (const database of [() => Promise.reject(new Error('refused')), () => new Promise<never>(() => {})]) {
      const dark = await startApi('service_dark', { database: api.database, probes: { database } })
      const { status, body } = await dark.ask('GET', '/readyz')
      expect([status, body.status, body.parts.database.state]).toEqual([503, 'down', 'down'])
      await dark.close()
    }
  })
})

test('a thousand requests for /readyz at once ask each part no more than once a second', async () => {
  let probes = 0
  const executor = async () => void probes++
  const busy = await startApi('service_busy', { database: api.database, probes: { executor } })
  try {
    const began = performance.now()
    await Promise.all(Array.from({ length: 1_000 }, () => busy.ask('GET', '/readyz')))
    expect(probes).toBeGreaterThan(0)
    expect(probes).toBeLessThanOrEqual(1 + Math.floor((performance.now() - began) / 1_000))
    const before = probes
    await eventually(async () => (await busy.ask('GET', '/readyz')).status === 200 && probes > before)
  } finally {
    await busy.close()
  }
})

test('a browser gets a page with the next steps at /, and a program a 404', async () => {
  const page = await ask('GET', '/', undefined, { accept: 'text/html,application/xhtml+xml' })
  expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
  expect(page.text).toContain('npx qjob sign-up')
  expect(page.headers['content-security-policy']).toContain("default-src 'none'")
  for (const accept of ['application/json', '*/*', '']) {
    const { status, body } = await ask('GET', '/', undefined, { accept })
    expect([status, body]).toEqual([404, { error: 'no route GET /' }])
  }
})

test('/api/meta names the service, its version and its features', async () => {
  const { body } = await ask('GET', '/api/meta')
  expect(body).toEqual({
    name: 'quantum-job-service',
    api_version: '1',
    version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
    features: {
      sign_in: ['password'],
      execution_modes: ['direct', 'temporal'],
      frameworks: ['qiskit', 'cirq', 'pennylane', 'openqasm', 'marqov', 'braket'],
      access_codes: true,
      mail: true,
      browser_simulator: { warn_from_qubits: 17, qubits_max: 20 }
    }
  })
})

describe('every response', () => {
  test.each([
    ['of a public route', 'GET', '/healthz', undefined, 200],
    ['without a session', 'GET', '/api/jobs', undefined, 401],
    ['without a route', 'GET', '/api/nothing', undefined, 404],
    ['to a method that a route does not support', 'DELETE', '/api/backends', undefined, 404],
    ['to a body that is not JSON', 'POST', '/api/auth/sign-in', '{', 400],
    ['to a missing body', 'POST', '/api/auth/sign-in', undefined, 400],
    ['to a path that is not UTF-8', 'GET', '/api/backends/%ED%A0%80', undefined, 400],
    ['to a path with a lone percent sign', 'GET', '/api/backends/%', undefined, 400],
    ['to a path with NUL', 'GET', '/api/backends/a%00b', undefined, 400],
    ['to an endless path', 'GET', `/api/backends/${'x'.repeat(5_000)}`, undefined, 400]
  ])('%s carries the request id and, when refused, a message', async (_what, method, path, body, status) => {
    const answer = await ask(method, path, body)
    expect([path.slice(0, 30), answer.status]).toEqual([path.slice(0, 30), status])
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(answer.headers['x-api-version']).toBe('1')
    expect(answer.headers['cache-control']).toBe('no-store')
    if (status >= 400) {
      expect(Object.keys(answer.body)).toEqual(['error'])
      expect(typeof answer.body.error).toBe('string')
      expect(answer.body.error.length).toBeLessThan(500)
    }
  })

  test('to a request with an Authorization header has the structured error body, whatever the error', async () => {
    const authorization = 'Bearer x'
    for (const [path, status] of [
      ['/api/jobs', 401],
      ['/api/nothing', 404],
      ['/api/backends/nothing', 404],
      ['/api/backends/%', 400]
    ] as const) {
      const answer = await ask('GET', path, undefined, { authorization })
      expect(answer.body).toEqual({ error: { code: expect.any(String), message: expect.any(String), status } })
      expect(answer.status).toBe(status)
    }
  })
})

describe('/openapi.json', () => {
  test('describes every route of the service, in OpenAPI 3.1', async () => {
    const { body: document } = await ask('GET', '/openapi.json')
    expect(document.openapi).toBe('3.1.0')
    expect(document.info).toMatchObject({ title: expect.any(String), version: expect.any(String) })
    const described = Object.entries(document.paths as Record<string, Record<string, unknown>>).flatMap(
      ([path, item]) => Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`)
    )
    // The console, whose assets the router prints as `*`, and sign-in through a provider that is not configured here.
    const answered = routesOf(api.app.printRoutes({ commonPrefix: false })).filter(
      (route) => !/ \/($|\*$|docs|openapi|invitations|reset-password|public|api\/auth\/oidc)/.test(route)
    )
    expect(answered.length).toBeGreaterThan(15)
    expect(described.sort()).toEqual(answered.sort())
  })

  test('is complete: every operation has a summary and responses, every path parameter a description, every reference a target', async () => {
    const { body: document, text } = await ask('GET', '/openapi.json')
    for (const [path, item] of Object.entries(document.paths as Record<string, Record<string, never>>))
      for (const operation of Object.values(item) as Record<string, unknown>[]) {
        expect([path, operation.summary]).toEqual([path, expect.any(String)])
        expect(Object.keys(operation.responses as object).length).toBeGreaterThan(0)
        const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
        const parameters = (operation.parameters ?? []) as {
          in: string
          name: string
          required?: boolean
          schema?: unknown
        }[]
        const given = parameters.filter((parameter) => parameter.in === 'path')
        expect(given.map((parameter) => parameter.name)).toEqual(named)
        for (const parameter of parameters) expect(parameter.schema).toBeDefined()
        for (const parameter of given) expect(parameter.required).toBe(true)
      }
    for (const [, reference] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = reference!
        .split('/')
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], document)
      expect([reference, target]).toEqual([reference, expect.anything()])
    }
  })
})

test('/docs is a page that shows the OpenAPI document', async () => {
  const page = await ask('GET', '/docs')
  expect(page.status).toBe(200)
  expect(page.headers['content-type']).toContain('text/html')
  expect((await ask('GET', '/docs/json')).body.openapi).toBe('3.1.0')
  expect(page.text).toContain('<title>Quantum Job Service: API</title>')
  expect((await ask('GET', '/docs/static/swagger-initializer.js')).text).toContain('"docExpansion":"none"')
})

describe('ids in paths', () => {
  test.each([
    'x',
    '1',
    'null',
    '00000000-0000-0000-0000-00000000000',
    'urn:uuid:00000000-0000-0000-0000-000000000000',
    '{00000000-0000-0000-0000-000000000000}',
    "'; drop table jobs; --",
    '%20',
    '..%2f..%2fetc'
  ])('%p is refused without reaching the database', async (id) => {
    const user = await api.signUp()
    for (const path of [`/api/jobs/${encodeURIComponent(id)}`, `/api/jobs/${encodeURIComponent(id)}/status`]) {
      expect((await user.get(path)).status).toBe(400)
    }
  })

  test('in capitals are the same ids', async () => {
    const user = await api.signUp()
    const id = await user.submit({ inline_code: 'OPENQASM 3.0;', backend: 'local', params: { shots: 1 } })
    expect((await user.get(`/api/jobs/${id.toUpperCase()}`)).body.id).toBe(id)
  })
})
