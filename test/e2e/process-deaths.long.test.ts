// Processes that die at the worst moment: durable jobs complete all the same, direct jobs fail as lost, nothing runs
// twice.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createExecutorClient } from '../../services/executor/client.js'
import { eventually } from '../support/eventually.js'
import { slowQiskit, submission } from '../support/jobs/builders.js'
import { longTest, rowsOfLane } from '../support/lane.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

const direct = { execution_mode: 'direct' }
const temporal = { execution_mode: 'temporal' }
const slow = (seconds: number) => ({ inline_code: slowQiskit(seconds), framework: 'qiskit' })

let platform: Platform

beforeAll(async () => {
  platform = await startPlatform('process-deaths', { executor: true })
}, 180_000)

afterAll(() => platform.close())

/** The ids of a durable and a direct job of the same program, both of which the executor has accepted. */
async function acceptedInBothModes(program: ReturnType<typeof slow>): Promise<[durable: string, short: string]> {
  const ids = await Promise.all([
    platform.submit(submission({ ...temporal, ...program })),
    platform.submit(submission({ ...direct, ...program }))
  ])
  await Promise.all(ids.map((id) => platform.accepted(id)))
  return ids
}

test('a killed worker: the durable job completes once after a restart, the direct job fails with worker_lost and is not run again', async () => {
  const [durable, short] = await acceptedInBothModes(slow(12))
  await platform.kill('worker')
  await platform.start.worker()

  expect(await platform.ended(durable, 90_000)).toMatchObject({ status: 'completed', error: null, attempts: 2 })
  expect((await platform.attempts(durable)).map((attempt) => attempt.state)).toEqual(['lost', 'completed'])

  const lost = { status: 'failed', error: { code: 'worker_lost' }, attempts: 1 }
  expect(await platform.ended(short, 90_000)).toMatchObject(lost)
  expect((await platform.attempts(short)).map((attempt) => attempt.state)).toEqual(['lost'])
}, 240_000)

longTest(
  'a stopping worker finishes its direct job and hands over its durable job',
  async () => {
    const [durable, short] = await acceptedInBothModes(slow(3))
    await platform.stop('worker')
    await platform.start.worker()
    expect(await platform.ended(durable)).toMatchObject({ status: 'completed', error: null })
    expect(await platform.ended(short)).toMatchObject({ status: 'completed', error: null, attempts: 1 })
  },
  90_000
)

longTest(
  'a durable job that is cancelled while its worker is dead is cancelled',
  async () => {
    const id = await platform.submit(
      submission({ execution_mode: 'temporal', inline_code: slowQiskit(60), framework: 'qiskit' })
    )
    await platform.accepted(id)
    await platform.kill('worker')
    await platform.call('POST', `/api/jobs/${id}/cancel`)
    await platform.start.worker()
    expect(await platform.ended(id)).toMatchObject({
      status: 'cancelled',
      error: null,
      cancel: { outcome: 'stopped_before_provider' }
    })
    expect((await platform.attempts(id)).map((attempt) => attempt.state)).toEqual(['cancelled'])
  },
  90_000
)

longTest(
  'a killed executor: the durable job completes in its second attempt, the direct job fails with execution_service_lost',
  async () => {
    const [durable, short] = await acceptedInBothModes(slow(12))
    await platform.kill('executor')
    await platform.start.executor()
    expect(await platform.ended(durable, 90_000)).toMatchObject({ status: 'completed', error: null, attempts: 2 })
    expect((await platform.attempts(durable)).map((attempt) => attempt.state)).toEqual(['lost', 'completed'])
    expect(await platform.ended(short)).toMatchObject({ status: 'failed', error: { code: 'execution_service_lost' } })
  },
  240_000
)

longTest(
  'an API killed right after its response loses no job',
  async () => {
    const ids: string[] = []
    for (const mode of [direct, temporal, direct]) {
      ids.push(await platform.submit(submission(mode)))
      await platform.kill('api')
      await platform.start.api()
    }
    for (const id of ids) expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1 })
  },
  90_000
)

test.each(
  rowsOfLane<[string, object]>(
    [
      ['direct', direct],
      ['temporal', temporal]
    ],
    ([mode]) => mode === 'temporal'
  )
)('cancelling a running %s job stops its simulation', async (_mode, mode) => {
  const executor = createExecutorClient(platform.settings.EXECUTOR_URL!, platform.settings.EXECUTOR_TOKEN!)
  const id = await platform.submit(submission({ ...mode, ...slow(100) }))
  await platform.accepted(id)
  expect((await executor.health()).slots.running).toBe(1)
  const answer = (await (await platform.call('POST', `/api/jobs/${id}/cancel`)).json()) as { status: string }
  expect(answer.status).toBe('cancelling')
  expect(await platform.ended(id)).toMatchObject({
    status: 'cancelled',
    error: null,
    cancel: { outcome: 'stopped_before_provider' }
  })
  await eventually(async () => (await executor.health()).slots.running === 0)
  expect((await platform.attempts(id)).map((attempt) => attempt.state)).toEqual(['cancelled'])
  await executor.close()
})
