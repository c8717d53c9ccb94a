// POST /api/jobs/compare: whether two jobs sample one distribution, with results of the real executor.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { beginJob, failJob, requestCancel } from '../../../db/job-steps/job-steps.js'
import { randomOf } from '../../../domain/verification/statistics/random.js'
import { type Headers, startApi, type TestUser } from '../../support/api/api.js'
import { resultOf, sampler, shifted } from '../../support/capsules/verification-runs.js'
import { bellQasm3, submission } from '../../support/jobs/builders.js'
import { completeWith, executeToEnd } from '../../support/jobs/executed.js'

const api = await startApi('compare')
const { db, sql } = api.database
afterAll(() => api.close())

const UNKNOWN = '01900000-0000-7000-8000-000000000000'
const SHOTS = 10_000
const circuit = (payload: string) => ({ format: 'qasm3', payload })
const bellPair = circuit(bellQasm3())
/** `00` and `10`, where a Bell pair gives `00` and `11`. */
const unentangled = circuit(bellQasm3().replace('cx q[0], q[1];\n', ''))
const ghz = circuit(
  'OPENQASM 3.0; include "stdgates.inc"; qubit[3] q; bit[3] c; h q[0]; cx q[0], q[1]; cx q[1], q[2]; c = measure q;'
)
/** Its two registers have as many bits as the one of `bellPair`. */
const twoRegisters = circuit(
  'OPENQASM 3.0; include "stdgates.inc"; qubit[2] q; bit[1] a; bit[1] b; h q[0]; cx q[0], q[1]; a[0] = measure q[0]; b[0] = measure q[1];'
)

let ada: TestUser
let eve: TestUser
beforeAll(async () => {
  ada = await api.signUp()
  eve = await api.signUp()
})

let jobs = 0
/**
 * A job that the real executor has run. Each has a seed of its own, the same in every run of these tests: of jobs
 * without a seed, one comparison in a hundred finds a difference by design.
 */
async function executed({ params = {}, ...body }: { params?: object; [field: string]: unknown }): Promise<string> {
  jobs += 1
  const all = { shots: SHOTS, seed: jobs, ...params }
  const id = await ada.submit({ execution_mode: 'temporal', backend: 'local', params: all, ...body })
  await executeToEnd(db, id)
  return id
}

/** A job with this result. */
async function completed(result: string, user = ada): Promise<string> {
  const id = await user.submit(submission({ execution_mode: 'temporal' }))
  await completeWith(db, id, result)
  return id
}

async function compared(a: string, b: string, more: Record<string, unknown> = {}) {
  const answer = await ada.post('/api/jobs/compare', { a, b, ...more })
  expect([answer.status, answer.body.error]).toEqual([200, undefined])
  return answer.body
}

