// Executions that end because the executor is stopped, by deployments for instance, are repeated without being counted.
import { afterAll, expect, test } from '@jest/globals'
import { executeJob } from '../../../activities/job/execute-job.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { createExecutorGate } from '../../../services/executor/gate.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'
import { hang, startFaultyExecutor, stream } from '../../support/stack/faulty-executor.js'

const database = await createTestDatabase('shut_down_executions')
const faulty = await startFaultyExecutor(hang)
const executor = createExecutorClient(faulty.url, 'a-token')
afterAll(async () => {
  await executor.close()
  await faulty.close()
  await database.drop()
})

test('only the executions that were lost otherwise count against the attempts of a durable job', async () => {
  const { db } = database
  const jobId = await addJob(db, await addPerson(db))
  expect(await beginJob(db, jobId, { generation: 1 })).toBe('begin')
  const log = { info: () => {}, warn: () => {} }
  const deps = { db, executor, gate: createExecutorGate(1), announce: () => {}, log }
  const ends = []
  for (const code of [
    'executor_shut_down',
    'execution_service_lost',
    'executor_shut_down',
    'executor_shut_down',
    'execution_service_lost',
    'execution_service_lost'
  ]) {
    faulty.from(stream([{ outcome: { status: 'lost', error: { code, message: 'gone' } } }]))
    const end = await executeJob(deps, jobId, { generation: 1 }, new AbortController().signal)
    ends.push(end.outcome === 'lost' && [end.error.code, end.attempt])
  }
  expect(ends).toEqual([
    ['executor_shut_down', 0],
    ['execution_service_lost', 1],
    ['executor_shut_down', 1],
    ['executor_shut_down', 1],
    ['execution_service_lost', 2],
    ['execution_service_lost', 3]
  ])
})
