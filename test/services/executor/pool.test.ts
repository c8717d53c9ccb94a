// Several executors as one: their places together, and what becomes of a call that one of them refuses.
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { ExecutorHealth } from '../../../domain/backends/executor-health.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { createExecutorGate, type GateCall, type Seat } from '../../../services/executor/gate.js'
import { createExecutorPool, type ExecutorPool } from '../../../services/executor/pool.js'
import type { RunRequest } from '../../../services/executor/requests.js'
import { createRoutedExecutor, executorsProblem, protocolRefusal } from '../../../services/executor/routed-client.js'
import type { RunEnd } from '../../../services/executor/stream.js'
import { ComeBackLater, whenExecutorCan } from '../../../services/executor/wait.js'
import { eventually } from '../../support/eventually.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { quietLog, wellHealth } from '../../support/jobs/gate-to.js'
import {
  completed,
  type Fault,
  hang,
  refuse,
  startFaultyExecutor,
  stream
} from '../../support/stack/faulty-executor.js'

const LONG_MS = 3_600_000
const { signal } = new AbortController()

/** An executor that reports `health`, and does with runs what its test says. */
async function startOne(id: string, health: ExecutorHealth = wellHealth(id, 1)) {
  const server = await startFaultyExecutor(hang)
  const one = {
    id,
    url: server.url,
    health,
    runs: 0,
    atRun: stream([completed(`"${id}"`)]) as Fault,
    close: server.close
  }
  server.from((response, request) => {
    if (request.url === '/health') return void response.end(JSON.stringify(one.health))
    one.runs++
    one.atRun(response, request)
  })
  return one
}

type One = Awaited<ReturnType<typeof startOne>>
let [a, b]: One[] = []
let pool: ExecutorPool
let gate: ReturnType<typeof createExecutorGate>
const poolOf = (urls: string[], names: { host: string; port: number }[] = [], resolve?: () => Promise<string[]>) =>
  createExecutorPool({
    addresses: { fixed: urls, names },
    connect: (address) => createExecutorClient(address, 'a-token'),
    everyMs: LONG_MS,
    log: quietLog,
    ...(resolve && { resolve })
  })
beforeEach(async () => {
  a = await startOne('a')
  b = await startOne('b')
  pool = poolOf([a.url, b.url])
  gate = createExecutorGate(pool.endpoints)
})
afterEach(async () => {
  await pool.close()
  await Promise.all([a!.close(), b!.close()])
})

const request = (job: string, engine = 'statevector'): RunRequest => ({
  run_id: job,
  source: { kind: 'code', framework: 'openqasm', code: bellQasm3() },
  backend: 'local',
  engine,
  max_qubits: 25,
  params: { shots: 1 },
  limits: { wall_seconds: 5 }
})

const run = (job: string, needs: Partial<GateCall> = {}, yieldsSlot = true) =>
  whenExecutorCan<RunEnd>(
    { gate, log: quietLog, yieldsSlot },
    { team: 't', job, engine: 'statevector', ...needs },
    signal,
    (executor) => executor.run(request(job, needs.engine), signal, async () => true)
  )
const states = () => pool.endpoints.list().map(({ state }) => state)

test('a call waits until an executor has reported, and two calls go to two executors', async () => {
  expect(states()).toEqual(['unknown', 'unknown'])
  const release: (() => void)[] = []
  for (const one of [a!, b!])
    one.atRun = (response, message) => void release.push(() => stream([completed(`"${one.id}"`)])(response, message))
  const ends = [run('one'), run('two')]
  await eventually(() => release.length === 2)
  expect([a!.runs, b!.runs, gate.permits, gate.inUse]).toEqual([1, 1, 2, 2])
  for (const end of release) end()
  expect((await Promise.all(ends)).map((end) => 'result' in end && end.result).sort()).toEqual(['"a"', '"b"'])
  expect(gate.inUse).toBe(0)
})