describe('jobs that the executor ran', () => {
  test('two Bell pairs are consistent, with error rate, distance, bound and paired counts', async () => {
    const [a, b] = [await executed({ circuit: bellPair }), await executed({ circuit: bellPair })]
    const found = await compared(a, b)
    expect(found).toMatchObject({
      verdict: 'consistent',
      method: 'pearson+cdvv',
      alpha: 0.01,
      beta: 0.05,
      margin: 0.05,
      needed_shots: null,
      a: { job_id: a, backend: 'local', hardware: false, count_source: 'simulator_sampled', seed: expect.any(Number) },
      b: { job_id: b },
      circuits_left_out: 0
    })
    expect(found.tvd).toBeLessThan(found.tvd_upper)
    expect(found.tvd_upper).toBeLessThanOrEqual(0.05)
    const { result } = (await ada.get(`/api/jobs/${a}`)).body
    const [pairs] = found.circuits
    expect(pairs).toMatchObject({ n: SHOTS, m: SHOTS, outcomes: 2, left_out: { outcomes: 0, a: 0, b: 0 } })
    const inA = pairs.counts.map((row: { outcome: string; a: number }) => [row.outcome, row.a])
    expect(Object.fromEntries(inA)).toEqual(result.counts)
  })

  test('a Bell pair and two qubits that are not entangled are different', async () => {
    const found = await compared(await executed({ circuit: bellPair }), await executed({ circuit: unentangled }))
    expect(found.verdict).toBe('different')
    expect(found.tvd).toBeCloseTo(0.5, 1)
    expect(found.circuits[0].notes).toEqual([expect.stringContaining('the circuits differ')])
  })

  test('few shots are not testable, and the shots that are needed suffice', async () => {
    const few = { circuit: bellPair, params: { shots: 100 } }
    const found = await compared(await executed(few), await executed(few))
    expect(found.verdict).toBe('not_testable')
    expect(found.needed_shots).toBeGreaterThan(1000)
    const enough = { circuit: bellPair, params: { shots: 2 * found.needed_shots } }
    expect((await compared(await executed(enough), await executed(enough))).verdict).toBe('consistent')
  })

  test('a noisy and an ideal simulation are different, also where the distance is below the margin', async () => {
    const params = { shots: SHOTS, noise_model: { gate_errors: { all_2q: 0.1 } } }
    const noisy = await executed({ circuit: bellPair, backend: 'aer-noisy', params })
    const found = await compared(await executed({ circuit: bellPair }), noisy, { margin: 0.5 })
    expect(found).toMatchObject({ verdict: 'different', b: { backend: 'aer-noisy' } })
    expect(found.reason).toContain('below the margin 0.5')
  })

  test('one seed gives exact counts, which says nothing of independent samples; so does one job twice', async () => {
    const seeded = { circuit: bellPair, params: { shots: 50, seed: 7 } }
    const a = await executed(seeded)
    expect(await compared(a, await executed(seeded))).toMatchObject({
      verdict: 'exact',
      method: 'equality',
      tvd: 0,
      statement: expect.stringContaining('not the agreement of two independent samples')
    })
    const same = await compared(a, a.toUpperCase())
    expect(same).toMatchObject({
      verdict: 'exact',
      statement: expect.stringContaining('says nothing about another run')
    })
    expect(same.circuits[0].counts).toHaveLength(2)
  })

  test('other registers and other widths are not testable, and both are named', async () => {
    const bell = await executed({ circuit: bellPair })
    const split = await compared(bell, await executed({ circuit: twoRegisters }))
    expect(split).toMatchObject({ verdict: 'not_testable', method: 'none', tvd: null, needed_shots: null })
    expect(split.reason).toContain('c[2] in job a, a[1], b[1] in job b')
    const wider = await compared(await executed({ circuit: ghz }), bell)
    expect(wider.reason).toContain('c[3] in job a, c[2] in job b')
  })

  test('a program that reported its counts is compared, and the service does not vouch for it', async () => {
    const qiskit = `from qiskit import QuantumCircuit
circuit = QuantumCircuit(2)
circuit.h(0)
circuit.cx(0, 1)
circuit.measure_all()
`
    const program = await executed({ inline_code: qiskit, framework: 'qiskit' })
    const found = await compared(await executed({ circuit: bellPair }), program)
    expect(found).toMatchObject({ verdict: 'consistent', b: { count_source: 'program_reported' } })
    expect(found.statement).toContain('the program of job b reported, for which the service cannot vouch')
  })

  test('values of a program are compared place by place', async () => {
    const main = (theta: number) => `from qiskit import QuantumCircuit
def main(shots, seed):
    def rotated(theta):
        circuit = QuantumCircuit(1)
        circuit.ry(theta, 0)
        circuit.measure_all()
        return device.run(circuit, shots)
    return {"first": rotated(1.0), "second": rotated(${theta})}
`
    const [a, b] = [await executed({ inline_code: main(1) }), await executed({ inline_code: main(2) })]
    const { circuits, verdict } = await compared(a, b)
    expect(verdict).toBe('different')
    expect(circuits.map(({ name, verdict }: Record<string, string>) => [name, verdict])).toEqual([
      ['result /first', 'consistent'],
      ['result /second', 'different']
    ])
  })
})

test('the counts of a quantum computer and of a simulator are compared with the margin of hardware', async () => {
  const simulated = await completed(resultOf({ '00': 5000, '11': 5000 }))
  const measured = await completed(
    resultOf({ '00': 4700, '11': 4700, '01': 300, '10': 300 }, { count_source: 'provider_counts', engine: null })
  )
  await sql`update jobs set backend = 'ionq-direct-forte-1' where id = ${measured}`
  const found = await compared(simulated, measured)
  expect(found).toMatchObject({
    verdict: 'different',
    margin: 0.1,
    b: { backend: 'ionq-direct-forte-1', hardware: true, count_source: 'provider_counts' }
  })
  expect(found.circuits[0].hardware).toMatchObject({ a_calibration_id: null, b_calibration_id: null })
})

test('100,000 outcomes are compared, and the response has the most frequent ones', async () => {
  const next = sampler(shifted(131_072, 0), randomOf('wide'))
  const wide = () => resultOf(next(100_000), { registers: [{ name: 'c', size: 17 }] })
  const found = await ada.post('/api/jobs/compare', { a: await completed(wide()), b: await completed(wide()) })
  expect(found.body).toMatchObject({ verdict: 'not_testable', needed_shots: null })
  expect(found.body.reason).toContain('a job has at most 100,000')
  const [{ counts, left_out, outcomes }] = found.body.circuits
  expect([counts.length, counts.length + left_out.outcomes]).toEqual([1000, outcomes])
  expect(Buffer.byteLength(found.text)).toBeLessThan(128 * 1024)
})

