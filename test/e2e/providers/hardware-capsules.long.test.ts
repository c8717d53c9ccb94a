// Capsules of jobs on (emulated) quantum computers: sealed as sampled, verified and scheduled, and found to drift when the
// machine does. Jobs on them are compared with those of simulators.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { eventually } from '../../support/eventually.js'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform

beforeAll(async () => {
  platform = await startProviderPlatform('hardware-capsules')
}, 240_000)

beforeEach(() => platform.ionq.reset())

afterAll(() => platform.close())

interface Run {
  status: string
  verdict: string | null
  verification: Record<string, unknown> | null
}

async function ask<T = Record<string, never>>(method: string, path: string, body: unknown, status: number): Promise<T> {
  const response = await platform.call(method, path, body)
  const text = await response.text()
  if (response.status !== status) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return JSON.parse(text) as T
}

const SHOTS = 500

async function sealedCapsule(backend: string): Promise<{ id: string; warnings: string[] }> {
  const job = await platform.submitPaid({ backend, params: { shots: SHOTS } })
  expect(await platform.ended(job)).toMatchObject({ status: 'completed', error: null })
  const { capsule_id: id } = await ask<{ capsule_id: string }>('POST', '/api/capsules/from-job', { job_id: job }, 201)
  const sealed = await ask<{ seal: { warnings: string[] } }>(
    'POST',
    `/api/capsules/${id}/seal`,
    { exit_code: 0, margin: 0.2 },
    200
  )
  return { id, warnings: sealed.seal.warnings }
}

const over = (capsule: string, run: string): Promise<Run> =>
  eventually(
    async () => {
      const found = await ask<Run>('GET', `/api/capsules/${capsule}/runs/${run}`, undefined, 200)
      return ['pending', 'running', 'judging'].includes(found.status) ? null : found
    },
    { timeoutMs: 120_000 }
  )

async function verified(capsule: string): Promise<Run> {
  const body = { mode: 'verify' }
  const { capsule_run_id } = await ask<{ capsule_run_id: string }>('POST', `/api/capsules/${capsule}/run`, body, 201)
  return over(capsule, capsule_run_id)
}

test('a capsule of a quantum computer is sampled, verified on schedule, and drifts when the machine does', async () => {
  const { id, warnings } = await sealedCapsule('ionq-direct-forte-1')
  expect(warnings).toEqual([])
  const [seal] = await platform.connection.db.execute<{ manifest: string }>(
    sql`select manifest from capsule_seals where capsule_id = ${id}`
  )
  expect(JSON.parse(seal!.manifest).task_executions).toMatchObject([
    {
      result_type: 'probabilistic',
      verification_settings: { epsilon: 0.2, epsilon_drift: 0.2, tolerance_regime: 'calibration_drift' }
    }
  ])
  // One verification in a hundred finds a difference by design.
  const first = await verified(id)
  const consistent = first.verdict === 'drifted' ? await verified(id) : first
  expect(consistent).toMatchObject({ status: 'completed', verdict: 'consistent' })
  const [{ hardware }] = consistent.verification!.checks as [{ hardware: Record<string, string> }]
  expect(hardware.sealed_calibration_id).toMatch(/^[0-9a-f-]{36}$/)
  expect(hardware.rerun_calibration_id).toBe(hardware.sealed_calibration_id)

  platform.ionq.noise(0.1)
  const yesterday = (hour: number) => new Date(Math.floor(Date.now() / 86_400_000 - 1) * 86_400_000 + hour * 3_600_000)
  await ask('PUT', `/api/capsules/${id}/schedule`, { cron: '0 12 * * *' }, 200)
  const range = { from: yesterday(11).toISOString(), to: yesterday(13).toISOString() }
  const made = await ask<{ runs: { capsule_run_id: string }[] }>(
    'POST',
    `/api/capsules/${id}/schedule/backfill`,
    range,
    201
  )
  const drifted = await over(id, made.runs[0]!.capsule_run_id)
  expect(drifted).toMatchObject({ status: 'completed', verdict: 'drifted' })
  expect(drifted.verification).toMatchObject({ reason: expect.stringContaining('the calibration is another one') })

  platform.ionq.noise(0.9)
  expect(await verified(id)).toMatchObject({ status: 'completed', verdict: 'different' })
}, 240_000)

test('a capsule that no re-run can be compared with warns at its seal, and cannot be scheduled', async () => {
  const { id, warnings } = await sealedCapsule('ionq-direct-simulator')
  const reason = 'the counts of the sealed run were computed from probabilities'
  expect(warnings).toEqual([expect.stringContaining(reason)])
  const refused = await ask<{ error: string }>('PUT', `/api/capsules/${id}/schedule`, { cron: '@daily' }, 409)
  expect(refused.error).toContain(reason)
}, 240_000)

test('a job on a noisy quantum computer differs from one on a simulator; probabilities cannot be compared', async () => {
  platform.ionq.noise(0.9)
  const measured = await platform.submitPaid({ params: { shots: SHOTS } })
  const simulated = await platform.submitPaid({ backend: 'local', params: { shots: SHOTS } })
  const computed = await platform.submitPaid({ backend: 'ionq-direct-simulator', params: { shots: SHOTS } })
  for (const job of [measured, simulated, computed]) expect((await platform.ended(job)).status).toBe('completed')
  const compared = (a: string, b: string) => ask<Record<string, unknown>>('POST', '/api/jobs/compare', { a, b }, 200)
  expect(await compared(simulated, measured)).toMatchObject({
    verdict: 'different',
    margin: 0.1,
    a: { backend: 'local', hardware: false, count_source: 'simulator_sampled' },
    b: { hardware: true, count_source: 'provider_counts', calibration_id: expect.stringMatching(/^[0-9a-f-]{36}$/) }
  })
  expect(await compared(simulated, computed)).toMatchObject({
    verdict: 'not_testable',
    reason: expect.stringContaining('the counts of job b were computed from probabilities')
  })
}, 240_000)
