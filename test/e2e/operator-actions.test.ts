// What an operator does in the Temporal UI reaches the job, its record and its money.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client, Connection, type WorkflowFailedError } from '@temporalio/client'
import { eventually } from '../support/eventually.js'
import { slowQiskit, submission } from '../support/jobs/builders.js'
import { oneFails } from '../support/jobs/workflow-programs.js'
import { historyText } from '../support/stack/history-text.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

let platform: Platform
let client: Client

beforeAll(async () => {
  const quick = { WORKFLOW_QUIET_SECONDS: '2', WORKFLOW_MISSING_SECONDS: '1', WORKFLOW_SWEEP_SECONDS: '1' }
  platform = await startPlatform('operator-actions', {}, quick)
  client = new Client({ connection: await Connection.connect({ address: platform.settings.TEMPORAL_ADDRESS! }) })
}, 180_000)

afterAll(async () => {
  await client.connection.close()
  await platform.close()
})

/** The workflow of a job whose record is final already. */
const closed = (id: string) =>
  eventually(
    async () => {
      const workflow = await client.workflow.getHandle(`job-${id}`).describe()
      return workflow.status.name === 'RUNNING' ? null : workflow
    },
    { timeoutMs: 50_000 }
  )

const slowJob = () =>
  submission({ execution_mode: 'temporal', inline_code: slowQiskit(100), framework: 'qiskit', name: 'a slow one' })

test('a workflow that an operator cancels cancels its job', async () => {
  const id = await platform.submit(slowJob())
  await platform.accepted(id)
  await client.workflow.getHandle(`job-${id}`).cancel()
  expect(await platform.ended(id)).toMatchObject({ status: 'cancelled', error: null })
  expect((await closed(id)).status.name).toBe('CANCELLED')
})

test('the workflow of a job that was cancelled by its user is cancelled, and its current step is readable before', async () => {
  const id = await platform.submit(slowJob())
  await platform.accepted(id)
  const details = async () => {
    const answer = await client.workflow.getHandle(`job-${id}`).query<object>('__temporal_workflow_metadata')
    return JSON.stringify(answer)
  }
  expect(await details()).toContain('running the program')
  expect((await platform.call('POST', `/api/jobs/${id}/cancel`)).status).toBe(202)
  expect(await platform.ended(id)).toMatchObject({ status: 'cancelled' })
  expect((await closed(id)).status.name).toBe('CANCELLED')
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
  // The workflow sets the attribute, and then ends.
  const found = await eventually(async () => {
    for await (const workflow of client.workflow.list({ query }))
      if (workflow.workflowId === `job-${id}` && workflow.status.name !== 'RUNNING') return workflow
    return null
  })
  expect(found.status.name).toBe('COMPLETED')
  const history = historyText(await client.workflow.getHandle(`job-${id}`).fetchHistory())
  expect(history).toContain(id)
  expect(history).not.toContain('OPENQASM')
  expect(history).not.toContain('ada@example.org')
  const { staticSummary } = await client.workflow.getHandle(`job-${id}`).describe()
  // The personal team is named by its user's address.
  expect(await staticSummary()).toBe(`local · ${job.team_id} · 100 shots`)
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
    expect((await closed(id)).status.name).toBe('FAILED')
    const failure = await client.workflow
      .getHandle(`job-${id}`)
      .result()
      .catch((error: WorkflowFailedError) => error.cause)
    expect(failure).toMatchObject({ type: 'execution_error', message: 'the job failed; its record has the message' })
    const history = historyText(await client.workflow.getHandle(`job-${id}`).fetchHistory())
    expect(history).toContain('execution_error')
    expect(history).not.toContain(canary)
  }
  expect(platform.logs()).not.toContain(canary)
})

test('a job with a long name of several lines runs and keeps its name', async () => {
  const name = `one line\r\nanother ${'🔑'.repeat(180)}`
  const id = await platform.submit(submission({ execution_mode: 'temporal', name }))
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', name })
})
