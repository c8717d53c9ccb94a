// Sweeps: many points in one job, each with the result of its own; points that fail, crash or hang spare the others; and what is
// done stays done when a worker or the executor dies, or the database is away.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { JsonText } from '../../domain/json/json-text.js'
import { eventually } from '../support/eventually.js'
import { submission } from '../support/jobs/builders.js'
import { longTest } from '../support/lane.js'
import { type JobRecord, type Platform, startPlatform } from '../support/stack/platform.js'
import { tcpProxy } from '../support/stack/tcp-proxy.js'

let platform: Platform
/** Of api and worker to the database. */
let way: Awaited<ReturnType<typeof tcpProxy>>

beforeAll(async () => {
  const ring = Buffer.from('a ring key of 32 bytes for tests').toString('base64')
  const { hostname, port } = new URL(process.env.TEST_PG_URL!)
  way = await tcpProxy({ host: hostname, port: Number(port) })
  const own = { executor: true, databasePort: way.port }
  platform = await startPlatform('sweeps', own, { SECRETS_KEYS: `test:${ring}` })
}, 180_000)

afterAll(async () => {
  await platform.close()
  await way.close()
})

interface Point {
  index: number
  params?: Record<string, unknown>
  counts?: Record<string, number>
  value?: unknown
  error?: { code: string; message: string }
  [key: string]: unknown
}

const STD = 'OPENQASM 3.0; include "stdgates.inc"; '
/** Turns qubit 0 of 2 by theta. */
const ANSATZ = { format: 'qasm3', payload: `${STD}input float theta; qubit[2] q; rx(theta) q[0];` }
const circuit = (payload: string) => ({ format: 'qasm3', payload: STD + payload })
/** A body without the program that the others have. */
const ofCircuits = (body: Record<string, unknown>) =>
  submission({ inline_code: undefined, framework: undefined, ...body })
const pointsOf = (job: JobRecord) => job.result!.points as Point[]

const ended = async (body: Record<string, unknown>, timeoutMs?: number) =>
  platform.ended(await platform.submit(body), timeoutMs)
const ofProgram = (main: string, params: Record<string, unknown>, rest: Record<string, unknown> = {}) =>
  submission({
    inline_code: main,
    framework: 'qiskit',
    params: { shots: 10, ...params },
    ...rest
  })
const storedPoints = async (id: string) =>
  (await platform.connection.db.execute(sql`select index from job_points where job_id = ${id} order by index`)).map(
    ({ index }) => index
  )

test.each(['direct', 'temporal'])('a sweep in mode %s has the counts of each point, in order', async (mode) => {
  const points = [{ theta: Math.PI }, { theta: 0 }, { theta: Math.PI, shots: 7, seed: 3 }, {}]
  const job = await ended(
    ofCircuits({ circuit: ANSATZ, params: { shots: 50, theta: Math.PI, points }, execution_mode: mode })
  )
  expect(job).toMatchObject({
    status: 'completed',
    attempts: 1,
    progress: { points_total: 4, points_done: 4, points_failed: 0 },
    params: { shots: 50, theta: Math.PI, points },
    result: { total_points: 4, failed_points: [], execution_time_ms: expect.any(Number) }
  })
  expect(pointsOf(job).map(({ index, params, counts, shots }) => ({ index, params, counts, shots }))).toEqual([
    { index: 0, params: points[0], counts: { '10': 50 }, shots: 50 },
    { index: 1, params: points[1], counts: { '00': 50 }, shots: 50 },
    { index: 2, params: points[2], counts: { '10': 7 }, shots: 7 },
    { index: 3, counts: { '10': 50 }, shots: 50 }
  ])
  expect(await storedPoints(job.id)).toEqual([])
})

