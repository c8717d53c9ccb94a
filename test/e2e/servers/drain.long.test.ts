// A stopping api behind a balancer: it still serves until the balancer has noticed.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { type Platform, startPlatform } from '../../support/stack/platform.js'

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform('drain', {}, { SHUTDOWN_DRAIN_SECONDS: '10' })
}, 180_000)
afterAll(() => platform.close())

test('an api that is told to stop refuses the probes of balancers, serves every request meanwhile, and then ends', async () => {
  const waiting = await platform.submit(submission({ not_before: new Date(Date.now() + 3_600_000).toISOString() }))
  const held = platform.call('GET', `/api/jobs/${waiting}/status?wait=60`)
  const stopped = platform.stop('api').then(() => 'stopped')
  const ready = await eventually(async () => {
    const response = await platform.call('GET', '/readyz')
    return response.status === 503 ? response : null
  })
  expect(((await ready.json()) as { status: string }).status).toBe('down')
  const answers: [number, string | null][] = []
  while ((await Promise.race([stopped, platform.call('GET', '/healthz').catch(() => null)])) !== 'stopped') {
    const accepted = await platform.call('POST', '/api/jobs/submit', submission()).catch(() => null)
    if (!accepted) break
    answers.push([accepted.status, accepted.headers.get('connection')])
  }
  expect(await stopped).toBe('stopped')
  // All were sent after the api had refused a probe: none of them was under way at the signal.
  expect(answers.length).toBeGreaterThan(0)
  expect(answers).toEqual(answers.map(() => [201, 'close']))
  expect([(await held).status, ((await (await held).json()) as { status: string }).status]).toEqual([200, 'pending'])
  await expect(platform.call('GET', '/healthz')).rejects.toThrow()
}, 90_000)

test('a worker says that it lives, and that it takes jobs', async () => {
  const ask = async (path: string) => {
    const response = await fetch(platform.workerUrl() + path)
    return [response.status, await response.json()]
  }
  expect(await ask('/healthz')).toEqual([200, { status: 'ok' }])
  expect(await ask('/readyz')).toEqual([200, { ready: true }])
  expect((await ask('/'))[0]).toBe(404)
})
