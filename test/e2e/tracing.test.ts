// Traces from the request to the executor, as a collector receives them from a real API and a real worker.
import { readdirSync, readFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { Worker } from '@temporalio/worker'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { readTracingEndpoint } from '../../services/telemetry/tracing.js'
import { eventually } from '../support/eventually.js'
import { slowQiskit, submission } from '../support/jobs/builders.js'
import { longTest } from '../support/lane.js'
import { type ReceivedSpan, startTraceReceiver } from '../support/receivers/trace-receiver.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'
import { quietTemporal } from '../support/stack/quiet-temporal.js'

const receiver = await startTraceReceiver()
let platform: Platform
beforeAll(async () => {
  quietTemporal()
  platform = await startPlatform(
    'tracing',
    {},
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=of-the-operator',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      TRUSTED_PROXIES: '127.0.0.2'
    }
  )
}, 180_000)
afterAll(async () => {
  await platform.close()
  await receiver.close()
})

/** `a > b > c` for the span and its ancestors. */
function lineOf(span: ReceivedSpan, trace: ReceivedSpan[]): string {
  const parent = trace.find(({ spanId }) => spanId === span.parentId)
  if (!parent && span.parentId) return `? > ${span.name}`
  return parent ? `${lineOf(parent, trace)} > ${span.name}` : span.name
}

const traceLines = (jobId: string): string[] => {
  const trace = receiver.ofJob(jobId)
  return trace.map((span) => lineOf(span, trace))
}

/** The trace of a finished job as lines, once it has a span of this name and no parent is missing. */
const linesOf = (jobId: string, awaited: string): Promise<string[]> =>
  eventually(
    () => {
      const lines = traceLines(jobId)
      return lines.some((line) => line.endsWith(awaited)) && !lines.some((line) => line.startsWith('?')) && lines
    },
    { timeoutMs: 20_000, message: () => traceLines(jobId).join('\n') }
  )

test('a workflow, its steps and the run are descendants of the request that submitted the job', async () => {
  const id = await platform.submit(submission({ execution_mode: 'temporal' }))
  expect((await platform.ended(id)).status).toBe('completed')
  const lines = await linesOf(id, 'RunWorkflow:runJob')
  const workflow = 'POST /api/jobs/submit > StartWorkflow:runJob > RunWorkflow:runJob'
  expect(lines).toEqual(
    expect.arrayContaining([
      'POST /api/jobs/submit',
      workflow,
      `${workflow} > StartActivity:beginJob > RunActivity:beginJob`,
      `${workflow} > StartActivity:execute > RunActivity:execute`,
      `${workflow} > StartActivity:execute > RunActivity:execute > executor run`
    ])
  )
  expect(lines.filter((line) => !line.startsWith('POST /api/jobs/submit'))).toEqual([])
})

test('a direct job and its run are descendants of the request that submitted it', async () => {
  const id = await platform.submit(submission({ execution_mode: 'direct' }))
  expect((await platform.ended(id)).status).toBe('completed')
  const line = 'POST /api/jobs/submit > RunDirect:runJob'
  expect((await linesOf(id, 'RunDirect:runJob')).sort()).toEqual([
    'POST /api/jobs/submit',
    line,
    `${line} > executor run`
  ])
})

test('a span has its route, its status and its ids, and names its process', async () => {
  const id = await platform.submit(submission())
  await platform.ended(id)
  const lines = await linesOf(id, 'RunDirect:runJob')
  expect(lines).toContain('POST /api/jobs/submit')
  const trace = receiver.ofJob(id)
  const request = trace.find(({ parentId }) => parentId === '')!
  expect(request.service).toBe('quantum-job-service-api')
  expect(request.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/api/jobs/submit',
    'http.response.status_code': '201',
    'request.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'job.id': id
  })
  const [row] = await platform.connection.sql`select request_id, trace_parent from jobs where id = ${id}`
  expect(row).toEqual({
    request_id: request.attributes['request.id'],
    trace_parent: `00-${request.traceId}-${request.spanId}-01`
  })
  expect(trace.find(({ name }) => name === 'executor run')).toMatchObject({
    service: 'quantum-job-service-worker',
    attributes: { 'job.id': id, 'job.backend': 'local' }
  })
})

test('the spans of a failed job name the kind of error, and contain no text or identity of its user', async () => {
  const canary = 'CANARY4f7d2a9c'
  const program = `# ${canary}\nraise ValueError("${canary}")\n`
  for (const execution_mode of ['temporal', 'direct']) {
    const id = await platform.submit(
      submission({ inline_code: program, framework: 'qiskit', name: canary, execution_mode, labels: [canary] })
    )
    const job = await platform.ended(id)
    expect(job).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(canary) } })
    await linesOf(id, execution_mode === 'temporal' ? 'RunWorkflow:runJob' : 'RunDirect:runJob')
    if (execution_mode === 'direct') continue
    const failed = receiver.ofJob(id).find(({ name }) => name === 'RunActivity:execute')!
    expect(failed.status).toEqual({ code: 2 })
    expect(failed.events).toEqual([{ name: 'exception', attributes: { 'exception.type': expect.any(String) } }])
  }
  const token = `not-a-key-${canary}`
  const refused = await fetch(`${platform.url()}/api/jobs/${canary}?q=${canary}`, {
    headers: { authorization: `Bearer ${token}`, 'user-agent': canary }
  })
  const requestId = refused.headers.get('x-request-id')
  await eventually(() => receiver.spans.some(({ attributes }) => attributes['request.id'] === requestId))
  expect(receiver.text()).not.toContain(canary)
})

