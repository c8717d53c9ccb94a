// Workers share the slots of an executor by reserving them there, before they build and send what can have many MiB.
import { setMaxListeners } from 'node:events'
import { afterAll, expect, test } from '@jest/globals'
import { JsonText } from '../../../domain/json/json-text.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { createExecutorGate } from '../../../services/executor/gate.js'
import { createExecutorPool } from '../../../services/executor/pool.js'
import type { RunRequest } from '../../../services/executor/requests.js'
import type { RunEnd } from '../../../services/executor/stream.js'
import { whenExecutorCan } from '../../../services/executor/wait.js'
import { eventually } from '../../support/eventually.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { gateTo, quietLog } from '../../support/jobs/gate-to.js'
import {
  completed,
  type Fault,
  hang,
  refuse,
  startFaultyExecutor,
  stream
} from '../../support/stack/faulty-executor.js'

const url = process.env.TEST_EXECUTOR_URL!
const token = process.env.TEST_EXECUTOR_TOKEN!
const { signal } = new AbortController()
setMaxListeners(0, signal)

/** What a worker has of the executor. */
function startWorker() {
  const pool = createExecutorPool({
    addresses: { fixed: [url], names: [] },
    connect: (address) => createExecutorClient(address, token),
    everyMs: 5_000,
    log: quietLog
  })
  return { pool, gate: createExecutorGate(pool.endpoints) }
}
const workers = [startWorker(), startWorker(), startWorker()]
const [{ pool }] = workers as [ReturnType<typeof startWorker>]
const faulty = await startFaultyExecutor(stream([completed('{}')]))
const client = createExecutorClient(faulty.url, 'a-token')
afterAll(async () => {
  await Promise.all([...workers.map((one) => one.pool.close()), client.close()])
  await faulty.close()
})

const request = (job: string, more: object = {}): RunRequest => ({
  run_id: job,
  source: { kind: 'code', framework: 'openqasm', code: bellQasm3() },
  backend: 'local',
  engine: 'statevector',
  max_qubits: 25,
  params: { shots: 1 },
  limits: { wall_seconds: 20 },
  keys: { team: 't' },
  ...more
})

test('several workers together never have more calls under way than the executor has slots, and all of them end', async () => {
  // A look at a busy executor can be given up.
  await eventually(async () => {
    await Promise.all(workers.map((one) => one.pool.look()))
    return workers.every((one) => one.pool.endpoints.list()[0]!.state === 'ready')
  })
  const { slots } = pool.endpoints.list()[0]!
  let [begun, most] = [0, 0]
  const ends = workers.flatMap(({ gate }, worker) =>
    Array.from({ length: 3 * slots }, (_, at) => {
      const job = `${worker}-${at}`
      return whenExecutorCan<RunEnd>(
        { gate, log: quietLog },
        { team: `team ${worker}`, job, engine: 'statevector' },
        signal,
        async (executor) => {
          most = Math.max(most, ++begun)
          const end = await executor.run(request(job, { keys: { team: `team ${worker}` } }), signal, async () => true)
          begun--
          return end
        }
      )
    })
  )
  for (const end of await Promise.all(ends)) expect(end).toMatchObject({ kind: 'completed' })
  // The end of a call is on its way while its slot is another's. Each of the three workers alone would fill all slots.
  expect(most).toBeLessThanOrEqual(2 * slots)
  expect(most).toBeGreaterThan(0)
}, 120_000)

test('a large body is neither built nor sent while no slot is free', async () => {
  const gate = gateTo(client)
  let built = 0
  const large = () => {
    built++
    return request('large', { params: new JsonText(`{"shots":1,"text":"${'x'.repeat(32 * 1024 * 1024)}"}`) })
  }
  let [reservations, received] = [0, 0]
  faulty.fromReservations((response, message) => {
    reservations++
    received = Math.max(received, message.socket.bytesRead)
    if (reservations < 4) refuse(503, 'busy', 'full')(response, message)
    else response.end('{"id":"at-last"}')
  })
  const end = await whenExecutorCan<RunEnd>({ gate, log: quietLog }, { team: 't', job: 'large' }, signal, (executor) =>
    executor.run(large(), signal, async () => true)
  )
  expect(end).toMatchObject({ kind: 'completed' })
  // Four reservations, one body.
  expect([reservations, built, faulty.calls.filter(({ path }) => path === '/run').length]).toEqual([4, 1, 1])
  expect(received).toBeLessThan(10_000)
  faulty.fromReservations(null)
})

test('a reserved slot that no call uses is given back', async () => {
  const gate = gateTo(client)
  const released: string[] = []
  faulty.fromReservations((response, message) => {
    if (message.method === 'DELETE') released.push(message.url!)
    response.end('{"id":"not-used"}')
  })
  const ask = { team: 't', job: 'j' }
  expect(
    await whenExecutorCan<RunEnd>({ gate, log: quietLog }, ask, signal, async () => ({
      kind: 'refused',
      message: 'unfit'
    }))
  ).toEqual({ kind: 'refused', message: 'unfit' })
  await eventually(() => released.length === 1)
  expect(released).toEqual(['/reservations/not-used'])
  await whenExecutorCan<RunEnd>({ gate, log: quietLog }, ask, signal, (executor) =>
    executor.run(request('used'), signal, async () => true)
  )
  expect(released).toHaveLength(1)
  faulty.fromReservations(null)
})

test('a call whose signal ends its wait for a slot leaves the line', async () => {
  const gate = gateTo(client)
  let waits = 0
  let isGone = false
  faulty.fromReservations((response) => {
    waits++
    response.on('close', () => {
      isGone = true
    })
  })
  const stop = new AbortController()
  const end = whenExecutorCan<RunEnd>({ gate, log: quietLog }, { team: 't', job: 'j' }, stop.signal, (executor) =>
    executor.run(request('never'), stop.signal, async () => true)
  )
  await eventually(() => waits === 1)
  stop.abort('cancelled')
  await expect(end).rejects.toBe('cancelled')
  await eventually(() => isGone)
  expect(gate.inUse).toBe(0)
  faulty.fromReservations(null)
})

test('a reservation whose caller ends before it knows of the grant is given back, and so is one whose call gets no response', async () => {
  const seen: string[] = []
  const record =
    (then: Fault): Fault =>
    (response, message) => {
      seen.push(`${message.method} ${message.url} ${message.headers['x-reservation'] ?? ''}`)
      then(response, message)
    }
  try {
    faulty.fromReservations(record(hang))
    const caller = new AbortController()
    const waiting = client.reserve({ keys: { team: 't' }, wait_seconds: 10 }, caller.signal)
    await eventually(() => seen.length === 1)
    caller.abort(new Error('cancelled'))
    await expect(waiting).rejects.toThrow('cancelled')
    const id = seen[0]!.split(' ')[2]!
    await eventually(() => seen[1] === `DELETE /reservations/${id} `)

    faulty.fromReservations(record((response) => void response.end('{"id":"a-slot"}')))
    const next = new AbortController()
    const reserved = await client.reserve({ keys: { team: 't' }, wait_seconds: 10 }, next.signal)
    if (reserved.kind !== 'reserved') throw new Error(`it is ${reserved.kind}`)
    faulty.from(hang)
    const run = reserved.executor.run(request('job'), next.signal, async () => true)
    await eventually(() => faulty.calls.at(-1)?.path === '/run')
    next.abort(new Error('cancelled'))
    await expect(run).rejects.toThrow('cancelled')
    await eventually(() => seen.at(-1) === 'DELETE /reservations/a-slot ')
  } finally {
    faulty.fromReservations(null)
  }
})