test('circuits of their own are points of one job, each with its own parameters', async () => {
  const job = await ended(
    ofCircuits({
      circuits: [
        circuit('qubit[3] q; x q[0];'),
        { ...circuit('qubit[2] q; x q[1];'), params: { shots: 4, observables: ['ZI', 'IZ'] } }
      ],
      params: { shots: 9 }
    })
  )
  expect(job).toMatchObject({
    status: 'completed',
    framework: 'openqasm',
    source: { kind: 'circuits' },
    params: { shots: 9, points: [{}, { shots: 4, observables: ['ZI', 'IZ'] }] }
  })
  const [first, second] = pointsOf(job)
  expect(first).toMatchObject({ index: 0, counts: { '100': 9 } })
  expect(second).toMatchObject({ index: 1, counts: { '01': 4 } })
  expect((second!.expectation_values as { value: number }[]).map(({ value }) => value)).toEqual([1, -1])
  const again = (await (await platform.call('POST', `/api/jobs/${job.id}/rerun`)).json()) as { job_id: string }
  expect(pointsOf(await platform.ended(again.job_id)).map(({ counts }) => counts)).toEqual([{ '100': 9 }, { '01': 4 }])
})

test('points are compared with each other, with other jobs and as whole sweeps', async () => {
  // Each point has a seed of its own: without seeds, one comparison in a hundred finds a difference by design.
  const sweep = (seed: number) => {
    const points = [1, 1, 2].map((theta, at) => ({ theta, seed: seed + at }))
    return ofCircuits({ circuit: ANSATZ, params: { shots: 10_000, points } })
  }
  const [one, other] = [await ended(sweep(10)), await ended(sweep(20))]
  const single = await ended(ofCircuits({ circuit: ANSATZ, params: { shots: 10_000, theta: 1, seed: 30 } }))
  const compared = async (a: unknown, b: unknown) => {
    const response = await platform.call('POST', '/api/jobs/compare', { a, b })
    return (await response.json()) as Record<string, unknown>
  }
  const point = (job: JobRecord, index: number) => ({ job_id: job.id, point: index })
  expect(await compared(point(one, 0), point(other, 1))).toMatchObject({
    verdict: 'consistent',
    a: { job_id: one.id, point: 0, count_source: 'simulator_sampled' },
    b: { job_id: other.id, point: 1 }
  })
  expect(await compared(point(one, 1), single.id)).toMatchObject({ verdict: 'consistent', b: { point: null } })
  expect(await compared(point(one, 0), point(one, 2))).toMatchObject({ verdict: 'different' })
  const whole = await compared(one.id, other.id)
  expect(whole).toMatchObject({ verdict: 'consistent', a: { point: null, count_source: 'simulator_sampled' } })
  expect((whole.circuits as { name: string }[]).map(({ name }) => name)).toEqual([
    'result /points/0',
    'result /points/1',
    'result /points/2'
  ])
  expect(await compared(point(one, 3), single.id)).toEqual({
    error: 'a.point: this job has 3 points, the first is 0 (got 3)'
  })
  expect(await compared(one.id, point(single, 0))).toEqual({ error: 'b.point: this job is no sweep; leave it out' })
})

test('a capsule of a sweep is verified point by point', async () => {
  const body = ofCircuits({ circuit: ANSATZ, params: { shots: 4_000, points: [{ theta: 1 }, { theta: 2, seed: 5 }] } })
  const job = await ended(body)
  const made = await platform.call('POST', '/api/capsules/from-job', { job_id: job.id })
  const { capsule_id } = (await made.json()) as { capsule_id: string }
  const sealed = await platform.call('POST', `/api/capsules/${capsule_id}/seal`, { exit_code: 0 })
  expect(await sealed.json()).toMatchObject({ state: 'sealed' })
  const verify = async () => {
    const run = await platform.call('POST', `/api/capsules/${capsule_id}/run`, { mode: 'verify' })
    const { capsule_run_id } = (await run.json()) as { capsule_run_id: string }
    const look = async () => {
      const answer = await platform.call('GET', `/api/capsules/${capsule_id}/runs/${capsule_run_id}`)
      return ((await answer.json()) as { verification: { verdict: string; checks: object[] } | null }).verification
    }
    return eventually(look)
  }
  // Without a seed, one verification in a hundred finds a difference by design.
  let verified = await verify()
  for (let again = 0; again < 2 && verified.verdict === 'different'; again++) verified = await verify()
  expect(verified).toMatchObject({
    verdict: 'consistent',
    checks: [
      { name: 'main /points/0', verdict: 'consistent' },
      { name: 'main /points/1', verdict: 'exact' }
    ]
  })
}, 240_000)

