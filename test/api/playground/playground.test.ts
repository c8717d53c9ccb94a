// POST /api/playground/run and /convert: the real executor runs the programs, and fake ones produce the faults of an
// executor.
import { request as httpRequest, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { eq } from 'drizzle-orm'
import { backends } from '../../../db/tables/backends.js'
import { deadAddress, startApi, type TestApi, type TestUser } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { asymmetricQasm2, asymmetricQasm3, asymmetricQiskit, bellQasm3 } from '../../support/jobs/builders.js'
import { addTeam } from '../../support/jobs/rows.js'
import {
  completed,
  type Fault,
  hang,
  refuse,
  startFaultyExecutor,
  stream
} from '../../support/stack/faulty-executor.js'

const api = await startApi('playground')
const { db, sql } = api.database
const faulty = await startFaultyExecutor(hang)
/** APIs on the same database with faulty executors. */
const behind = (options: Parameters<typeof startApi>[1]): Promise<TestApi> =>
  startApi('playground', { database: api.database, ...options })
const withFaulty = await behind({ executorUrl: faulty.url })
const impatient = await behind({ executorUrl: faulty.url, executorDeadlineMs: 300 })
const withoutExecutor = await behind({ executorUrl: null })
afterAll(async () => {
  await faulty.close()
  await Promise.all([withFaulty, impatient, withoutExecutor].map((other) => other.close()))
  await api.close()
})

let ada: TestUser
beforeAll(async () => {
  ada = await api.signUp()
})

const program = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  code: bellQasm3(),
  language: 'openqasm',
  backend: 'local',
  shots: 100,
  ...changes
})
const run = (changes?: Record<string, unknown>) => ada.post('/api/playground/run', program(changes))
const convert = (body: unknown) => ada.post('/api/playground/convert', body)
const runOn = (other: TestApi, changes?: Record<string, unknown>, cookie = ada.cookie) =>
  other.ask('POST', '/api/playground/run', program(changes), { cookie })
const refusal = async (answer: ReturnType<typeof run>) => {
  const { status, body } = await answer
  return [status, body.error]
}

describe('a run', () => {
  test('returns counts and their metadata', async () => {
    const answer = await run({ code: asymmetricQiskit(), language: 'qiskit' })
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        counts: { 100: 100 },
        backend: 'local',
        shots: 100,
        execution_time_ms: expect.any(Number),
        cost_usd: 0,
        language_detected: 'qiskit',
        circuit_info: expect.objectContaining({ num_qubits: 3, num_clbits: 3, gate_counts: expect.anything() }),
        metadata: expect.objectContaining({ bit_order: 'qubit 0 leftmost', shots_observed: 100 }),
        warnings: [],
        stdout: ''
      }
    ])
    expect(answer.body.execution_time_ms).toBeGreaterThan(0)
  })

  test.each([
    ['openqasm', asymmetricQasm3()],
    ['openqasm', `// a comment\n${asymmetricQasm2()}`],
    ['qiskit', asymmetricQiskit()]
  ])('with language auto is detected as %s', async (language, code) => {
    const { status, body } = await run({ code, language: 'auto' })
    expect([status, body.language_detected, body.counts]).toEqual([200, language, { 100: 100 }])
  })

  test('returns the printed output of the program', async () => {
    const { body } = await run({ code: `${asymmetricQiskit()}print("hello", 2**70)`, language: 'qiskit' })
    expect(body.stdout).toBe('hello 1180591620717411303424\n')
  })

  const device = 'from marqov import Circuit\n\nbell = Circuit().h(0).cnot(0, 1)\n\ndef main():\n    '
  const ownDevice =
    'import pennylane as qml\n\n@qml.qnode(qml.device("default.qubit", wires=1, shots=30))\ndef one():\n    return qml.counts(wires=0)\n\n'
  const ownCounts = '{str(key): int(count) for key, count in one().items()}'
  test.each([
    ['the shots that the program chose', 'marqov', `${device}return device.run(bell, 7)`, 7],
    [
      'the shots of the program, not those it claims',
      'marqov',
      `${device}return {"shots": 9, "counts": device.run(bell, 7)}`,
      7
    ],
    ['the sum of different runs', 'marqov', `${device}return {"a": device.run(bell, 7), "b": device.run(bell, 8)}`, 15],
    ['the counts of a device of the program', 'pennylane', `${ownDevice}def main():\n    return ${ownCounts}`, 30],
    ['no shots where nothing was counted', 'marqov', `${device}return {"energy": 1}`, 0],
    [
      'no shots for more than the api reads',
      'pennylane',
      `${ownDevice}def main():\n    return [${ownCounts}, "x" * 2**20]`,
      0
    ]
  ])('states %s', async (_, language, code, shots) => {
    const answer = await run({ code, language })
    expect([answer.status, answer.body.shots]).toEqual([200, shots])
  })

  test('leaves no job, no team and no cost behind', async () => {
    const user = await api.signUp()
    expect((await user.post('/api/playground/run', program())).status).toBe(200)
    expect((await user.get('/api/jobs')).body.total).toBe(0)
    const [row] = await sql`select count(*)::int as count from members where user_id = ${user.id}`
    expect(row!.count).toBe(0)
  })

  test('of a faulty program returns 422 with the line', async () => {
    const code = 'from qiskit import QuantumCircuit\n\nraise ValueError("no such luck")\n'
    expect(await refusal(run({ code, language: 'qiskit' }))).toEqual([
      422,
      expect.stringMatching(/line 3.*no such luck/s)
    ])
    const bad = 'OPENQASM 3.0;\nqubit[1] q;\nfoo q[0];\n'
    expect(await refusal(run({ code: bad }))).toEqual([422, expect.stringMatching(/line 3|foo/)])
  })

  test('of a suspended user is refused only when every team is suspended', async () => {
    const user = await api.signUp()
    const person = { userId: user.id, email: user.email }
    const first = await addTeam(db, person)
    await sql`update teams set suspended_at = now() where id = ${first}`
    const refused = await user.post('/api/playground/run', program())
    expect([refused.status, refused.body.code]).toEqual([403, 'TEAM_SUSPENDED'])
    await addTeam(db, person)
    expect((await user.post('/api/playground/run', program())).status).toBe(200)
  })

  test('needs a session', async () => {
    for (const path of ['run', 'convert'])
      expect((await api.ask('POST', `/api/playground/${path}`, program())).status).toBe(401)
  })
})

