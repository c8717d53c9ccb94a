// Runs of capsules from request to verdict: verified, used as templates, as suites of several tasks, cancelled, and with
// workers that die in between.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { bellQasm3, slowQiskit, submission } from '../support/builders.js'
import { eventually } from '../support/eventually.js'
import { type Platform, startPlatform } from '../support/platform.js'

let platform: Platform

beforeAll(async () => {
  platform = await startPlatform('capsule-runs', { executor: { slots: 4 } })
}, 60_000)

afterAll(() => platform.close())

interface Run {
  id: string
  status: string
  reason: string | null
  job_ids: string[]
  tasks: { name: string; job_id: string; status: string }[]
  verdict: string | null
  verification: Record<string, unknown> | null
}

async function post(path: string, body: unknown, status = 201): Promise<Record<string, string>> {
  const response = await platform.call('POST', path, body)
  const answer = (await response.json()) as Record<string, string>
  if (response.status !== status) throw new Error(`${path} answered ${response.status}: ${JSON.stringify(answer)}`)
  return answer
}

const runOf = async (capsuleId: string, runId: string): Promise<Run> =>
  (await (await platform.call('GET', `/api/capsules/${capsuleId}/runs/${runId}`)).json()) as Run

const over = (capsuleId: string, runId: string, timeoutMs = 60_000): Promise<Run> =>
  eventually(
    async () => {
      const run = await runOf(capsuleId, runId)
      return ['pending', 'running', 'judging'].includes(run.status) ? null : run
    },
    { timeoutMs, message: async () => `${JSON.stringify(await runOf(capsuleId, runId))}\n${platform.logs()}` }
  )

async function capsuleOfJob(body: Record<string, unknown>): Promise<string> {
  const jobId = await platform.submit(submission(body))
  expect(await platform.ended(jobId)).toMatchObject({ status: 'completed', error: null })
  return (await post('/api/capsules/from-job', { job_id: jobId })).capsule_id!
}

/** A capsule whose tasks are these, in this order. */
const capsuleOf = async (tasks: object[], more: object = {}): Promise<string> =>
  (
    await post('/api/capsules/create', {
      name: 'a suite',
      workflow: { tasks: tasks.map((task) => ({ backend: 'local', framework: 'marqov', parameters: {}, ...task })) },
      ...more
    })
  ).capsule_id!

const start = async (capsuleId: string, body: object = { mode: 'template' }) => {
  const { job_id: jobId, capsule_run_id: runId } = await post(`/api/capsules/${capsuleId}/run`, body)
  return { jobId: jobId!, runId: runId! }
}

const returns = (text: string, args = ''): string => `def main(${args}):\n    return ${text}\n`

describe('a verification', () => {
  test('of a simulation with a seed is exact, with the evidence and the program of the capsule', async () => {
    const capsule = await capsuleOfJob({ params: { shots: 500, seed: 7 } })
    const { jobId, runId } = await start(capsule, { mode: 'verify' })
    const run = await over(capsule, runId)
    expect(run).toMatchObject({ status: 'completed', verdict: 'exact', job_ids: [jobId] })
    expect(run.verification).toMatchObject({ verdict: 'exact', method: 'equality' })
    expect(await platform.job(jobId)).toMatchObject({
      capsule_id: capsule,
      capsule_run_id: runId,
      source: { kind: 'capsule' },
      params: { shots: 500, seed: 7 }
    })
  }, 90_000)

  test('of a simulation without one is judged by its counts', async () => {
    const capsule = await capsuleOfJob({ params: { shots: 20_000 } })
    const run = await over(capsule, (await start(capsule, { mode: 'verify' })).runId)
    expect(run).toMatchObject({ status: 'completed', verdict: 'consistent' })
    expect(run.verification).toMatchObject({ margin: 0.05, p_values: { pearson: expect.any(Number) } })
  }, 90_000)
})

describe('a suite', () => {
  test('runs its tasks in the order in which they need each other, and hands results over to the last digit', async () => {
    const capsule = await capsuleOf([
      {
        name: 'last',
        inline_code: returns('{"sum": a + b, "kept": whole}', 'a, b, whole'),
        parameters: {
          a: { $result: 'big', path: '/value' },
          b: { $result: 'second', path: '/list/1' },
          whole: [{ nested: { $result: 'second', path: '/list' } }]
        }
      },
      { name: 'big', inline_code: returns('{"value": 10**30}') },
      {
        name: 'second',
        inline_code: returns('{"list": [1, x + 1]}', 'x'),
        parameters: { x: { $result: 'big', path: '/value' } }
      }
    ])
    const { jobId, runId } = await start(capsule)
    const run = await over(capsule, runId)
    expect(run.tasks.map(({ name, status }) => [name, status])).toEqual([
      ['big', 'completed'],
      ['second', 'completed'],
      ['last', 'completed']
    ])
    expect(run).toMatchObject({ status: 'completed', verdict: null, reason: null })
    expect(run.job_ids[0]).toBe(jobId)
    const text = await (await platform.call('GET', `/api/jobs/${run.job_ids[2]}`)).text()
    expect(text).toContain(`"sum": ${2n * 10n ** 30n + 1n}`.replaceAll(' ', ''))
    expect(text).toContain(`"params":{"a":${10n ** 30n},"b":${10n ** 30n + 1n}`)
  }, 90_000)
})
