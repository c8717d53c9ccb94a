// Executions that end because the executor is stopped, by deployments for instance, are repeated without being counted.
import { afterAll, expect, test } from '@jest/globals'
import { executeJob } from '../../../activities/job/execute-job.js'
import { runTask } from '../../../activities/job/run-task.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { recordScriptRequest } from '../../../db/jobs/script-requests.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { gateTo } from '../../support/jobs/gate-to.js'
import { requestedGraph } from '../../support/jobs/graphs.js'
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

const log = { info: () => {}, warn: () => {}, error: () => {} }
const fence = { generation: 1 }
const { signal } = new AbortController()
const deps = {
  db: database.db,
  gate: gateTo(executor),
  announce: () => {},
  countFault: () => {},
  countRepeatedStep: () => {},
  log
}

test('only the executions that were lost otherwise count against the attempts of a durable job', async () => {
  const { db } = database
  const jobId = await addJob(db, await addPerson(db))
  expect(await beginJob(db, jobId, fence)).toBe('begin')
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
    const end = await executeJob(deps, jobId, fence, signal, { isFirst: ends.length === 0 })
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

test('a task is repeated after each execution that ended with the executor, and fails after three that were lost otherwise', async () => {
  const { db } = database
  const source = { kind: 'inline', framework: 'marqov', text: 'from marqov import task, workflow' } as const
  const jobId = await addJob(db, await addPerson(db), { submission: { source } })
  await beginJob(db, jobId, fence)
  const by = { task: '', number: 1, series: 0, parkedAs: null }
  await recordScriptRequest(db, jobId, fence, by, { ...requestedGraph({ only: [] }), final: true })
  const ends = []
  for (const code of [
    ...Array(3).fill('executor_shut_down'),
    ...Array(2).fill('execution_service_lost'),
    'executor_shut_down',
    'execution_service_lost'
  ]) {
    faulty.from(stream([{ outcome: { status: 'lost', error: { code, message: 'gone' } } }]))
    const end = await runTask(deps, jobId, 'only', fence, signal)
    ends.push([end.outcome, 'error' in end && end.error.code])
  }
  expect(ends).toEqual([
    ...Array(3).fill(['retry', 'executor_shut_down']),
    ...Array(2).fill(['retry', 'execution_service_lost']),
    ['retry', 'executor_shut_down'],
    ['failed', 'execution_service_lost']
  ])
})