describe('a run is refused with the field named for', () => {
  const atLimit = `${bellQasm3()}//${'🔑'.repeat(100_000 - [...bellQasm3()].length - 2)}`
  test('code of more than 100,000 code points', async () => {
    expect((await run({ code: atLimit })).status).toBe(200)
    const message = 'code: must be a string of 1 to 100000 characters'
    expect(await refusal(run({ code: `${atLimit}x` }))).toEqual([400, message])
  })

  test.each([
    [{ code: '' }, 'code: must be a string'],
    [{ code: undefined }, 'code: is required'],
    [{ code: 5 }, 'code: must be a string'],
    [{ language: undefined }, 'language: is required'],
    [
      { language: 'quil' },
      'language: must be one of auto, qiskit, cirq, pennylane, openqasm, marqov, braket (got "quil")'
    ],
    [{ backend: undefined }, 'backend: is required'],
    [{ backend: 'nothing' }, 'backend: no backend is called "nothing"'],
    [{ shots: undefined }, 'shots: is required'],
    [{ shots: 0 }, 'shots: must be an integer from 1 to 100000 (got 0)'],
    [{ shots: 100_001 }, 'shots: must be an integer from 1 to 100000 (got 100001)'],
    [{ shots: 1.5 }, 'shots: must be an integer'],
    [{ shots: '100' }, 'shots: must be an integer'],
    [{ seed: 1 }, 'seed: is not a field of this request'],
    [{ backend: 'sv1' }, 'backend: sv1 is paid, and the playground runs on free local simulators only; submit a job'],
    [{ backend: 'ionq-direct-simulator' }, 'backend: ionq-direct-simulator is not a local simulator'],
    [{ backend: 'gpu-statevector' }, 'backend: gpu-statevector is offline']
  ])('%j', async (changes, message) => {
    expect(await refusal(run(changes))).toEqual([400, expect.stringContaining(message)])
  })

  test('shots above the limit of the backend', async () => {
    await db.update(backends).set({ maxShots: 10 }).where(eq(backends.slug, 'aer-statevector'))
    expect(await refusal(run({ backend: 'aer-statevector', shots: 11 }))).toEqual([
      400,
      'shots: aer-statevector takes at most 10 shots (got 11)'
    ])
  })

  test('a body above 2 MiB', async () => {
    expect((await run({ code: 'x'.repeat(2 * 1024 * 1024) })).status).toBe(413)
  })

  test.each([
    ['x = 1', 'imports found: none'],
    ['import qiskit\nimport cirq', 'imports found: cirq, qiskit'],
    [
      'import qiskit\nimport cirq\na = cirq.Circuit()\nb = qiskit.QuantumCircuit(1)',
      'circuits of cirq, qiskit are made'
    ]
  ])('a language that cannot be detected in %j', async (code, seen) => {
    const message =
      `the language could not be detected (${seen}); supported frameworks: qiskit, cirq, pennylane, openqasm, marqov. ` +
      'Choose the language explicitly, or add the import statement of the framework you use'
    expect(await refusal(run({ code, language: 'auto' }))).toEqual([422, message])
  })
})

