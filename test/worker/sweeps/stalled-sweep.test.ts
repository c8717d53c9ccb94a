// What the sweep of stalled workflows makes of the state that a real Temporal server reports: an operator's termination
// cancels the job, the server's own gives it another workflow, and no job keeps the others from their check.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { startStalledSweep } from '../../../apps/worker/sweeps/stalled-sweep.js'
import { createSweepReports } from '../../../apps/worker/sweeps/sweep-reports.js'
import { defaultTimes } from '../../../apps/worker/times.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { NOT_YET, workflowIdOf } from '../../../domain/jobs/dispatch.js'
import { createTemporalClient } from '../../../services/dispatch/temporal-client.js'
import { repeatedSteps } from '../../../services/dispatch/workflow-look.js'
import { eventually } from '../../support/eventually.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('stalled_sweep')
const { db } = database
const { client, close } = createTemporalClient({ address: process.env.TEST_TEMPORAL_ADDRESS! }, 'default')
const log = pino({ level: 'silent' })
const person = await addPerson(db)
// No worker serves it: the workflows stay as they are.
const taskQueue = `stalled-sweep-${randomUUID()}`

beforeAll(() => client.connection.ensureConnected())
beforeEach(() => db.execute(sql`truncate jobs cascade`))
afterAll(async () => {
  await close()
  await database.drop()
})

/** A running job with a workflow, quiet for long. */
async function quietJob(workflow = 'runJob'): Promise<string> {
  const id = await addJob(db, person)
  await beginJob(db, id, { generation: 1 })
  await client.workflow.start(workflow, { taskQueue, workflowId: workflowIdOf(id, 1), args: [] })
  await db.execute(sql`update jobs set updated_at = updated_at - interval '1 hour' where id = ${id}`)
  return id
}

const terminate = (id: string, identity: string, reason: string) =>
  client.workflowService.terminateWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: workflowIdOf(id, 1) },
    identity,
    reason
  })

const jobs = async () =>
  Object.fromEntries(
    (
      await db.execute<{ id: string; status: string; generation: number }>(sql`select id, status, generation from jobs`)
    ).map(({ id, status, generation }) => [id, [status, generation]])
  )

/** COMMAND_TYPE_FAIL_WORKFLOW_EXECUTION */
const FAIL_WORKFLOW = 5

const findings = async () =>
  (
    await db.execute<{ findings: { message: string }[] | null }>(
      sql`select findings from sweeps where name = 'stalled_workflows'`
    )
  ).flatMap((row) => (row.findings ?? []).map(({ message }) => message))

async function sweepUntil(holds: () => Promise<boolean>, temporal = client): Promise<void> {
  const sweep = startStalledSweep({
    db,
    temporal,
    announce: () => {},
    times: { ...defaultTimes, stalledSweepMs: 50 },
    reports: createSweepReports(db, log, () => performance.now()),
    countRepeatedStep: () => {},
    log
  })
  try {
    await eventually(holds)
  } finally {
    await sweep.close()
  }
}

describe('a terminated workflow', () => {
  test.each([
    ['Workflow history count exceeds limit.', 'history-service'],
    ['Workflow history size exceeds limit.', 'history-service'],
    ['Workflow history count exceeds limit.', 'another service of the server']
  ])('by the server (%s, %s) is followed by another workflow of its job', async (reason, identity) => {
    const id = await quietJob()
    await terminate(id, identity, reason)
    await sweepUntil(async () => (await jobs())[id]![1] === 2)
    expect((await jobs())[id]).toEqual(['running', 2])
  })

  test('by an operator cancels its job', async () => {
    const id = await quietJob()
    await terminate(id, 'ada@desk', 'no longer needed')
    await sweepUntil(async () => (await jobs())[id]![1] === 2)
    expect((await jobs())[id]).toEqual(['cancelling', 2])
  })
})

/** What a worker would answer to the next task of a job's workflow. */
async function answerTask(answer: (taskToken: Uint8Array) => Promise<unknown>): Promise<void> {
  const service = client.workflowService
  const { taskToken } = await client.withDeadline(Date.now() + 20_000, () =>
    service.pollWorkflowTaskQueue({
      namespace: 'default',
      taskQueue: { name: taskQueue },
      identity: 'worker of a test'
    })
  )
  await answer(taskToken)
}

