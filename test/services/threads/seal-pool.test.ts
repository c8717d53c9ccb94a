// The content of a seal, created in a thread: the same as in the caller's thread, with the same refusals.
import { createHash } from 'node:crypto'
import { afterEach, expect, test } from '@jest/globals'
import { type SealRequest, sealContent } from '../../../capsule-format/seal-content.js'
import { randomOf } from '../../../domain/verification/statistics/random.js'
import { type SealPool, startSealPool } from '../../../services/threads/seal-pool.js'
import { resultOf, sampler, shifted } from '../../support/capsules/verification-runs.js'

const JOB = '0196b6a4-3f5e-7d2a-9d0b-5d6f1c2e3a4b'

function request(changes: Partial<SealRequest> = {}, evidence: Record<string, string> = {}): SealRequest {
  const texts = {
    'job.json': JSON.stringify({ id: JOB, provider: 'local', backend: 'aer', shots: 100 }),
    'timing.json':
      '{"started_at":"2026-03-01T10:00:01.000Z","completed_at":"2026-03-01T10:00:02.500Z","actual_cost_usd":0.5}',
    'backend.json': '{"backend":"aer","facts":{"deviceType":"simulator"}}',
    'result.json': resultOf({ '00': 51, '11': 49 }),
    ...evidence
  }
  return {
    name: 'Bell \u2728',
    description: '',
    tags: [],
    createdAt: new Date('2026-03-01T10:00:00.000Z'),
    createdBy: 'user:1',
    derivedFrom: null,
    definition: '{"tasks":[]}',
    backends: ['aer'],
    maxBudgetUsd: null,
    retentionYears: null,
    regulatoryFramework: null,
    taskNames: ['main'],
    files: Object.entries(texts).map(([name, text]) => fileOf(`tasks/main/${name}`, text)),
    sealedAt: new Date('2026-03-02T00:00:00.000Z'),
    sealedBy: 'user:1',
    exitCode: 0,
    exitMessage: null,
    margin: null,
    ...changes
  }
}

const fileOf = (name: string, text: string) => ({
  name,
  content: Buffer.from(text),
  sha256: createHash('sha256').update(text).digest('hex')
})

let pool: SealPool | undefined
afterEach(() => pool?.close())

test('a seal from a thread equals the seal of a direct call, byte for byte', async () => {
  pool = startSealPool()
  const sealed = await pool.sealInThread('a team', request())
  expect(sealed).toEqual(await sealContent(request()))
  expect(JSON.parse(sealed.manifest)).toMatchObject({
    task_executions: [{ task_id: JOB, result_type: 'probabilistic', wall_time_seconds: 1.5, cost_usd: 0.5 }],
    total_shots: 100
  })
  expect(sealed.warnings).toEqual([expect.stringContaining('100 sealed shots')])
})

test('a refusal in a thread keeps its code and message', async () => {
  pool = startSealPool()
  const token = `ghp_${'a'.repeat(36)}`
  const refused = [
    [request({}, { 'source.py': `t = "${token}"` }), 'tasks/main/source.py":1 (a GitHub token)'],
    [
      request({ definition: '{"tasks":[{"parameters":{"x":1},"parameters_text":"{\\"x\\":2}"}]}' }),
      'definition.tasks[0].parameters_text: is not the text'
    ],
    [request({ taskNames: ['main', 'second'] }), 'evidence is missing: tasks/second/job.json'],
    [
      request({ files: request().files.map((file) => ({ ...file, sha256: '0'.repeat(64) })) }),
      'is not what was recorded'
    ]
  ] as const
  for (const [input, message] of refused) {
    const failed = { code: 'validation_error', message: expect.stringContaining(message) }
    await expect(pool.sealInThread('a team', input)).rejects.toMatchObject(failed)
    await expect(sealContent(input)).rejects.toMatchObject(failed)
  }
})

test('the event loop continues while a capsule with a hundred thousand outcomes is sealed', async () => {
  pool = startSealPool()
  const large = resultOf(sampler(shifted(131_072, 0), randomOf('large'))(100_000))
  await pool.sealInThread('a team', request())
  let turns = 0
  const timer = setInterval(() => turns++, 5)
  await pool.sealInThread('a team', request({}, { 'result.json': large }))
  clearInterval(timer)
  expect(turns).toBeGreaterThan(5)
})

test('unusual names of gates do not prevent a seal', async () => {
  const gates = (names: string[]) =>
    JSON.stringify({ circuit_info: { num_qubits: 2, gate_counts: Object.fromEntries(names.map((name) => [name, 1])) } })
  const requirements = async (result: string) =>
    JSON.parse((await sealContent(request({}, { 'result.json': result }))).manifest).requirements
  expect(await requirements(gates(['h', '\ud800']))).toMatchObject({ gate_set: ['h'], max_qubit_count: 2 })
  const many = Array.from({ length: 1_000 }, (_, k) => `${k}`.padEnd(200, '\u2728'))
  expect(await requirements(gates(many))).toEqual({ paradigm: ['gate-based'], max_qubit_count: 2 })
})

test('the manifest of the largest possible capsule fits its limit', async () => {
  const names = Array.from({ length: 50 }, (_, k) => `${k}`.padStart(100, 'x'))
  const text = (length: number) => '\u0085'.repeat(length)
  const sealed = await sealContent(
    request({
      name: text(200),
      description: text(1_000),
      regulatoryFramework: text(1_000),
      exitMessage: text(1_000),
      tags: Array.from({ length: 10 }, (_, k) => `${k}${text(49)}`),
      backends: Array.from({ length: 50 }, (_, k) => `${k}`.padStart(100, 'b')),
      provenance: { imported: { name: text(200) } },
      taskNames: names,
      files: names.flatMap((name) =>
        [...request().files, fileOf('tasks/main/circuit.qasm', 'x'), fileOf('tasks/main/source.qasm', 'x')].map(
          (file) => ({
            ...file,
            name: file.name.replace('main', name)
          })
        )
      )
    })
  )
  expect(Buffer.byteLength(sealed.manifest)).toBeLessThan(150 * 1024)
})

test('a seal that takes too long is stopped, and can be requested again', async () => {
  pool = startSealPool({ limitMs: 1 })
  const large = resultOf(sampler(shifted(131_072, 0), randomOf('large'))(100_000))
  await expect(pool.sealInThread('a team', request({}, { 'result.json': large }))).rejects.toMatchObject({
    code: 'rate_limited',
    message: expect.stringContaining('nothing is sealed, try again')
  })
})
