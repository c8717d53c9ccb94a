// The metrics of a real API and a real worker over the life of jobs.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePort } from '../../apps/cli/stack/parts/free-port.js'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { createWorkerMetrics } from '../../apps/worker/metrics.js'
import { watchProviders } from '../../apps/worker/sweeps/watched-providers.js'
import { createExecutorClient } from '../../services/executor/client.js'
import { createExecutorGate } from '../../services/executor/gate.js'
import { createProviders } from '../../services/providers/providers.js'
import { eventually } from '../support/eventually.js'
import { slowQiskit, submission } from '../support/jobs/builders.js'
import { endpointsTo } from '../support/jobs/gate-to.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

const ports = { api: await freePort(), worker: await freePort() }
let platform: Platform
beforeAll(async () => {
  platform = await startPlatform(
    'worker_metrics',
    {},
    { METRICS_PORT: String(ports.api), WORKER_METRICS_PORT: String(ports.worker) }
  )
}, 60_000)
afterAll(() => platform.close())

const scrape = async (part: keyof typeof ports): Promise<string> => {
  const response = await fetch(`http://127.0.0.1:${ports[part]}/metrics`)
  expect(response.status).toBe(200)
  return response.text()
}

/** The value of a sample, 0 when there is none. */
const value = (text: string, name: string, labels: Record<string, string>): number => {
  const wanted = Object.entries(labels).map(([label, word]) => `${label}="${word}"`)
  const line = text
    .split('\n')
    .find((each) => each.startsWith(`${name}{`) && wanted.every((pair) => each.includes(pair)))
  return line ? Number(line.split(' ').at(-1)) : 0
}

test.each(['temporal', 'direct'])('a %s job is counted at its start and at its end', async (mode) => {
  const good = await platform.submit(submission({ execution_mode: mode }))
  const bad = await platform.submit(
    submission({ execution_mode: mode, inline_code: 'raise ValueError', framework: 'qiskit' })
  )
  await Promise.all([platform.ended(good), platform.ended(bad)])
  const local = { mode, backend: 'local' }
  // The record has its end somewhat before the worker counts it.
  await eventually(async () => {
    const text = await scrape('worker')
    expect(value(text, 'qjs_jobs_started_total', local)).toBe(2)
    expect(value(text, 'qjs_job_queue_seconds_count', local)).toBe(2)
    expect(value(text, 'qjs_jobs_ended_total', { ...local, status: 'completed', code: 'none' })).toBe(1)
    expect(value(text, 'qjs_jobs_ended_total', { ...local, status: 'failed', code: 'execution_error' })).toBe(1)
    expect(value(text, 'qjs_job_run_seconds_count', { ...local, status: 'completed' })).toBe(1)
    expect(value(text, 'qjs_job_run_seconds_sum', { ...local, status: 'failed' })).toBeGreaterThan(0)
  })
})

test('an execution has a permit, and a cancelled one releases it', async () => {
  const id = await platform.submit(submission({ inline_code: slowQiskit(30), framework: 'qiskit' }))
  await platform.accepted(id)
  // The jobs before it may still have theirs.
  await eventually(async () => expect(await scrape('worker')).toMatch(/^qjs_executor_permits_in_use 1$/m))
  await platform.call('POST', `/api/jobs/${id}/cancel`)
  await platform.ended(id)
  await eventually(async () => expect(await scrape('worker')).toMatch(/^qjs_executor_permits_in_use 0$/m))
})

test('a job that is cancelled while it waits is counted by the process that cancelled it', async () => {
  const notBefore = new Date(Date.now() + 3_600_000).toISOString()
  const id = await platform.submit(submission({ not_before: notBefore }))
  await platform.call('POST', `/api/jobs/${id}/cancel`)
  const ended = { mode: 'direct', backend: 'local', status: 'cancelled', code: 'none' }
  expect(value(await scrape('api'), 'qjs_jobs_ended_total', ended)).toBe(1)
  expect(value(await scrape('api'), 'qjs_job_run_seconds_count', { status: 'cancelled' })).toBe(0)
})