test.each<[string, Fault]>([
  ['is full', refuse(503, 'busy', 'full')],
  ['is about to stop', refuse(503, 'draining', 'stops')],
  ['lacks the engine', refuse(409, 'engine_missing', 'no gpu')],
  ['speaks another protocol', refuse(409, 'protocol_mismatch', '7')],
  ['fails at it', refuse(503, 'execution_service_lost', 'no child')],
  ['has died', (response) => void response.destroy()]
])(
  'a call that one executor refuses because it %s is done by the other one, without an end in between',
  async (_what, fault) => {
    await pool.look()
    a!.atRun = fault
    for (const job of ['one', 'two', 'three'])
      expect(await run(job)).toMatchObject({ kind: 'completed', result: '"b"' })
    expect(a!.runs).toBeGreaterThan(0)
  }
)

test('a call whose executor dies waits for a place at the other one, not for the dead one', async () => {
  await pool.look()
  const release: (() => void)[] = []
  b!.atRun = (response, message) => void release.push(() => stream([completed('"b"')])(response, message))
  const first = run('at b', { holder: 'b' })
  await eventually(() => b!.runs === 1)
  a!.atRun = hang
  const second = run('at a')
  await eventually(() => a!.runs === 1)
  await a!.close()
  await eventually(() => gate.waiting === 1)
  release[0]!()
  expect(await first).toMatchObject({ result: '"b"' })
  await eventually(() => release.length === 2)
  release[1]!()
  expect(await second).toMatchObject({ result: '"b"' })
})

test('a call whose engine no executor has comes back later, while others run; one is enough to take it up', async () => {
  await pool.look()
  await expect(run('gpu', { engine: 'gpu_statevector' })).rejects.toBeInstanceOf(ComeBackLater)
  expect(await run('cpu')).toMatchObject({ kind: 'completed' })
  expect([a!.runs, b!.runs].sort()).toEqual([0, 1])
  b!.health = wellHealth('b', 1, { engines: [{ name: 'gpu_statevector', version: '1' }] })
  await pool.look()
  expect(await run('gpu', { engine: 'gpu_statevector' })).toMatchObject({ result: '"b"' })
})

test('calls that wait for a place of their engine hold up nobody who needs another one', async () => {
  b!.health = wellHealth('b', 1, { engines: [{ name: 'gpu_statevector', version: '1' }] })
  await pool.look()
  const enter = (job: string, engine: string) => gate.enter({ team: 't', job, engine }, signal) as Promise<Seat>
  const held = await enter('gpu 1', 'gpu_statevector')
  const waits = enter('gpu 2', 'gpu_statevector')
  const cpu = await enter('cpu', 'statevector')
  expect([gate.inUse, gate.waiting]).toEqual([2, 1])
  held.leave()
  const second = await waits
  expect([gate.inUse, gate.waiting]).toEqual([2, 0])
  cpu.leave()
  second.leave()
})

test('an execution that waits for an answer is continued where it waits; the tasks of a job go to one executor', async () => {
  a!.health = wellHealth('a', 4)
  b!.health = wellHealth('b', 4)
  await pool.look()
  for (let time = 0; time < 3; time++) expect(await run('script', { holder: 'b' })).toMatchObject({ result: '"b"' })
  const at = new Set<unknown>()
  for (let task = 0; task < 4; task++) at.add(((await run('graph', { near: 'graph' })) as { result: string }).result)
  expect(at.size).toBe(1)
})

test('an executor of another protocol is not used, and is named without its address where strangers read', async () => {
  a!.health = { protocol: 99 } as ExecutorHealth
  await pool.look()
  expect(states()).toEqual(['foreign', 'ready'])
  for (const job of ['one', 'two']) expect(await run(job)).toMatchObject({ result: '"b"' })
  expect(a!.runs).toBe(0)
  const all = pool.endpoints.list()
  expect(protocolRefusal(all)).toMatch(/^1 of 2 executors not used: it speaks protocol 99, this side \d+/)
  expect(executorsProblem(all)).toMatch(new RegExp(`^${a!.url}: it speaks protocol 99`))
})

