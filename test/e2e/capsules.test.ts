// Runs of capsules from request to verdict: verified, used as templates, as suites of several tasks, cancelled, and
// with workers that die in between.
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { advanceRun } from '../../db/capsule-runs/capsule-run-steps.js'
import { finishJob } from '../support/capsules/capsule-rows.js'
import { eventually } from '../support/eventually.js'
import { bellQasm3, slowQiskit, submission } from '../support/jobs/builders.js'
import { longTest } from '../support/lane.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

let platform: Platform

beforeAll(async () => {
  const ring = Buffer.from('a ring key of 32 bytes for tests').toString('base64')
  platform = await startPlatform('capsule-runs', { executor: { slots: 4 } }, { SECRETS_KEYS: `test:${ring}` })
}, 180_000)

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

/** A capsule with these tasks, in this order. */
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
    const changed = await capsuleOfJob({ params: { shots: 500, seed: 7 } })
    await post(`/api/capsules/${capsule}/seal`, { exit_code: 0 }, 200)
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

    // As if a simulator of the same version had once sampled differently.
    await platform.connection.db.transaction(async (tx) => {
      await tx.execute(sql`set local session_replication_role = replica`)
      await tx.execute(sql`update capsule_files set content = convert_to(regexp_replace(convert_from(content, 'UTF8'),
        '"00": ?([0-9]+), ?"11": ?([0-9]+)', '"00":\\2,"11":\\1'), 'UTF8')
        where capsule_id = ${changed} and name = 'tasks/main/result.json'`)
      await tx.execute(
        sql`update capsule_files set sha256 = encode(sha256(content), 'hex') where capsule_id = ${changed}`
      )
    })
    const other = await over(changed, (await start(changed, { mode: 'verify' })).runId)
    expect(other).toMatchObject({ status: 'completed', verification: { method: 'pearson+cdvv' } })
    expect(JSON.stringify(other.verification)).toContain('seed and versions are the same, but the counts are not')
  }, 90_000)

  test('of a simulation without a seed is judged by its counts', async () => {
    const capsule = await capsuleOfJob({ params: { shots: 20_000 } })
    const verify = async () => over(capsule, (await start(capsule, { mode: 'verify' })).runId)
    // One verification in a hundred finds a difference by design.
    let run = await verify()
    for (let again = 0; again < 2 && run.verdict === 'different'; again++) run = await verify()
    expect(run).toMatchObject({ status: 'completed', verdict: 'consistent' })
    expect(run.verification).toMatchObject({ margin: 0.05, p_values: { pearson: expect.any(Number) } })
  }, 240_000)
})

describe('a suite', () => {
  test('runs its tasks in the order of their needs, and passes results to the last digit', async () => {
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
    expect(text).toContain(`"a":${10n ** 30n},"b":${10n ** 30n + 1n},"whole":[{"nested":[1,${10n ** 30n + 1n}]}]`)
  }, 90_000)

  test('whose task fails ends there: later tasks never start, and the run names the task and the reason', async () => {
    const capsule = await capsuleOf([
      { name: 'first', inline_code: returns('{"value": 1}') },
      { name: 'broken', inline_code: 'def main():\n    raise ValueError("no luck")\n' },
      { name: 'after', inline_code: returns('{"value": 2}') }
    ])
    const run = await over(capsule, (await start(capsule)).runId)
    expect(run).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/^task "broken": .*no luck/s),
      tasks: [{ status: 'completed' }, { status: 'failed' }, { status: 'cancelled' }]
    })
  }, 90_000)

  longTest(
    'whose parameter names a missing value of a result fails with the place of both',
    async () => {
      const capsule = await capsuleOf([
        { name: 'first', inline_code: returns('{"counts": {"0": 1}}') },
        {
          name: 'second',
          inline_code: returns('{}', 'x'),
          parameters: { x: { $result: 'first', path: '/counts/1' } }
        }
      ])
      const run = await over(capsule, (await start(capsule)).runId)
      expect(run).toMatchObject({
        status: 'failed',
        reason: 'task "second": parameters.x: the result of task "first" has no value at "/counts/1"'
      })
      expect(await platform.job(run.job_ids[1]!)).toMatchObject({ error: { code: 'validation_error' }, attempts: 0 })
    },
    90_000
  )

  longTest(
    'fails a task before it runs when a result does not fit, such as a seed that is not a number',
    async () => {
      const capsule = await capsuleOf([
        { name: 'first', inline_code: returns('{"seed": "seven"}') },
        {
          name: 'second',
          inline_code: bellQasm3(),
          framework: 'openqasm',
          parameters: { seed: { $result: 'first', path: '/seed' } }
        }
      ])
      const run = await over(capsule, (await start(capsule)).runId)
      expect(run).toMatchObject({
        status: 'failed',
        reason: expect.stringContaining('"second": parameters.seed: must be')
      })
    },
    90_000
  )

  test.each([
    { cancelled: 0, what: 'the running task' },
    { cancelled: 2, what: 'a waiting task' }
  ])(
    'ends when $what is cancelled',
    async ({ cancelled }) => {
      const capsule = await capsuleOf(
        ['one', 'two', 'three'].map((name) => ({ name, inline_code: slowQiskit(60), framework: 'qiskit' }))
      )
      const { jobId, runId } = await start(capsule)
      await platform.accepted(jobId)
      const jobs = (await runOf(capsule, runId)).job_ids
      expect(await platform.job(jobs[1]!)).toMatchObject({
        status: 'pending',
        queue: { reason: 'earlier_task', position: null }
      })
      await platform.call('POST', `/api/jobs/${jobs[cancelled]}/cancel`)
      const run = await over(capsule, runId)
      expect(run).toMatchObject({ status: 'cancelled', reason: expect.stringContaining('was cancelled') })
      expect(run.tasks.map(({ status }) => status)).toEqual(['cancelled', 'cancelled', 'cancelled'])
    },
    90_000
  )

  longTest(
    'used as a template runs with other parameters, which do not change the capsule',
    async () => {
      const capsule = await capsuleOf([
        { name: 'only', inline_code: returns('{"value": x}', 'x'), parameters: { x: 1, kept: true } }
      ])
      const changed = await over(
        capsule,
        (await start(capsule, { mode: 'template', params: { x: 5 }, shots: 3, backend: 'marqov-sim' })).runId
      )
      expect(await platform.job(changed.job_ids[0]!)).toMatchObject({
        params: { x: 5, kept: true, shots: 3 },
        backend: 'marqov-sim',
        error: { message: expect.stringContaining('kept') }
      })
      const same = await runOf(capsule, (await start(capsule)).runId)
      expect(await platform.job(same.job_ids[0]!)).toMatchObject({ params: { x: 1, kept: true } })
    },
    90_000
  )
})

