// Injected faults apply before or after the work as many times as set, and the ledger shows what was accepted.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { startEmulators } from '../../apps/emulators/emulators.js'
import { eventually } from '../support/eventually.js'
import { aJob, startIonq } from './ionq-client.js'

let ionq: Awaited<ReturnType<typeof startIonq>>

beforeAll(async () => {
  ionq = await startIonq()
})
beforeEach(() => ionq.control.reset())
afterAll(() => ionq.close())

const match = { method: 'POST', path: '/v0.4/jobs' }
const submit = (limitMs?: number) => ionq.call('POST', '/jobs', aJob(), limitMs === undefined ? {} : { limitMs })
const order = async (fault: Record<string, unknown>) => {
  expect((await ionq.steer('POST', '/faults', fault)).status).toBe(200)
}

describe('the fault', () => {
  test('"status" refuses before the work', async () => {
    await order({ match, kind: 'status', status: 429, retry_after: 7, times: 1 })
    const { status, headers, body } = await submit()
    expect([status, headers.get('retry-after')]).toEqual([429, '7'])
    expect(body).toMatchObject({ statusCode: 429, error: 'Too Many Requests' })
    expect(ionq.control.tasks()).toHaveLength(0)
    expect((await submit()).status).toBe(201)
  })

  test('"status_after" refuses after the work', async () => {
    await order({ match, kind: 'status_after', status: 502 })
    const { status, body } = await submit()
    expect([status, body.statusCode, body.id]).toEqual([502, 502, undefined])
    expect(ionq.control.tasks()).toHaveLength(1)
  })

  test('"drop_after" closes the connection after the work', async () => {
    await order({ match, kind: 'drop_after' })
    await expect(submit()).rejects.toThrow('fetch failed')
    expect(ionq.control.tasks()).toHaveLength(1)
  })

  test('"offline" closes the connection before the work', async () => {
    await order({ match, kind: 'offline', times: 2 })
    await expect(submit()).rejects.toThrow('fetch failed')
    await expect(submit()).rejects.toThrow('fetch failed')
    expect(ionq.control.tasks()).toHaveLength(0)
    expect((await submit()).status).toBe(201)
  })

  test('"hang" never answers and does no work, "hang_after" does it', async () => {
    await order({ match, kind: 'hang' })
    await order({ match, kind: 'hang_after' })
    await expect(submit(2_000)).rejects.toThrow('timeout')
    expect(ionq.control.tasks()).toHaveLength(0)
    await expect(submit(2_000)).rejects.toThrow('timeout')
    expect(ionq.control.tasks()).toHaveLength(1)
  })

  test('"lag" does the work at once and answers later', async () => {
    await order({ match, kind: 'lag', lag_ms: 200 })
    const began = Date.now()
    const answer = submit()
    await eventually(async () => (ionq.control.tasks().length === 1 ? true : null))
    expect((await answer).status).toBe(201)
    expect(Date.now() - began).toBeGreaterThanOrEqual(190)
  })

  test('"accept_late" closes the connection and does the work afterwards', async () => {
    await order({ match, kind: 'accept_late', lag_ms: 3_000 })
    await expect(submit()).rejects.toThrow('fetch failed')
    expect(ionq.control.tasks()).toHaveLength(0)
    await eventually(async () => (ionq.control.tasks().length === 1 ? true : null))
  })

  test('"unknown_status" replaces every status in responses by an unknown word', async () => {
    const id = await ionq.submit()
    await order({ match: { path: '/jobs' }, kind: 'unknown_status', times: 2 })
    expect((await submit()).body.status).toBe('submitted')
    expect((await ionq.call('GET', `/jobs/${id}`)).body).toMatchObject({ id, status: 'recalibrating' })
    const { jobs } = (await ionq.call('GET', '/jobs')).body
    expect(jobs.map(({ status }: { status: string }) => status)).toEqual(['recalibrating', 'recalibrating'])
    expect((await ionq.call('GET', `/jobs/${id}`)).body.status).toMatch(/^(submitted|ready)$/)
  })

  test('"result_lag" makes a result seem missing', async () => {
    const id = await ionq.submit()
    ionq.control.advance(120_000)
    await order({ kind: 'result_lag' })
    expect((await ionq.call('GET', `/jobs/${id}`)).body.status).toBe('completed')
    expect((await ionq.call('GET', `/jobs/${id}/results/probabilities`)).status).toBe(404)
    expect((await ionq.call('GET', `/jobs/${id}/results/probabilities`)).status).toBe(200)
  })

  test('of any kind applies only to requests that match its method and path prefix', async () => {
    const id = await ionq.submit()
    await order({ match: { method: 'get', path: `/v0.4/jobs/${id}/results` }, kind: 'status' })
    expect((await ionq.call('GET', `/jobs/${id}`)).status).toBe(200)
    expect((await ionq.call('PUT', `/jobs/${id}/status/cancel`)).status).toBe(200)
    expect(ionq.control.faults()).toMatchObject([{ kind: 'status', times: 1 }])
    expect((await ionq.call('GET', `/jobs/${id}/results/probabilities`)).status).toBe(503)
    expect(ionq.control.faults()).toEqual([])
  })

  test('that was injected first applies first', async () => {
    await order({ kind: 'status', status: 500, times: 2 })
    await order({ kind: 'status', status: 503 })
    const statuses = []
    for (let turn = 0; turn < 4; turn++) statuses.push((await ionq.call('GET', '/whoami')).status)
    expect(statuses).toEqual([500, 500, 503, 200])
  })
})

