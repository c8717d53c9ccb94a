// What the sweep of stalled workflows makes of the state that a real Temporal server reports: an operator's termination
// cancels the job, the server's own gives it another workflow, and no job keeps the others from their check.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { ApplicationFailure } from '@temporalio/activity'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { startStalledSweep } from '../../../apps/worker/sweeps/stalled-sweep.js'
import { createSweepReports } from '../../../apps/worker/sweeps/sweep-reports.js'
import { defaultTimes } from '../../../apps/worker/sweeps/times.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { NOT_YET, workflowIdOf } from '../../../domain/jobs/dispatch.js'
import { createTemporalClient } from '../../../services/dispatch/temporal-client.js'
import { eventually } from '../../support/eventually.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('stalled_sweep')
const { db } = database
const { client, close } = createTemporalClient(process.env.TEST_TEMPORAL_ADDRESS!, 'default')
Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] })
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
async function quietJob(queue = taskQueue): Promise<string> {
  const id = await addJob(db, person)
  await beginJob(db, id, { generation: 1 })
  const args = [{ jobId: id, generation: 1 }]
  await client.workflow.start('runJob', { taskQueue: queue, workflowId: workflowIdOf(id, 1), args })
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

async function sweepUntil(holds: () => Promise<boolean>): Promise<string[]> {
  const repeated: string[] = []
  const sweep = startStalledSweep({
    db,
    temporal: client,
    announce: () => {},
    times: { ...defaultTimes, stalledSweepMs: 50 },
    reports: createSweepReports(db, log, () => performance.now()),
    countRepeatedStep: (step) => void repeated.push(step),
    log
  })
  await eventually(holds)
  await sweep.close()
  return repeated
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
  await sweepUntil(async () => (await jobs())[good]![1] === 2)
  expect((await jobs())[bad]).toEqual(['running', 1])
  const [sweep] = await db.execute<{ findings: { message: string }[] | null }>(
    sql`select findings from sweeps where name = 'stalled_workflows'`
  )
  expect(sweep!.findings).toEqual([expect.objectContaining({ message: expect.stringContaining(`job ${bad}`) })])
  await db.execute(sql`drop trigger refuse on jobs`)
})

test('a step beyond its twentieth try is counted, unless it only waits', async () => {
  const queue = `${taskQueue}-served`
  const native = await NativeConnection.connect({ address: process.env.TEST_TEMPORAL_ADDRESS! })
  const waiting = new Set<string>()
  const worker = await Worker.create({
    connection: native,
    taskQueue: queue,
    workflowBundle: { codePath: process.env.TEST_WORKFLOW_BUNDLE! },
    activities: {
      beginJob: async () => 'begin',
      execute: async ({ jobId }: { jobId: string }) => {
        const type = waiting.has(jobId) ? NOT_YET : 'database_conflict'
        throw ApplicationFailure.create({ type, message: 'again', nextRetryDelay: 1 })
      }
    }
  })
  const working = worker.run()
  const ids = [await quietJob(queue), await quietJob(queue)]
  waiting.add(ids[1]!)
  for (const id of ids)
    await eventually(async () => {
      const { raw } = await client.workflow.getHandle(workflowIdOf(id, 1)).describe()
      return (raw.pendingActivities?.[0]?.attempt ?? 0) > 25
    })
  const checked = async () =>
    (await db.execute(sql`select 1 from jobs where checked_at is not null`)).length === ids.length
  expect(await sweepUntil(checked)).toEqual(['execute'])
  for (const id of ids) await client.workflow.getHandle(workflowIdOf(id, 1)).terminate()
  worker.shutdown()
  await working
  await native.close()
}, 60_000)