test('a workflow that its worker failed since its code has changed is followed by another one of its job', async () => {
  const id = await quietJob()
  await answerTask((taskToken) =>
    client.workflowService.respondWorkflowTaskCompleted({
      namespace: 'default',
      taskToken,
      commands: [
        {
          commandType: FAIL_WORKFLOW,
          failWorkflowExecutionCommandAttributes: {
            failure: { message: '[TMPRL1100] Nondeterminism error: Timer machine', applicationFailureInfo: {} }
          }
        }
      ]
    })
  )
  await sweepUntil(async () => (await jobs())[id]![1] === 2)
  const [row] = await db.execute(sql`select status, code_restarts from jobs where id = ${id}`)
  expect(row).toEqual({ status: 'running', code_restarts: 1 })
})

test('a workflow whose code fails at each try is a finding until it goes on, however long its job has been quiet', async () => {
  const id = await quietJob()
  const fail = (taskToken: Uint8Array) =>
    client.workflowService.respondWorkflowTaskFailed({
      namespace: 'default',
      taskToken,
      failure: { message: 'cannot read properties of undefined' }
    })
  for (let task = 0; task < 3; task++) await answerTask(fail)
  await sweepUntil(async () => (await findings()).some((text) => text.includes(`job ${id}`)))
  // Later passes look again, although the job was checked a moment ago.
  await answerTask((taskToken) =>
    client.workflowService.respondWorkflowTaskCompleted({ namespace: 'default', taskToken, commands: [] })
  )
  await sweepUntil(async () => (await findings()).length === 0)
  expect(await jobs()).toEqual({ [id]: ['running', 1] })
})

test.each(['runJob', 'runJobAtProvider'])(
  'an operator who terminates the %s of a job that has been quiet for long sees it cancelled at once',
  async (workflow) => {
    const [ended, other] = [await quietJob(workflow), await quietJob()]
    // Checked a moment ago, so the next check is in an hour.
    await db.execute(sql`update jobs set checked_at = now()`)
    await terminate(ended, 'ada@desk', 'no longer needed')
    await sweepUntil(async () => (await jobs())[ended]![1] === 2)
    expect(await jobs()).toEqual({ [ended]: ['cancelling', 2], [other]: ['running', 1] })
  }
)

test('a pass that finds Temporal away counts for no job: each is checked as soon as it is back', async () => {
  const id = await quietJob()
  await terminate(id, 'history-service', 'Workflow history count exceeds limit.')
  const away = createTemporalClient({ address: '127.0.0.1:1' }, 'default')
  const failed = async () => {
    const [sweep] = await db.execute(sql`select error from sweeps where name = 'stalled_workflows'`)
    return sweep?.error !== null && sweep?.error !== undefined
  }
  await sweepUntil(failed, away.client)
  await away.close()
  await sweepUntil(async () => (await jobs())[id]![1] === 2)
})

test('a job whose check throws keeps no other job from its check, and is a finding', async () => {
  const [bad, good] = [await quietJob(), await quietJob()]
  for (const id of [bad, good]) await terminate(id, 'history-service', 'Workflow history count exceeds limit.')
  await db.execute(sql`create function refuse() returns trigger language plpgsql as $$
    begin raise exception 'this row refuses every write'; end $$`)
  await db.execute(
    sql.raw(
      `create trigger refuse before update of generation on jobs for each row when (old.id = '${bad}') execute function refuse()`
    )
  )
  // The bad one comes first.
  await db.execute(sql`update jobs set updated_at = updated_at - interval '1 hour' where id = ${bad}`)
  let found: string[] = []
  try {
    // A later pass has the finding only once Temporal lists the workflow as terminated.
    await sweepUntil(async () => {
      found = await findings()
      return (await jobs())[good]![1] === 2 && found.length > 0
    })
  } finally {
    await db.execute(sql`drop trigger refuse on jobs`)
  }
  expect((await jobs())[bad]).toEqual(['running', 1])
  expect(found).toEqual([expect.stringContaining(`job ${bad}`)])
})

test('a step beyond its twentieth try is reported, unless it only waits', () => {
  const activity = (name: string, attempt: number, type: string) => ({
    activityType: { name },
    attempt,
    lastFailure: { message: `why ${name}`, applicationFailureInfo: { type } }
  })
  const pendingActivities = [
    activity('execute', 21, 'database_conflict'),
    activity('runTask', 20, 'database_conflict'),
    activity('followTask', 5_000, NOT_YET)
  ]
  expect(repeatedSteps({ pendingActivities })).toEqual([{ step: 'execute', attempt: 21, reason: 'why execute' }])
})