test('each log line about a job has its ids', async () => {
  const response = await platform.call('POST', '/api/jobs/submit', submission({ execution_mode: 'temporal' }))
  const requestId = response.headers.get('x-request-id')
  const { job_id: jobId } = (await response.json()) as { job_id: string }
  const { team_id: teamId } = await platform.ended(jobId)
  const ids = { job_id: jobId, team_id: teamId, request_id: requestId }
  const about = { ...ids, mode: 'temporal', backend: 'local' }
  const linesOf = (process: string) =>
    platform.logLines().filter((line) => line.process === process && line.job_id === jobId)
  // The record has its end somewhat before the worker logs it.
  await eventually(() => linesOf('worker').some(({ msg }) => msg === 'job ended'))
  expect(linesOf('api')).toMatchObject([{ msg: 'job submitted', ...about }])
  expect(linesOf('worker')).toMatchObject([
    { msg: 'job begun', ...about, generation: 1, queued_seconds: expect.any(Number) },
    { msg: 'job attempt begun', ...ids, attempt: 1 },
    { msg: 'job attempt ended', ...ids, attempt: 1, end: 'completed' },
    { msg: 'job ended', ...about, status: 'completed', code: null, cost_usd: 0, seconds: expect.any(Number) }
  ])
})

test('a call to a provider is counted by operation and outcome', async () => {
  const answers = [200, 429, 401, 500]
  const provider = createServer((_request, response) => void response.writeHead(answers.shift()!).end('[]'))
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  const { port } = provider.address() as AddressInfo
  const providers = createProviders({ ionq: { api: `http://127.0.0.1:${port}` } })
  const endpoints = endpointsTo(createExecutorClient('http://127.0.0.1:1', 'a-token'))
  const { registry, recordProviderCall } = createWorkerMetrics(createExecutorGate(endpoints), endpoints)
  const ionq = watchProviders(providers.adapters, recordProviderCall, null).get('IonQ')!
  const { signal } = new AbortController()
  const at = { credentials: { api_key: 'of-the-team' }, place: {} }
  try {
    await ionq.backends(null, signal)
    await expect(ionq.look(at, 'a-task', signal)).rejects.toMatchObject({ kind: 'busy' })
    await expect(ionq.look(at, 'a-task', signal)).rejects.toMatchObject({ kind: 'unauthorized' })
    await expect(ionq.cancel(at, 'a-task', signal)).rejects.toMatchObject({ kind: 'unclear' })
    await expect(ionq.backends(null, AbortSignal.abort())).rejects.toThrow()
  } finally {
    provider.close()
    provider.closeAllConnections()
    await providers.close()
  }
  const counted = [...(await registry.metrics()).matchAll(/^qjs_provider_call_seconds_count\{(.*)\} (\d+)$/gm)]
  expect(counted.map(([, labels, count]) => [labels!.replaceAll(/\w+=|"/g, ''), count])).toEqual([
    ['IonQ,backends,ok', '1'],
    ['IonQ,look,busy', '1'],
    ['IonQ,look,unauthorized', '1'],
    ['IonQ,cancel,unclear', '1'],
    ['IonQ,backends,aborted', '1']
  ])
})

test('docs/operations/metrics.md lists exactly the metrics of a running API and worker', async () => {
  const documented = readFileSync(join(projectRoot, 'docs/operations/metrics.md'), 'utf8')
  const listed = [...documented.matchAll(/^\| `(qjs_\w+)` \| \w+ \| ([\w, ]*?) ?\|/gm)].map(([, name, labels]) => [
    name,
    labels
  ])
  const text = `${await scrape('api')}\n${await scrape('worker')}`
  const registered = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!))
  expect(listed.map(([name]) => name).sort()).toEqual([...registered].filter((name) => name.startsWith('qjs_')).sort())
  expect([...registered].filter((name) => !/^(qjs|process|nodejs)_/.test(name))).toEqual([])
  // The labels of each metric that has a sample.
  for (const [name, labels] of listed) {
    const sample = new RegExp(`^${name}(?:_count)?\\{(.*)\\}`, 'm').exec(text)?.[1]
    if (sample === undefined) continue
    expect([
      name,
      sample
        .replaceAll(/="[^"]*"/g, '')
        .split(',')
        .sort()
    ]).toEqual([name, labels!.split(', ').sort()])
  }
})
