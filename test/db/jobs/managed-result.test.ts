// The result of a native submission: assembled from the stored results of its tasks, without parsing a value.
import { createHash } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { managedResult } from '../../../activities/job/managed-result.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { completeTask, failTask, openTaskAttempt } from '../../../db/jobs/job-tasks.js'
import { recordScriptRequest } from '../../../db/jobs/script-requests.js'
import { findTaskFile, listTaskFiles } from '../../../db/jobs/task-results.js'
import { wholeOf } from '../../../db/stored-content.js'
import type { RequestedGraph } from '../../../domain/jobs/script-requests.js'
import { requestedGraph } from '../../support/jobs/graphs.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('managed_result')
const { db } = database
afterAll(() => database.drop())
const person = await addPerson(db)
const fence = { generation: 1 }
const TEAM = '01900000-0000-7000-8000-000000000000'
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

let id: string
beforeEach(async () => {
  id = await addJob(db, person)
  await beginJob(db, id, fence)
})

const names = (count: number) => Array.from({ length: count }, (_, at) => `task_${String(at + 1).padStart(4, '0')}`)

/** @param returns the tasks that the workflow's output refers to. */
async function ask(tasks: string[], returns: string[], number = 1): Promise<void> {
  const graph: RequestedGraph = requestedGraph(Object.fromEntries(tasks.map((name) => [name, []])))
  graph.graph.returns = returns
  await recordScriptRequest(db, id, fence, { task: '', number, series: 0, parkedAs: null }, { ...graph, number })
}

async function complete(key: string, result: string, display: string | null = result, why: string | null = null) {
  const number = (await openTaskAttempt(db, id, fence, key))!
  const taskResult = { result, display, displayProblem: why, stdout: '', deviceShots: [] }
  expect(await completeTask(db, id, key, number, taskResult)).toBe('stored')
}

const outputs = async () => JSON.parse(await managedResult(db, id, TEAM)).outputs

test('a managed result has each returned result once, in the order of the references, and no other', async () => {
  await ask(names(3), ['task_0003', 'task_0001', 'task_0003'])
  await complete('task_0001', '{"a":[1,null]}')
  await complete('task_0002', '"unseen"')
  await complete('task_0003', '3')
  const text = await managedResult(db, id, TEAM)
  expect(text).not.toContain('unseen')
  const { artifact_id } = JSON.parse(text).outputs[0].artifact
  expect(JSON.parse(text)).toEqual({
    protocol_version: 'marqov.managed-result/v1',
    outputs: [
      {
        task_key: 'task_0003',
        port: 'result',
        artifact: { artifact_id, team_id: TEAM, schema: 'python-value/v1', sha256: sha256('3'), size_bytes: 1 },
        display: {
          protocol_version: 'marqov.task-display/v1',
          result_sha256: sha256('3'),
          state: 'available',
          value: 3
        }
      },
      expect.objectContaining({ task_key: 'task_0001', display: expect.objectContaining({ value: { a: [1, null] } }) })
    ]
  })
  expect(artifact_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  // The same again, byte for byte.
  expect(await managedResult(db, id, TEAM)).toBe(text)
})

test('a managed result preserves numbers to the last digit', async () => {
  await ask(names(1), names(1))
  const value = `[${'9'.repeat(4_300)}, 1.0, 1e400, -0.0]`
  await complete('task_0001', value)
  expect(await managedResult(db, id, TEAM)).toContain(`"value":${value}}`)
})

test('a managed result names the reason for a value that JSON cannot represent', async () => {
  await ask(names(2), names(2))
  await complete('task_0001', '{"__cloudpickle__":true,"data":"AAAA"}', null, 'a Circuit "of" two\nqubits')
  await complete('task_0002', '{"__cloudpickle__":true,"data":"BBBB"}', '{"1":2}')
  const [first, second] = await outputs()
  expect(first.display).toEqual({
    protocol_version: 'marqov.task-display/v1',
    result_sha256: sha256('{"__cloudpickle__":true,"data":"AAAA"}'),
    state: 'unavailable',
    reason: 'a Circuit "of" two\nqubits'
  })
  expect(second).toMatchObject({
    artifact: { sha256: sha256('{"__cloudpickle__":true,"data":"BBBB"}') },
    display: { state: 'available', value: { 1: 2 } }
  })
})

test('a managed result of a workflow that returns only constants has no output', async () => {
  await ask(names(1), [])
  await complete('task_0001', '1')
  expect(await managedResult(db, id, TEAM)).toBe('{"protocol_version":"marqov.managed-result/v1","outputs":[]}')
})

test('a managed result stays within its size limit: an output that does not fit is named, and later ones that fit are shown', async () => {
  await ask(names(4), names(4))
  const large = JSON.stringify('x'.repeat(7 * 1024 * 1024))
  await complete('task_0001', large)
  await complete('task_0002', large.replace('x', 'y'))
  await complete('task_0003', '3')
  // An equal text is sent again.
  await complete('task_0004', large)
  const text = await managedResult(db, id, TEAM)
  expect(text.length).toBeLessThan(16 * 1024 * 1024)
  const states = JSON.parse(text).outputs.map(({ display }: { display: { state: string } }) => display.state)
  expect(states).toEqual(['available', 'unavailable', 'available', 'unavailable'])
  expect(JSON.parse(text).outputs[1].display.reason).toContain('task_0002.json')
})

test('a managed result of a second graph has the keys of that graph', async () => {
  await ask(['task_0001'], ['task_0001'], 2)
  await complete('2.task_0001', '5')
  expect(await outputs()).toEqual([expect.objectContaining({ task_key: 'task_0001' })])
  expect((await listTaskFiles(db, id)).map(({ name }) => name)).toEqual(['2.task_0001.json'])
})

test('there is no managed result while a task has no result', async () => {
  await expect(managedResult(db, id, TEAM)).rejects.toThrow('has requested no graph')
  await ask(names(2), names(2))
  await complete('task_0001', '1')
  await expect(managedResult(db, id, TEAM)).rejects.toThrow('task task_0002')
  await failTask(db, id, 'task_0002', fence, { code: 'execution_error', message: 'x' })
  await expect(managedResult(db, id, TEAM)).rejects.toThrow('task task_0002')
})

test('every task result is a file under its key, exactly as stored', async () => {
  await ask(names(3), [])
  await complete('task_0001', '[1, 2]', '[1,2]')
  await complete('task_0003', '"🔑"')
  expect(await listTaskFiles(db, id)).toEqual([
    { name: 'task_0001.json', mediaType: 'application/json', sha256: sha256('[1, 2]'), sizeBytes: 6 },
    { name: 'task_0003.json', mediaType: 'application/json', sha256: sha256('"🔑"'), sizeBytes: 6 }
  ])
  const found = (await findTaskFile(db, id, 'task_0003.json'))!
  expect((await wholeOf(db, found.stored))!.toString()).toBe('"🔑"')
  for (const name of ['task_0002.json', 'task_0003', 'task_0003.json ', 'x'])
    expect(await findTaskFile(db, id, name)).toBeNull()
})
