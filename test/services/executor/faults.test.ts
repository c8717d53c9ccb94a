// An executor that fails at one job and serves all others must not be asked for ever; one that serves nobody is waited for.
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { createExecutorClient } from '../../../services/executor/client.js'
import type { RunRequest } from '../../../services/executor/requests.js'
import type { RunEnd } from '../../../services/executor/stream.js'
import { ComeBackLater, whenExecutorCan } from '../../../services/executor/wait.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { gateTo } from '../../support/jobs/gate-to.js'
import {
  completed,
  type Fault,
  hang,
  refuse,
  startFaultyExecutor,
  stream
} from '../../support/stack/faulty-executor.js'

const executor = await startFaultyExecutor(hang)
const client = createExecutorClient(executor.url, 'a-token')
afterAll(async () => {
  await client.close()
  await executor.close()
})

const { signal } = new AbortController()
const errors: object[] = []
const log = { warn() {}, error: (detail: object) => void errors.push(detail) }
let gate: ReturnType<typeof gateTo>
beforeEach(() => {
  gate = gateTo(client)
  errors.length = 0
})

const request = (job: string): RunRequest => ({
  run_id: job,
  source: { kind: 'code', framework: 'openqasm', code: bellQasm3() },
  backend: 'local',
  engine: 'statevector',
  max_qubits: 25,
  params: { shots: 1 },
  limits: { wall_seconds: 5 }
})

/** One try of a job whose caller comes back later; `later` where it has to. */
const tried = (job: string, at = gate) =>
  whenExecutorCan<RunEnd>({ gate: at, log, yieldsSlot: true }, { team: `team of ${job}`, job }, signal, (executor) =>
    executor.run(request(job), signal, async () => true)
  ).catch((error: unknown) => {
    if (error instanceof ComeBackLater) return 'later' as const
    throw error
  })

/** The executor responds so to the job `bad`, and completes every other. */
const badAt = (fault: Fault) => {
  executor.from((response, message) => {
    const { run_id: job } = executor.calls.at(-1)!.body
    ;(job === 'bad' ? fault : stream([completed('{}')]))(response, message)
  })
}

const internalServerError: Fault = (response) => {
  response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' })
  response.end('Internal Server Error')
}

test.each([
  ['500', internalServerError, 'execution service returned 500'],
  ['that no child took it', refuse(503, 'execution_service_lost', 'no child took it'), 'no child took it']
])(
  'a job at which the executor fails with %s while it serves others ends, with an error in the log',
  async (_what, fault, reason) => {
    badAt(fault)
    for (let failures = 1; failures < 3; failures++) {
      expect(await tried('bad')).toBe('later')
      expect(await tried('good')).toMatchObject({ kind: 'completed' })
    }
    expect(await tried('bad')).toEqual({
      kind: 'refused',
      code: 'execution_service_lost',
      message: expect.stringContaining(reason)
    })
    expect(errors).toEqual([{ jobId: 'bad', teamId: 'team of bad', reason }])
  }
)

test('an executor that fails at every job is waited for, however often it was asked', async () => {
  executor.from(internalServerError)
  for (let count = 0; count < 10; count++) for (const job of ['bad', 'another']) expect(await tried(job)).toBe('later')
  executor.from(stream([completed('{}')]))
  expect(await tried('bad')).toMatchObject({ kind: 'completed' })
  expect(errors).toEqual([])
})

test.each([
  ['a proxy without an executor', (status: number) => refuse(status, 'bad_gateway', 'upstream')],
  [
    'a proxy that says nothing',
    (status: number): Fault =>
      (response) =>
        void response.writeHead(status).end()
  ]
])('%s is waited for, although others are served', async (_what, faultOf) => {
  for (const status of [502, 504]) {
    badAt(faultOf(status))
    for (let count = 0; count < 5; count++) {
      expect(await tried('bad')).toBe('later')
      expect(await tried('good')).toMatchObject({ kind: 'completed' })
    }
  }
})

test('a wrong token and a refused connection are waited for, although others are served', async () => {
  badAt(refuse(401, 'unauthorized', 'who?'))
  const nobody = await startFaultyExecutor(hang)
  await nobody.close()
  const away = createExecutorClient(nobody.url, 'a-token')
  try {
    for (let count = 0; count < 5; count++) {
      expect([await tried('bad'), await tried('bad', gateTo(away))]).toEqual(['later', 'later'])
      expect(await tried('good')).toMatchObject({ kind: 'completed' })
    }
  } finally {
    await away.close()
  }
})

test('faults of one job do not count for another', async () => {
  badAt(internalServerError)
  expect(await tried('bad')).toBe('later')
  expect(await tried('good')).toMatchObject({ kind: 'completed' })
  expect(await tried('bad')).toBe('later')
  expect(await tried('good')).toMatchObject({ kind: 'completed' })
  expect(gate.noteFault('good')).toBe(1)
})