test('the addresses of a name come from the system when a pool is given names alone', async () => {
  const port = Number(new URL(a!.url).port)
  const named = poolOf([], [{ host: 'localhost', port }])
  try {
    await named.look()
    const found = named.endpoints.list().find(({ address }) => address === a!.url)
    expect(found).toMatchObject({ state: 'ready' })
  } finally {
    await named.close()
  }
})

test('executors come and go with the addresses of their name; one that has left finishes its calls', async () => {
  let known = ['127.0.0.1']
  const port = Number(new URL(a!.url).port)
  const named = poolOf([b!.url], [{ host: 'executors.internal', port }], async () => known)
  gate = createExecutorGate(named.endpoints)
  try {
    await named.look()
    expect(named.endpoints.list().map(({ address }) => address)).toEqual([b!.url, a!.url])
    let finish = () => {}
    a!.atRun = (response, message) => {
      finish = () => stream([completed('"late"')])(response, message)
    }
    const late = run('late', { holder: 'a' })
    await eventually(() => a!.runs === 1)
    known = []
    await named.look()
    expect(named.endpoints.list().map(({ address }) => address)).toEqual([b!.url])
    expect(await run('other')).toMatchObject({ result: '"b"' })
    finish()
    expect(await late).toMatchObject({ result: '"late"' })
    known = ['127.0.0.1']
    await named.look()
    a!.atRun = stream([completed('"back"')])
    expect(await run('again', { holder: 'a' })).toMatchObject({ result: '"back"' })
  } finally {
    await named.close()
  }
})

test('a name that cannot be looked up keeps its executors, and one that never could is said to have none', async () => {
  let fails = false
  const lookup = async () => {
    if (fails) throw new Error('no such name')
    return ['127.0.0.1']
  }
  const port = Number(new URL(a!.url).port)
  const named = poolOf([], [{ host: 'executors.internal', port }], lookup)
  const never = poolOf([], [{ host: 'executors.internal', port }], async () =>
    Promise.reject(new Error('no such name'))
  )
  try {
    await named.look()
    fails = true
    await named.look()
    expect(named.endpoints.list()).toHaveLength(1)
    await never.look()
    await expect(
      whenExecutorCan(
        { gate: createExecutorGate(never.endpoints), log: quietLog, yieldsSlot: true },
        { team: 't', job: 'j' },
        signal,
        async () => ({
          kind: 'completed'
        })
      )
    ).rejects.toThrow('no executor has been found')
  } finally {
    await Promise.all([named.close(), never.close()])
  }
})

test('two addresses of one executor count once', async () => {
  const twice = poolOf([a!.url, a!.url.replace('127.0.0.1', 'localhost')])
  try {
    await twice.look()
    expect(twice.endpoints.permits).toBe(1)
    expect(executorsProblem(twice.endpoints.list())).toBeNull()
  } finally {
    await twice.close()
  }
})

test('a user who waits gets the answer of another executor, and is told that all are busy if they are', async () => {
  const routed = createRoutedExecutor(pool)
  const interactive = { ...request('play'), keys: { user: 'u', team: 't' } }
  a!.atRun = refuse(503, 'busy', 'full', { 'retry-after': '3' })
  for (let time = 0; time < 2; time++)
    expect(await routed.runInteractive(interactive, signal)).toMatchObject({ kind: 'completed', result: '"b"' })
  await b!.close()
  expect(await routed.runInteractive(interactive, signal)).toEqual({ kind: 'busy', retryAfterSeconds: 3 })
  expect(await routed.health()).toMatchObject({ slots: { total: 1 } })
  await a!.close()
  expect(await routed.runInteractive(interactive, signal)).toMatchObject({ kind: 'away' })
  await expect(routed.health()).rejects.toThrow()
})