describe('an executor that', () => {
  const onFaulty = async (fault: Fault, other = withFaulty) => {
    faulty.from(fault)
    return runOn(other)
  }
  const unreachable = (why: string) => `The execution service could not be reached: ${why}. Try again later.`

  test('returns integers beyond 2^53 is passed on byte for byte, and cannot set fields of the service', async () => {
    const result =
      '{"counts":{"0":12345678901234567890},"x":[1.10],"cost_usd":7,"backend":"other","shots":0,"metadata":{"shots_requested":7}}'
    const answer = await onFaulty(stream([completed(result)]))
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('"counts":{"0":12345678901234567890}')
    expect(answer.text).toContain('"x":[1.10]')
    expect(answer.body).toMatchObject({ cost_usd: 0, backend: 'local', shots: 7, warnings: [], stdout: '' })
  })

  test('gets an interactive run with the keys of user and team', async () => {
    const user = await api.signUp()
    const team = await addTeam(db, { userId: user.id, email: user.email })
    faulty.from(stream([completed('{"counts":{}}')]))
    await runOn(withFaulty, { shots: 7 }, user.cookie)
    expect(faulty.calls.at(-1)).toMatchObject({
      path: '/run',
      body: {
        source: { kind: 'code', framework: 'openqasm', code: bellQasm3() },
        backend: 'local',
        engine: 'statevector',
        params: { shots: 7 },
        lane: 'interactive',
        keys: { user: user.id, team }
      }
    })
  })

  test('is full gives 429 with the time to wait', async () => {
    const answer = await onFaulty(refuse(503, 'busy', 'full', { 'retry-after': '3' }))
    expect([answer.status, answer.headers['retry-after'], answer.body]).toEqual([
      429,
      '3',
      { error: 'The execution service has no place for another run. Try again in 3 seconds.' }
    ])
  })

  test('is unreachable gives 502', async () => {
    const gone = await behind({ executorUrl: `http://${await deadAddress()}` })
    expect(await refusal(runOn(gone))).toEqual([502, unreachable('it is down or not ready')])
    await gone.close()
  })

  test("rejects the API's token gives 502 without the reason", async () => {
    const answer = await onFaulty(refuse(401, 'unauthorized', 'a secret reason'))
    expect([answer.status, answer.body.error]).toEqual([502, unreachable('it is down or not ready')])
  })

  test('refuses to run code gives 503 without details of the machine', async () => {
    const answer = await onFaulty(refuse(503, 'worker_not_configured', 'kernel.apparmor_restrict is 1'))
    expect([answer.status, answer.body.error]).toEqual([
      503,
      'The execution service runs no code: it found no isolation that is good enough. Its /health says why'
    ])
  })

  test('disconnects during a run gives 502', async () => {
    const answer = await onFaulty(stream([{ beat: {} }], 'die'))
    expect([answer.status, answer.body.error]).toEqual([502, unreachable('it went away during the run')])
  })

  test.each([
    ['before the start of a run', hang],
    ['during a run', stream([{ beat: {} }], 'hang')]
  ])('hangs %s gives 502 at the deadline, and its connection is closed', async (_when, fault) => {
    const answer = await onFaulty(fault, impatient)
    expect([answer.status, answer.body.error]).toEqual([502, unreachable('no answer within 0.3 seconds')])
    await eventually(() => faulty.calls.at(-1)!.hungUp)
  })

  test('is not configured gives 503, except for a backend that accepts only jobs', async () => {
    expect(await refusal(runOn(withoutExecutor))).toEqual([503, expect.stringContaining('EXECUTOR_URL is not set')])
    expect((await runOn(withoutExecutor, { backend: 'gpu-statevector' })).status).toBe(503)
    expect((await runOn(withoutExecutor, { backend: 'sv1' })).status).toBe(400)
    const parts = (await withoutExecutor.ask('GET', '/readyz')).body.parts
    expect(parts.executor.state).toBe('degraded')
  })

  test('refuses a program that the API accepted gives 422', async () => {
    const answer = await onFaulty(refuse(400, 'validation_error', 'source.framework: is not known'))
    expect([answer.status, answer.body.error]).toEqual([422, 'source.framework: is not known'])
  })
})