test('integers and floats of a point reach the program as they were written, and come back exact', async () => {
  const body = ofProgram('def main(n):\n    return [type(n).__name__, n * 10**20]', { points: ['INT', 'FLOAT'] })
  const text = JSON.stringify(body).replace('"INT"', '{"n": 9007199254740991}').replace('"FLOAT"', '{"n": 1.0}')
  const response = await platform.call('POST', '/api/jobs/submit', new JsonText(text))
  const { job_id } = (await response.json()) as { job_id: string }
  await platform.ended(job_id)
  const record = await (await platform.call('GET', `/api/jobs/${job_id}`)).text()
  for (const exact of [
    '"params":{"n": 9007199254740991}',
    '"value":["int",900719925474099100000000000000000000]',
    '"params":{"n": 1.0}',
    '"value":["float",1e+20]'
  ])
    expect(record).toContain(exact)
})

test('a point that fails, one that crashes and one that hangs name themselves and spare the others', async () => {
  const main = `
import os, time
def main(n):
    if n == 3: raise ValueError('three')
    if n == 5: os.abort()
    if n == 6: time.sleep(60)
    return n`
  const points = Array.from({ length: 9 }, (_, n) => ({ n }))
  const job = await ended(ofProgram(main, { points }, { timeout_seconds: 8 }), 120_000)
  expect(job).toMatchObject({
    status: 'completed',
    progress: { points_total: 9, points_done: 9, points_failed: 3 },
    result: { failed_points: [3, 5, 6] }
  })
  expect(pointsOf(job).map(({ value, error }) => value ?? error?.message)).toEqual([
    0,
    1,
    2,
    'line 4: ValueError: three',
    4,
    expect.stringMatching(/crashed|signal/),
    'time limit of 8 s',
    7,
    8
  ])
}, 150_000)

test('a sweep of which every point fails is a failed job that says so', async () => {
  const job = await ended(ofProgram('def main(n):\n    return 1 / n', { points: [{ n: 0 }, { n: 0 }] }))
  expect(job).toMatchObject({
    status: 'failed',
    error: {
      code: 'execution_error',
      message: 'all 2 points failed; point 0: line 2: ZeroDivisionError: division by zero'
    },
    progress: { points_done: 2, points_failed: 2 }
  })
})

test('what the points print is one text, in order', async () => {
  const id = await platform.submit(
    ofProgram("def main(n):\n    print('point', n)\n    return n", { points: [{ n: 1 }, { n: 2 }] })
  )
  await platform.ended(id)
  expect(await outputOf(id)).toBe('point 1\npoint 2\n')
})

async function outputOf(id: string): Promise<string> {
  const events = await (await platform.call('GET', `/api/jobs/${id}/events?follow=false`)).text()
  const text = [...events.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as { text?: string })
  return text.map((event) => event.text ?? '').join('')
}