test('a caller cannot put a request into a trace of its choice', async () => {
  const traceId = 'abadcafeabadcafeabadcafeabadcafe'
  const response = await fetch(`${platform.url()}/api/backends`, {
    headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` }
  })
  const requestId = response.headers.get('x-request-id')
  const span = await eventually(
    () => receiver.spans.find(({ attributes }) => attributes['request.id'] === requestId) ?? null
  )
  expect(span).toMatchObject({ name: 'GET /api/backends', parentId: '' })
  expect(span.traceId).not.toBe(traceId)
})

test('the trace of a trusted proxy is continued', async () => {
  const traceId = 'feedbeeffeedbeeffeedbeeffeedbeef'
  const response = await new Promise<IncomingMessage>((resolve, reject) =>
    get(
      `${platform.url()}/api/backends`,
      { localAddress: '127.0.0.2', headers: { traceparent: `00-${traceId}-00f067aa0ba902b7-01` } },
      resolve
    ).once('error', reject)
  )
  response.resume()
  const requestId = response.headers['x-request-id']
  const span = await eventually(
    () => receiver.spans.find(({ attributes }) => attributes['request.id'] === requestId) ?? null
  )
  expect(span).toMatchObject({ name: 'GET /api/backends', parentId: '00f067aa0ba902b7', traceId })
})

test('the collector gets the configured headers, and no spans of health checks', async () => {
  await fetch(`${platform.url()}/healthz`)
  const id = await platform.submit(submission())
  await platform.ended(id)
  await linesOf(id, 'RunDirect:runJob')
  expect(receiver.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-collector-key': 'of-the-operator' } })
  expect(receiver.spans.filter(({ name }) => name.includes('healthz'))).toEqual([])
})

longTest(
  'a stopping worker sends its remaining spans',
  async () => {
    await platform.stop('worker')
    const id = await platform.submit(submission({ execution_mode: 'temporal' }))
    await platform.start.worker()
    await platform.ended(id)
    await platform.stop('worker')
    // The job has ended with this step; its workflow may close on another worker.
    expect(receiver.ofJob(id).map(({ name }) => name)).toContain('RunActivity:execute')
    await platform.start.worker()
  },
  60_000
)

longTest(
  'a workflow of a killed worker continues in its trace, with each of its spans once',
  async () => {
    const slow = submission({ execution_mode: 'temporal', inline_code: slowQiskit(15), framework: 'qiskit' })
    const id = await platform.submit(slow)
    await platform.accepted(id)
    // A killed process loses the spans that it has not sent yet.
    await eventually(() => receiver.ofJob(id).some(({ name }) => name === 'StartActivity:beginJob'))
    await platform.kill('worker')
    await platform.start.worker()
    expect(await platform.ended(id, 90_000)).toMatchObject({ status: 'completed', attempts: 2 })
    const lines = await linesOf(id, 'RunWorkflow:runJob')
    expect(lines.filter((line) => line.endsWith('> RunWorkflow:runJob'))).toHaveLength(1)
    const ids = receiver.ofJob(id).map(({ spanId }) => spanId)
    expect(ids).toHaveLength(new Set(ids).size)
  },
  180_000
)

longTest(
  'workflows continue when tracing is switched on or off',
  async () => {
    const id = await platform.submit(submission({ execution_mode: 'temporal' }))
    await platform.ended(id)
    const connection = await Connection.connect({ address: platform.settings.TEMPORAL_ADDRESS! })
    const traced = await new Client({ connection }).workflow.getHandle(`job-${id}`).fetchHistory()
    await connection.close()
    const bundle = process.env.TEST_WORKFLOW_BUNDLE!
    await Worker.runReplayHistory({ workflowBundle: { codePath: bundle } }, traced)
    const workflowBundle = { codePath: bundle.replace('.js', '-traced.js') }
    const sinks = { exporter: { export: { fn: () => {} } } }
    const untraced = join(projectRoot, 'test/workflows/histories')
    const histories = readdirSync(untraced)
      .filter((name) => name.endsWith('.json'))
      .map((name) => ({ workflowId: name, history: JSON.parse(readFileSync(join(untraced, name), 'utf8')) }))
    const replayed: Record<string, unknown> = {}
    for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle, sinks }, histories))
      replayed[workflowId] = error
    expect(replayed).toEqual(Object.fromEntries(histories.map(({ workflowId }) => [workflowId, undefined])))
  },
  60_000
)

test('an invalid endpoint fails the start with a message that names it', () => {
  for (const endpoint of ['localhost:4318', 'collector', 'grpc://collector:4317'])
    expect(() => readTracingEndpoint({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toThrow(
      'OTEL_EXPORTER_OTLP_ENDPOINT must'
    )
  expect(readTracingEndpoint({ OTEL_EXPORTER_OTLP_ENDPOINT: ' ' })).toBe(null)
})

test('nothing of OpenTelemetry is loaded until an endpoint is set', () => {
  for (const program of ['api/server', 'worker/main']) {
    const code = readFileSync(join(projectRoot, `dist/apps/${program}.js`), 'utf8')
    expect(code).toContain('import("@opentelemetry/api")')
    expect(code).not.toMatch(/^import .*["'](@opentelemetry\/|@temporalio\/interceptors-opentelemetry)/m)
  }
})