longTest(
  'the next worker finishes runs that a dead worker left in any state',
  async () => {
    const verified = await capsuleOfJob({ params: { shots: 100 } })
    const suite = await capsuleOf(['one', 'two'].map((name) => ({ name, inline_code: returns('{"value": 1}') })))
    await platform.kill('worker')
    const { db } = platform.connection
    const between = await start(suite)
    const unended = await start(verified, { mode: 'verify' })
    const unjudged = await start(verified, { mode: 'verify' })
    for (const { jobId } of [between, unended, unjudged]) await finishJob(db, jobId)
    expect((await advanceRun(db, unjudged.runId)).status).toBe('judging')
    expect((await runOf(suite, between.runId)).status).toBe('pending')
    await platform.start.worker()
    expect(await over(suite, between.runId)).toMatchObject({
      status: 'completed',
      tasks: [{ status: 'completed' }, { status: 'completed' }]
    })
    for (const { runId } of [unended, unjudged])
      expect(await over(verified, runId)).toMatchObject({ status: 'completed', verdict: expect.any(String) })
  },
  90_000
)

longTest(
  'every run finishes while workers keep dying, with every task and every verdict once',
  async () => {
    const verified = await capsuleOfJob({ params: { shots: 20_000, seed: 3 }, execution_mode: 'temporal' })
    const suite = await capsuleOf(
      ['one', 'two', 'three', 'four'].map((name, place) => ({
        name,
        inline_code: place === 0 ? returns('{"value": 1}') : returns('{"value": x + 1}', 'x'),
        ...(place > 0 && { parameters: { x: { $result: ['one', 'two', 'three'][place - 1], path: '/value' } } }),
        execution_mode: 'temporal'
      }))
    )
    const runs: { capsule: string; runId: string }[] = []
    for (let round = 0; round < 4; round++) {
      for (let n = 0; n < 3; n++) {
        runs.push({ capsule: suite, runId: (await start(suite)).runId })
        runs.push({ capsule: verified, runId: (await start(verified, { mode: 'verify' })).runId })
      }
      await delay(150 + 350 * round)
      await platform.kill('worker')
      await platform.start.worker()
    }
    for (const { capsule, runId } of runs) {
      const run = await over(capsule, runId, 240_000)
      expect(run).toMatchObject({ status: 'completed', verdict: capsule === verified ? 'exact' : null })
      const last = await platform.job(run.job_ids.at(-1)!)
      if (capsule === suite) expect(last.result).toMatchObject({ value: 4 })
    }
    const { connection } = platform
    const told = await connection.sql`select metadata::json ->> 'run_id' as run, action from audit_entries
    where action in ('capsule.run', 'capsule.verified') order by seq`
    for (const { capsule, runId } of runs)
      expect(told.filter(({ run }) => run === runId).map(({ action }) => action)).toEqual(
        capsule === verified ? ['capsule.run', 'capsule.verified'] : ['capsule.run']
      )
    const twice = await connection.sql`select job_id from job_events where type = 'status' and status = 'running'
    group by job_id having count(*) > 1`
    expect([...twice]).toEqual([])
    expect([...(await connection.sql`select 1 from outbox where held_reason = 'earlier_task'`)]).toEqual([])
  },
  600_000
)