test.each([
  ['points that are no list', { points: {} }, 'params.points'],
  ['no point', { points: [] }, 'params.points'],
  ['1,001 points', { points: Array.from({ length: 1_001 }, () => ({})) }, 'params.points'],
  ['shots of a point that are too many', { points: [{}, { shots: 100_001 }] }, 'params.points[1].shots: must be'],
  ['a sweep within a point', { points: [{ points: [] }] }, 'params.points[0].points: a point has none'],
  [
    'a number of circuits of a point',
    { points: [{ circuit_count: 2 }] },
    'params.points[0].circuit_count: a point has none'
  ],
  ['an observable that cannot be read', { points: [{}, { observables: ['ZQ'] }] }, 'params.points[1].observables[0]'],
  [
    'noise where there is none',
    { points: [{ noise_model: {} }] },
    'params.points[0].noise_model: local runs without noise'
  ]
])('%s: refused by name', async (_what, params, message) => {
  const response = await platform.call(
    'POST',
    '/api/jobs/submit',
    ofCircuits({ circuit: ANSATZ, params: { shots: 1, ...params } })
  )
  expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
    400,
    expect.stringContaining(message)
  ])
})

test.each([
  ['circuits next to a circuit', { circuits: [ANSATZ] }, 'send exactly one of'],
  [
    'circuits of several formats',
    { circuit: undefined, circuits: [ANSATZ, { format: 'qasm2', payload: 'x' }] },
    'circuits[1].format'
  ],
  [
    'circuits next to points',
    { circuit: undefined, circuits: [ANSATZ], params: { shots: 1, points: [{}] } },
    'params.points: each of circuits'
  ],
  [
    'parameters of a circuit that no run can have',
    { circuit: undefined, circuits: [{ ...ANSATZ, params: { shots: 0 } }] },
    'circuits[0].params.shots'
  ],
  [
    'a circuit that is too wide',
    { circuit: undefined, circuits: [ANSATZ, circuit('qubit[26] q;')] },
    'the circuit has 26 qubits'
  ]
])('%s: refused by name', async (_what, body, message) => {
  const response = await platform.call('POST', '/api/jobs/submit', ofCircuits({ circuit: ANSATZ, ...body }))
  expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
    400,
    expect.stringContaining(message)
  ])
})

/** Each point says which it is, and when it ran: a second run of it gives another value. */
const slowPoints = (count: number, seconds: number) =>
  ofProgram(
    `import time\ndef main(n):\n    print(f"<{n}>")\n    time.sleep(${seconds})\n    return [n, str(time.time_ns())]`,
    { points: Array.from({ length: count }, (_, n) => ({ n })) }
  )
const POINTS = 30
const pointsBegun = ({ progress }: JobRecord) => (progress as { points_done: number }).points_done > 0

/** A durable sweep, some of whose points are stored. */
async function begun(): Promise<{ id: string; stored: Map<number, unknown> }> {
  const id = await platform.submit({ ...slowPoints(POINTS, 0.4), execution_mode: 'temporal' })
  const look = () => platform.connection.sql`select index, outcome from job_points where job_id = ${id}`
  const rows = await eventually(() => look().then((found) => found.length > 0 && found))
  expect(rows.length).toBeLessThan(POINTS)
  return { id, stored: new Map(rows.map(({ index, outcome }) => [index, JSON.parse(outcome).value])) }
}

const isExecuting = async (): Promise<boolean> =>
  JSON.parse(await platform.ofExecutor('executor', '/health')).slots.running > 0

/** Takes the database away while points run: between two batches the worker would wait for it before it begins the next. */
const cutWhileExecuting = () =>
  eventually(async () => {
    if (!(await isExecuting())) return false
    way.cut()
    // The batch can have ended before the cut.
    if (await isExecuting()) return true
    way.release()
    return false
  })

/** Records what workers bring to store, also of points that are stored already. */
const recordRuns = () =>
  platform.connection.sql.unsafe(`create table if not exists runs_of_points (job_id uuid, index int, outcome text);
    create or replace function record_run() returns trigger language plpgsql as
      'begin insert into runs_of_points values (new.job_id, new.index, new.outcome); return new; end';
    create or replace trigger record_run before insert on job_points for each row execute function record_run()`)

