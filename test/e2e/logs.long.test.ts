// The logs of real processes: one form for all, a line with its route for every request, and a full disk that stops no process.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { request } from 'undici'
import { eventually } from '../support/eventually.js'
import { asymmetricQiskit, submission } from '../support/jobs/builders.js'
import { checkedLines } from '../support/log-line.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

const temporal = submission({ execution_mode: 'temporal', inline_code: asymmetricQiskit(), framework: 'qiskit' })
let platform: Platform

beforeAll(async () => {
  platform = await startPlatform('logs', { executor: { slots: 1 } })
}, 120_000)

afterAll(() => platform.close())

type Operations = { paths: Record<string, Record<string, unknown>> }

test('every route but probes has a line with its method, route, status and request id, and so have requests without a route', async () => {
  const { paths } = (await (await platform.call('GET', '/openapi.json')).json()) as Operations
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, 'x'),
      route: path.replaceAll(/\{(\w+)\}/g, ':$1')
    }))
  )
  expect(routes.length).toBeGreaterThan(100)
  const expected: object[] = []
  const probes = ['/healthz', '/readyz']
  const send = async (method: string, path: string, route: string) => {
    const response = await request(`${platform.url()}${path}`, { method: method as 'GET' })
    await response.body.dump()
    const request_id = response.headers['x-request-id']
    if (!probes.includes(route))
      expected.push(expect.objectContaining({ method, route, status: response.statusCode, request_id }))
  }
  for (const { method, path, route } of routes) await send(method, path, route)
  await send('GET', '/no/such/route', '(none)')
  await send('DELETE', '/api/jobs/submit', '(none)')
  await send('GET', '/api/jobs/%', '(none)')

  // The api writes a line after the caller has the response.
  await eventually(() => {
    const lines = checkedLines('api', platform.logText('api')).filter(({ msg }) => msg === 'answered')
    expect(lines).toEqual(expect.arrayContaining(expected))
    expect(lines.filter(({ route }) => probes.includes(route as string))).toEqual([])
    return true
  })
})

test("every line of a job's processes has time, level, process and msg in one form, and leads to the job", async () => {
  const id = await platform.submit(temporal)
  await platform.ended(id)
  const ids = new Set<string>()
  for (const part of ['api', 'worker', 'executor'] as const) {
    // The last lines are written after the status.
    const lines = await eventually(() => {
      const found = checkedLines(part, platform.logText(part)).filter(({ job_id }) => job_id === id)
      return found.length > 0 && found
    })
    for (const line of lines)
      expect(line).toMatchObject({ team_id: expect.any(String), request_id: expect.any(String) })
    for (const line of lines) ids.add(`${line.team_id} ${line.request_id}`)
  }
  expect(ids.size).toBe(1)
})

test('a full disk for the logs costs api, worker and executor their lines, and no job', async () => {
  const full = await startPlatform('logs_full', { executor: { slots: 1 } }, {}, '/dev/full')
  try {
    for (const mode of ['direct', 'temporal']) {
      const job = await full.ended(await full.submit({ ...temporal, execution_mode: mode }))
      expect(job).toMatchObject({ status: 'completed', attempts: 1 })
    }
    await eventually(async () => (await full.call('GET', '/readyz')).status === 200)
  } finally {
    await full.close()
  }
}, 120_000)