describe('the control interface', () => {
  test('lists every request in order, with its outcome', async () => {
    await order({ match, kind: 'drop_after' })
    await ionq.call('GET', '/jobs?limit=1')
    await submit().catch(() => {})
    await ionq.call('GET', '/whoami', undefined, { authorization: '' })
    const { requests } = (await ionq.steer('GET', '/requests')).body
    expect(requests.map(({ at: _at, ...request }: { at: string }) => request)).toEqual([
      { method: 'GET', path: '/v0.4/jobs', query: 'limit=1', status: 200, fault: null },
      { method: 'POST', path: '/v0.4/jobs', query: '', status: null, fault: 'drop_after' },
      { method: 'GET', path: '/v0.4/whoami', query: '', status: 401, fault: null }
    ])
  })

  test('lists every task with its times in emulated time', async () => {
    const id = await ionq.submit({ backend: 'qpu.forte-1', shots: 20, metadata: { a: '1', run_token: 'xyz' } })
    const [before] = (await ionq.steer('GET', '/tasks')).body.tasks
    expect(before).toMatchObject({
      id,
      token: 'xyz',
      device: 'qpu.forte-1',
      shots: 20,
      state: 'submitted',
      completed_at: null
    })
    expect((await ionq.steer('POST', '/clock', { advance_ms: 3 * 24 * 3600_000 })).status).toBe(200)
    const [after] = (await ionq.steer('GET', '/tasks')).body.tasks
    expect(after.state).toBe('completed')
    expect(Date.parse(after.completed_at) - Date.parse(after.submitted_at)).toBe(120_000)
  })

  test('sets how long new tasks wait and run, and the status of a device', async () => {
    await ionq.steer('POST', '/timing', { queue_ms: 0, run_ms: 0 })
    expect((await ionq.call('GET', `/jobs/${await ionq.submit()}`)).body.status).toBe('completed')
    await ionq.steer('POST', '/devices', { device: 'qpu.forte-1', status: 'unavailable' })
    expect((await ionq.call('GET', '/backends/qpu.forte-1')).body.status).toBe('unavailable')
    const { status, body } = await ionq.steer('POST', '/devices', { device: 'qpu.forte-9', status: 'unavailable' })
    expect([status, body.error]).toEqual([400, expect.stringContaining('There is no device qpu.forte-9')])
  })

  test('sets how long the result of a finished task cannot be read', async () => {
    await ionq.steer('POST', '/timing', { result_lag_ms: 30_000 })
    const id = await ionq.submit()
    ionq.control.advance(120_000)
    expect((await ionq.call('GET', `/jobs/${id}`)).body.status).toBe('completed')
    expect((await ionq.call('GET', `/jobs/${id}/results/probabilities`)).status).toBe(404)
    ionq.control.advance(30_000)
    expect((await ionq.call('GET', `/jobs/${id}/results/probabilities`)).status).toBe(200)
  })

  test('resets everything, after which the same work draws the same counts again', async () => {
    const countsOf = async () => {
      const id = await ionq.submit({ backend: 'qpu.forte-1', shots: 100 })
      ionq.control.advance(120_000)
      return (await ionq.call('GET', `/jobs/${id}/results/probabilities`)).body
    }
    const first = await countsOf()
    ionq.control.fault({ kind: 'offline', times: 5 })
    ionq.control.device('simulator', 'unavailable')
    expect((await ionq.steer('POST', '/reset')).status).toBe(200)
    expect([ionq.control.tasks(), ionq.control.requests(), ionq.control.faults()]).toEqual([[], [], []])
    expect((await ionq.call('GET', '/backends/simulator')).body.status).toBe('available')
    expect(Math.abs(Date.parse(ionq.control.advance(0)) - Date.now())).toBeLessThan(5000)
    expect(await countsOf()).toEqual(first)
  })

  test.each([
    ['/faults', {}, 'kind'],
    ['/faults', { kind: 'explode' }, 'kind'],
    ['/faults', { kind: 'expire_tokens' }, 'no tokens that expire'],
    ['/faults', { kind: 'status', times: 0 }, 'times'],
    ['/faults', { kind: 'status', status: 200 }, 'status'],
    ['/faults', { kind: 'status', match: { url: '/' } }, 'match'],
    ['/faults', { kind: 'status', match: { path: 'jobs' } }, 'path'],
    ['/clock', { advance_ms: -1 }, 'advance_ms'],
    ['/clock', { advance_ms: '10' }, 'advance_ms'],
    ['/clock', {}, 'advance_ms'],
    ['/timing', { queue: 1 }, 'additional']
  ])('refuses %s with %j and names the wrong field', async (path, body, word) => {
    const answer = await ionq.steer('POST', path, body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(word)])
    expect(ionq.control.faults()).toEqual([])
  })

  test('lists its routes in the response to an unknown one', async () => {
    const { status, body } = await ionq.steer('GET', '/jobs')
    expect([status, body.error]).toEqual([404, expect.stringContaining('GET tasks, requests, faults')])
  })

  test('lists the same providers as the start of the emulators', async () => {
    const address = ionq.controlUrl.replace(/\/ionq$/, '')
    expect((await ionq.call('GET', `${address}/providers`)).body).toEqual({
      providers: [
        {
          provider: 'ionq',
          base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v0\.4$/),
          variables: { IONQ_API_URL: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v0\.4$/) },
          control_url: ionq.controlUrl,
          credentials: { api_key: 'emulated-ionq-key' }
        },
        expect.objectContaining({ provider: 'aws-braket' }),
        expect.objectContaining({ provider: 'ibm-quantum' }),
        expect.objectContaining({ provider: 'azure-quantum' })
      ]
    })
  })
})

test('emulators whose port is taken report an error and leave nothing running', async () => {
  const taken = Number(new URL(ionq.controlUrl).port)
  await expect(startEmulators({ ports: { ionq: taken } })).rejects.toThrow('EADDRINUSE')
})

test('emulators with hanging requests stop at once', async () => {
  const own = await startIonq()
  own.control.fault({ kind: 'hang', times: 1 })
  own.control.fault({ kind: 'hang_after', times: 1 })
  const hanging = [own.call('GET', '/whoami'), own.call('GET', '/whoami')].map((call) => call.catch(() => 'cut'))
  await eventually(async () => (own.control.requests().length === 2 ? true : null))
  await own.close()
  expect(await Promise.all(hanging)).toEqual(['cut', 'cut'])
})
