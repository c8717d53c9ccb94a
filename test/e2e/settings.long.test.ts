// Settings of docs/operations/configuration.md that no other test gives to a running process, and what each of them changes.
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { msToTs } from '@temporalio/common/lib/time.js'
import { freePort } from '../../apps/cli/stack/parts/free-port.js'
import { createTemporalClient } from '../../services/dispatch/temporal-client.js'
import { eventually } from '../support/eventually.js'
import { submission } from '../support/jobs/builders.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

/** Its own namespace, whose search attributes the worker creates under other names. */
const namespace = `settings-${process.pid}-${Date.now()}`
const temporal = createTemporalClient({ address: process.env.TEST_TEMPORAL_ADDRESS! }, namespace)
/** Another address of this machine than the usual one. */
const otherHost = '127.0.0.2'

let platform: Platform
let ports: { api: number; worker: number }
/** Hold the ports of the metrics at the usual address: no other process of this machine gets them meanwhile. */
const holders: Server[] = []

beforeAll(async () => {
  await temporal.connection.ensureConnected()
  await temporal.client.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day')
  })
  ports = { api: await freePort(), worker: await freePort() }
  for (const port of Object.values(ports)) {
    const holder = createServer((_request, response) => void response.end('held'))
    holders.push(holder)
    await new Promise<void>((resolve, reject) => void holder.once('error', reject).listen(port, '127.0.0.1', resolve))
  }
  platform = await startPlatform(
    'settings',
    {},
    {
      ACCESS_CODES: 'off',
      TEMPORAL_NAMESPACE: namespace,
      TEMPORAL_ATTRIBUTE_PREFIX: 'Own',
      TEMPORAL_UI_URL: 'https://temporal.example.org/',
      METRICS_HOST: otherHost,
      METRICS_PORT: String(ports.api),
      WORKER_METRICS_PORT: String(ports.worker),
      // All addresses of this machine.
      WORKER_HEALTH_HOST: '0.0.0.0',
      // A file system without free space.
      STORAGE_FOLDERS: '/proc',
      RETENTION_YEARS_MAX: '7',
      TEAM_STORAGE_MAX_MIB: '5',
      KEEP_RESULTS_DAYS: '365',
      KEEP_TASK_VALUES_DAYS: '90',
      KEEP_OUTPUT_DAYS: '30'
    }
  )
}, 180_000)

afterAll(async () => {
  await platform.close()
  for (const holder of holders) holder.close()
  await temporal.client.connection.operatorService.deleteNamespace({ namespace }).catch(() => {})
  await temporal.close()
})

test('ACCESS_CODES=off: everyone can sign up', async () => {
  const answer = await platform.call('POST', '/api/auth/sign-up', {
    email: 'grace@example.org',
    password: 'correct horse'
  })
  expect(answer.status).toBe(201)
})

test('TEMPORAL_NAMESPACE, TEMPORAL_ATTRIBUTE_PREFIX and TEMPORAL_UI_URL: a workflow runs there, has these attributes, and its job links to it', async () => {
  const id = await platform.submit(submission({ execution_mode: 'temporal' }))
  expect(await platform.ended(id)).toMatchObject({ status: 'completed' })
  const record = await platform.job(id)
  expect(record.workflow).toMatchObject({
    id: `job-${id}`,
    url: `https://temporal.example.org/namespaces/${namespace}/workflows/job-${id}`
  })
  const workflow = temporal.client.workflow.getHandle(`job-${id}`)
  // The step that ends the job is followed by the end of its workflow, which sets the attribute.
  await workflow.result()
  const { searchAttributes } = await workflow.describe()
  expect(searchAttributes).toMatchObject({ OwnJobStatus: ['completed'], OwnTeamId: [record.team_id] })
})

test('METRICS_HOST, METRICS_PORT and WORKER_METRICS_PORT: metrics are served there, and not elsewhere', async () => {
  for (const port of Object.values(ports)) {
    const answer = await fetch(`http://${otherHost}:${port}/metrics`)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('qjs_state_known 1')])
    expect(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).toBe('held')
  }
})

test('WORKER_HEALTH_HOST: the probes of a worker can be reached from other machines', async () => {
  const url = new URL('/healthz', platform.workerUrl())
  url.hostname = otherHost
  expect((await fetch(url)).status).toBe(200)
})

test('STORAGE_FOLDERS: a full disk of one of them is told by /readyz', async () => {
  // Without an answer within one probe, the database is down.
  await eventually(async () => {
    const { parts } = (await (await platform.call('GET', '/readyz')).json()) as {
      parts: { database: { state: string; message?: string } }
    }
    expect(parts.database).toMatchObject({ state: 'degraded', message: expect.stringContaining('64 MiB') })
    return true
  })
})

test('RETENTION_YEARS_MAX: a capsule cannot be kept for longer', async () => {
  const id = await platform.submit(submission())
  await platform.ended(id)
  const kept = (years: number) =>
    platform.call('POST', '/api/capsules/from-job', { job_id: id, name: `kept ${years}`, retention_years: years })
  expect((await kept(7)).status).toBe(201)
  const refused = await kept(8)
  expect([refused.status, JSON.stringify(await refused.json())]).toEqual([400, expect.stringContaining('at most 7')])
})

test('TEAM_STORAGE_MAX_MIB: the limit of a team without its own', async () => {
  const usage = await (await platform.call('GET', '/api/team/usage')).text()
  expect(usage).toContain(String(5 * 1024 ** 2))
})

test('KEEP_RESULTS_DAYS, KEEP_TASK_VALUES_DAYS and KEEP_OUTPUT_DAYS: contents of jobs are kept for so long at most', async () => {
  const days = (platform_days: number) => expect.objectContaining({ days: platform_days, platform_days })
  expect(await (await platform.call('GET', '/api/team/retention')).json()).toMatchObject({
    results: days(365),
    task_values: days(90),
    output: days(30)
  })
})

test('DISPATCH_DEADLINE: a job that Temporal could not be told about for so long fails', async () => {
  const cutOff = await startPlatform('settings-deadline', { temporal: true }, { DISPATCH_DEADLINE: '3' })
  try {
    await cutOff.kill('temporal')
    const id = await cutOff.submit(submission({ execution_mode: 'temporal' }))
    const job = await eventually(
      async () => {
        const record = await cutOff.job(id)
        return record.status === 'dispatch_failed' ? record : null
      },
      { timeoutMs: 90_000, message: () => cutOff.logs() }
    )
    expect(job.error).toMatchObject({ code: 'dispatch_failed' })
  } finally {
    await cutOff.close()
  }
}, 150_000)