/** What a death left is kept, and no stored point ran again. */
async function expectEachOnce(id: string, stored: Map<number, unknown>): Promise<JobRecord> {
  const job = await platform.ended(id, 120_000)
  expect(job).toMatchObject({
    status: 'completed',
    progress: { points_total: POINTS, points_done: POINTS, points_failed: 0 }
  })
  const values = pointsOf(job).map(({ value }) => value as [number, string])
  expect(values.map(([n]) => n)).toEqual(Array.from({ length: POINTS }, (_, n) => n))
  for (const [index, value] of stored) expect(values[index]).toEqual(value)
  // One write that is repeated brings the same outcome.
  const runs = await platform.connection.db.execute<{ runs: number }>(
    sql`select count(distinct outcome)::int as runs from runs_of_points where job_id = ${id} group by index`
  )
  expect(runs.map((point) => point.runs)).toEqual(Array.from({ length: POINTS }, () => 1))
  return job
}

longTest(
  'a sweep whose worker is killed continues with the points that are left, in its attempt',
  async () => {
    await recordRuns()
    const { id, stored } = await begun()
    await platform.kill('worker')
    const look = () => platform.connection.sql`select points_ms::int as ms from jobs where id = ${id}`
    const ranMs = async () => (await look())[0]!.ms as number
    const before = await ranMs()
    await platform.start.worker()
    const job = await expectEachOnce(id, stored)
    // The time of all batches, those before the death too.
    expect(before).toBeGreaterThan(0)
    expect(await ranMs()).toBeGreaterThan(before)
    expect(job.result!.execution_time_ms).toBe(await ranMs())
    // What was being printed at the death is lost; whatever ran afterwards is there.
    const printed = await outputOf(id)
    for (let n = 0; n < POINTS; n++) if (!stored.has(n)) expect(printed).toContain(`<${n}>`)
  },
  150_000
)

longTest(
  'a sweep whose executor is killed continues with the points that are left',
  async () => {
    await recordRuns()
    const { id, stored } = await begun()
    await platform.kill('executor')
    await platform.start.executor()
    await expectEachOnce(id, stored)
  },
  150_000
)

longTest(
  'a sweep whose connections to the database break continues, and so does one whose database was away',
  async () => {
    await recordRuns()
    const broken = await begun()
    for (let times = 0; times < 5; times++)
      await platform.connection.db.execute(
        sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`
      )
    await expectEachOnce(broken.id, broken.stored)

    const { id, stored } = await begun()
    try {
      await cutWhileExecuting()
      await eventually(async () => !(await isExecuting()))
    } finally {
      way.release()
    }
    await expectEachOnce(id, stored)
  },
  250_000
)

longTest(
  'points that have not begun when the time of a sweep is over fail with that reason, and the others keep their results',
  async () => {
    const at = new Date(Date.now() + 10_000).toISOString()
    const points = [{ n: 1 }, { n: 2 }]
    const id = await platform.submit(ofProgram('def main(n):\n    return n', { points }, { not_before: at }))
    // As another worker would leave it.
    await platform.connection.db.execute(
      sql`insert into job_points values (${id}, 0, '{"value":7,"metadata":{}}', false, 25)`
    )
    await platform.connection.db.execute(sql`update jobs set points_ms = 900001, points_done = 1 where id = ${id}`)
    const job = await platform.ended(id)
    expect(job).toMatchObject({
      status: 'completed',
      progress: { points_total: 2, points_done: 2, points_failed: 1 },
      result: { failed_points: [1] }
    })
    expect(pointsOf(job)).toMatchObject([
      { index: 0, value: 7 },
      { index: 1, error: { message: 'this point did not begin: the points of this job had run for 900 s, the limit' } }
    ])
  },
  60_000
)

longTest(
  'a sweep that is cancelled stops, and begins no other point',
  async () => {
    const id = await platform.submit(slowPoints(100, 0.5))
    await platform.until(id, pointsBegun, 60_000)
    await platform.call('POST', `/api/jobs/${id}/cancel`)
    const job = await platform.ended(id)
    expect(job.status).toBe('cancelled')
    expect((job.progress as { points_done: number }).points_done).toBeLessThan(100)
  },
  90_000
)