describe('jobs that cannot be compared are refused', () => {
  test('each without a result is named, with its status', async () => {
    const pending = await ada.submit(submission())
    const [failed, cancelled] = [await ada.submit(submission()), await ada.submit(submission())]
    await beginJob(db, failed, { generation: 1 }, {})
    await failJob(db, failed, { generation: 1 }, { code: 'execution_error', message: 'no' })
    await requestCancel(db, cancelled)
    const done = await completed(resultOf({ '0': 5 }))
    for (const [a, b, problem] of [
      [pending, failed, 'a: must be a completed job (it is pending); b: must be a completed job (it is failed)'],
      [done, cancelled, 'b: must be a completed job (it is cancelled)'],
      [pending, pending, 'a: must be a completed job (it is pending); b: must be a completed job (it is pending)']
    ])
      expect(await ada.post('/api/jobs/compare', { a, b })).toMatchObject({ status: 400, body: { error: problem } })
  })

  test('another team’s job is 404 like an unknown one, and says which', async () => {
    const [mine, theirs] = [await completed(resultOf({ '0': 5 })), await completed(resultOf({ '0': 5 }), eve)]
    for (const [a, b, problem] of [
      [mine, theirs, 'b: no such job'],
      [mine, UNKNOWN, 'b: no such job'],
      [theirs, mine, 'a: no such job'],
      [theirs, UNKNOWN, 'a: no such job; b: no such job']
    ])
      expect(await ada.post('/api/jobs/compare', { a, b })).toMatchObject({ status: 404, body: { error: problem } })
    expect((await eve.post('/api/jobs/compare', { a: theirs, b: theirs })).status).toBe(200)
  })

  test('jobs of two teams of one user are compared; a key sees those of its team', async () => {
    const { id: team } = (await ada.post('/api/teams', { name: 'another' })).body
    const mine = await completed(resultOf({ '0': 5000 }))
    const ours = await ada.submit(submission({ execution_mode: 'temporal', team_id: team }))
    await completeWith(db, ours, resultOf({ '0': 5000 }))
    expect((await compared(mine, ours)).verdict).toBe('consistent')
    const made = await ada.post('/api/team/api-keys', { team_id: team, name: 'k', tier: 'read', kind: 'live' })
    const headers: Headers = { authorization: `Bearer ${made.body.key}` }
    const asKey = (a: string, b: string) => api.ask('POST', '/api/jobs/compare', { a, b }, headers)
    expect((await asKey(ours, ours)).status).toBe(200)
    expect((await asKey(ours, mine)).status).toBe(404)
  })

  test('a result that was deleted is named', async () => {
    const [a, b] = [await completed(resultOf({ '0': 5 })), await completed(resultOf({ '0': 5 }))]
    await sql`delete from artifacts where job_id = ${b}`
    expect(await ada.post('/api/jobs/compare', { a, b })).toMatchObject({
      status: 400,
      body: { error: 'b: the result of this job has been deleted' }
    })
  })

  test.each<[string, unknown, RegExp]>([
    ['no jobs', {}, /a: .*; b: /],
    ['no ids', { a: 'latest', b: 7 }, /a: .*b: /],
    ['an object with an unknown field', { a: { job_id: UNKNOWN, place: 1 }, b: UNKNOWN }, /^a\.place: is not a field/],
    ['a margin of nothing', { a: UNKNOWN, b: UNKNOWN, margin: 0 }, /margin: /],
    ['a margin above 1', { a: UNKNOWN, b: UNKNOWN, margin: 1.5 }, /margin: /],
    ['a margin in words', { a: UNKNOWN, b: UNKNOWN, margin: '0.1' }, /margin: /],
    ['another field', { a: UNKNOWN, b: UNKNOWN, alpha: 0.5 }, /alpha: is not a field of this request/],
    ['a list', [UNKNOWN, UNKNOWN], /./]
  ])('a body with %s', async (_, body, problem) => {
    const answer = await ada.post('/api/jobs/compare', body)
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(problem)])
  })
})

test.each<[string, string]>([
  ['counts beyond the range of exact numbers', '{"counts":{"0":9007199254740993}}'],
  ['negative counts', resultOf({ '0': -5, '1': 10 })],
  ['fractions', resultOf({ '0': 0.5, '1': 0.5 })],
  ['counts that do not sum to the shots', resultOf({ '0': 5 }, { shots_observed: 6 })],
  ['names of inherited properties', '{"counts":{"__proto__":5,"constructor":5},"metadata":null}'],
  ['a deep value', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`],
  ['long outcomes', `{"counts":{"${'01'.repeat(500_000)}":5},"metadata":{"count_source":null}}`],
  ['metadata of other types', '{"counts":{"0":5},"metadata":{"count_source":["x"],"seed":"7","registers":5}}']
])('results with %s get a verdict and never a fault', async (_, result) => {
  const answer = await ada.post('/api/jobs/compare', { a: await completed(result), b: await completed(result) })
  expect([answer.status, answer.body.verdict]).toEqual([200, 'not_testable'])
  expect(Buffer.byteLength(answer.text)).toBeLessThan(10_000)
})

test('a suspended team’s jobs can be compared, since nothing is written', async () => {
  const user = await api.signUpWithTeam()
  const a = await completed(resultOf({ '0': 5000 }), user)
  await sql`update teams set suspended_at = now() where id = ${user.teamId}`
  expect((await user.post('/api/jobs/compare', { a, b: a })).status).toBe(200)
})