describe('fairness:', () => {
  test('a third run of a user is 429 until one finishes; other users are not affected', async () => {
    const [user, other] = [await api.signUp(), await api.signUp()]
    // In progress until the test ends them.
    const held: ServerResponse[] = []
    faulty.from((response) => held.push(response))
    const first = [runOn(withFaulty, {}, user.cookie), runOn(withFaulty, {}, user.cookie)]
    await eventually(() => held.length === 2)
    const third = await runOn(withFaulty, {}, user.cookie)
    expect([third.status, third.headers['retry-after'], third.body.error]).toEqual([
      429,
      '1',
      '2 playground runs of yours are in progress, the most at a time. Try again in 1 second.'
    ])
    const ofOther = runOn(withFaulty, {}, other.cookie)
    await eventually(() => held.length === 3)
    for (const response of held) response.destroy()
    expect((await Promise.all([...first, ofOther])).map((answer) => answer.status)).toEqual([502, 502, 502])
    faulty.from(stream([completed('{"counts":{}}')]))
    expect((await runOn(withFaulty, {}, user.cookie)).status).toBe(200)
  })

  test('a client that disconnects stops the run', async () => {
    faulty.from(stream([{ beat: {} }], 'hang'))
    const before = faulty.calls.length
    const base = await withFaulty.listen()
    const caller = httpRequest(`${base}/api/playground/run`, {
      method: 'POST',
      headers: { cookie: ada.cookie, 'content-type': 'application/json' }
    })
    caller.on('error', () => {})
    caller.end(JSON.stringify(program()))
    await eventually(() => faulty.calls.length === before + 1)
    caller.destroy()
    await eventually(() => faulty.calls.at(-1)!.hungUp)
    faulty.from(stream([completed('{"counts":{}}')]))
    const answers = await Promise.all([runOn(withFaulty), runOn(withFaulty)])
    expect(answers.map((answer) => answer.status)).toEqual([200, 200])
  })

  test('an API that shuts down stops the runs in progress', async () => {
    const closing = await behind({ executorUrl: faulty.url })
    faulty.from(hang)
    const before = faulty.calls.length
    const waiting = fetch(`${await closing.listen()}/api/playground/run`, {
      method: 'POST',
      headers: { cookie: ada.cookie, 'content-type': 'application/json' },
      body: JSON.stringify(program())
    })
    await eventually(() => faulty.calls.length === before + 1)
    const closed = closing.close()
    const answer = await waiting
    expect([answer.status, await answer.json()]).toEqual([
      502,
      { error: 'The execution service could not be reached: this service is shutting down. Try again later.' }
    ])
    await closed
  })
})

describe('convert', () => {
  const code = asymmetricQiskit()

  test('returns the circuit as OpenQASM', async () => {
    const { status, body } = await convert({ code, language: 'qiskit' })
    expect([status, body]).toEqual([
      200,
      { qasm: expect.stringMatching(/^OPENQASM 3/), circuit_info: expect.anything(), warnings: expect.any(Array) }
    ])
    expect((await run({ code: body.qasm })).body.counts).toEqual({ 100: 100 })
  })

  test.each([
    [{ code, language: 'auto' }, 'language: must be one of qiskit, cirq, pennylane, marqov, braket (got "auto")'],
    [{ code, language: 'openqasm' }, 'language: must be one of'],
    [{ code }, 'language: is required'],
    [{ language: 'qiskit' }, 'code: is required'],
    [{ code: '', language: 'qiskit' }, 'code: must be a string'],
    [{ code, language: 'qiskit', backend: 'local' }, 'backend: is not a field of this request']
  ])('is refused: %j', async (body, message) => {
    expect(await refusal(convert(body))).toEqual([400, expect.stringContaining(message)])
  })

  test("returns the executor's result, and reports its faults like a run", async () => {
    const ask = (other: TestApi, fault: Fault) => {
      faulty.from(fault)
      const body = { code, language: 'qiskit' }
      return other.ask('POST', '/api/playground/convert', body, { cookie: ada.cookie })
    }
    const text = '{"qasm":"OPENQASM 3.0;","circuit_info":{"n":12345678901234567890},"warnings":[]}'
    expect((await ask(withFaulty, (response) => response.end(text))).text).toBe(text)
    expect(faulty.calls.at(-1)).toMatchObject({
      path: '/convert',
      body: { source: { kind: 'code', framework: 'qiskit', code } }
    })
    const fault =
      (status: number, error: object): Fault =>
      (response) => {
        response.statusCode = status
        response.end(JSON.stringify({ error }))
      }
    const statuses = [
      [
        fault(422, { code: 'unsupported_operation', message: 'reset on qubit 1', line: 7 }),
        422,
        'line 7: reset on qubit 1'
      ],
      [fault(400, { code: 'validation_error', message: 'source' }), 422, 'source'],
      [fault(503, { code: 'busy', message: 'full' }), 429, expect.stringContaining('has no place')],
      [fault(500, { code: 'internal', message: 'oops' }), 502, expect.stringContaining('could not be reached')]
    ] as const
    for (const [answer, status, message] of statuses)
      expect(await refusal(ask(withFaulty, answer))).toEqual([status, message])
    expect((await ask(impatient, hang)).status).toBe(502)
    expect((await ask(withoutExecutor, hang)).status).toBe(503)
  })
})
