// What an operator does in the Temporal UI reaches the job, its record and its money.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { eventually } from '../support/eventually.js'
import { slowQiskit, submission } from '../support/jobs/builders.js'
import { oneFails } from '../support/jobs/workflow-programs.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

type History = Parameters<typeof historyToJSON>[0]

let platform: Platform
let client: Client

beforeAll(async () => {
  const quick = { WORKFLOW_QUIET_SECONDS: '2', WORKFLOW_MISSING_SECONDS: '1', WORKFLOW_SWEEP_SECONDS: '1' }
  platform = await startPlatform('operator-actions', {}, quick)
  client = new Client({ connection: await Connection.connect({ address: platform.settings.TEMPORAL_ADDRESS! }) })
}, 60_000)

afterAll(async () => {
  await client.connection.close()
  await platform.close()
})

/** A history as text, with the inputs and results of its steps decoded. */
const readable = (history: History): string =>
  historyToJSON(history).replaceAll(/"data": ?"([^"]*)"/g, (_whole, data: string) =>
    Buffer.from(data, 'base64').toString('utf8')
  )

const slowJob = () =>
  submission({ execution_mode: 'temporal', inline_code: slowQiskit(100), framework: 'qiskit', name: 'a slow one' })

test('a workflow that an operator cancels cancels its job', async () => {
  const id = await platform.submit(slowJob())
  await platform.accepted(id)
  await client.workflow.getHandle(`job-${id}`).cancel()
  expect(await platform.ended(id)).toMatchObject({ status: 'cancelled', error: null })
})

test('a workflow that an operator terminates cancels its job, by a new workflow that cleans up', async () => {
  const id = await platform.submit(slowJob())
  await platform.accepted(id)
  await client.workflow.getHandle(`job-${id}`).terminate('an operator said so')
  expect(await platform.ended(id)).toMatchObject({ status: 'cancelled', workflow: { id: `job-${id}-2` } })
})

test('operators can find a job by its search attributes and read its summary', async () => {
  const id = await platform.submit(submission({ execution_mode: 'temporal', name: 'a quick one' }))
  const job = await platform.ended(id)
  const query = `TeamId = '${job.team_id}' AND Backend = 'local' AND JobMode = 'temporal' AND JobStatus = 'completed'`
  const found = await eventually(async () => {
    for await (const workflow of client.workflow.list({ query }))
      if (workflow.workflowId === `job-${id}`) return workflow
    return null
  })
  expect(found.status.name).toBe('COMPLETED')
  const history = readable(await client.workflow.getHandle(`job-${id}`).fetchHistory())
  expect(history).toContain(id)
  expect(history).not.toContain('OPENQASM')
  expect(history).not.toContain('ada@example.org')
  expect(await (await client.workflow.getHandle(`job-${id}`).describe()).staticSummary()).toBe('local: a quick one')
})

test("Temporal's history and the log hold the code of a failure, and only the job's record holds the program's message", async () => {
  const canary = 'canary-51e0c7'
  const failing = (framework: string, inline_code: string) =>
    platform.submit(submission({ execution_mode: 'temporal', framework, inline_code }))
  const [plain, graph] = await Promise.all([
    failing('qiskit', `import qiskit\nraise ValueError("${canary}")`),
    failing('marqov', oneFails.replace('the angle is no number', canary))
  ])
  for (const id of [plain, graph]) {
    expect(await platform.ended(id)).toMatchObject({
      status: 'failed',
      error: { code: 'execution_error', message: expect.stringContaining(canary) }
    })
    const history = readable(await client.workflow.getHandle(`job-${id}`).fetchHistory())
    expect(history).toContain('execution_error')
    expect(history).not.toContain(canary)
  }
  expect(platform.logs()).not.toContain(canary)
})

test('a job runs even when its name is too long for Temporal or has several lines', async () => {
  const name = `one line\r\nanother ${'🔑'.repeat(180)}`
  const id = await platform.submit(submission({ execution_mode: 'temporal', name }))
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', name })
  const { staticSummary } = await client.workflow.getHandle(`job-${id}`).describe()
  expect(await staticSummary()).toMatch(/^local: one line another 🔑+…$/u)
})
