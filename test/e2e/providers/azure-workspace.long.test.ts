// What is Azure's own: the forms of programs of its targets, and credentials that change while a job waits. The emulator's ledger
// shows one job for each job.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { rowsOfLane } from '../../support/lane.js'
import { type ProviderPlatform, startProviderPlatform } from '../../support/stack/provider-platform.js'

let platform: ProviderPlatform
beforeAll(async () => {
  platform = await startProviderPlatform('azure-workspace', { providers: ['azure-quantum'] })
}, 240_000)

beforeEach(async () => {
  azure().reset()
  await platform.storeCredentials('azure-quantum')
})

afterEach(async () => {
  expect(await platform.mismatches()).toEqual([])
  expect((await platform.budget()).day.reserved_usd).toBe(0)
})

afterAll(() => platform.close())

const HOUR_MS = 3_600_000
const azure = () => platform.provider('azure-quantum')

const qasm = (text: string) => ({ format: 'qasm3', payload: `OPENQASM 3.0;\ninclude "stdgates.inc";\n${text}` })
const crossed =
  'qubit[5] q;\nbit[3] first;\nbit[2] second;\nx q[0];\nx q[3];\nfirst[0] = measure q[3];\n' +
  'first[1] = measure q[1];\nfirst[2] = measure q[2];\nsecond[0] = measure q[0];\nsecond[1] = measure q[4];\n'
const nine = 'qubit[9] q;\nx q[0];\nx q[7];\n'
const some = 'qubit[4] q;\nbit[2] c;\nx q[2];\nh q[0];\nc[0] = measure q[2];\nc[1] = measure q[1];\n'

test.each(
  rowsOfLane(
    [
      ['azure-ionq-simulator', 'probability_derived', ['10010', '100000010', '10'], []],
      ['azure-rigetti-qvm', 'provider_measurements', ['10010', '100000010', '10'], []],
      [
        'azure-quantinuum-h2-1sc',
        'provider_measurements',
        ['00000', '000000000', '00'],
        [expect.stringContaining('checks the program and runs nothing')]
      ]
    ] as const,
    (_row, at) => at === 1
  )
)(
  '%s returns the counts of a local run, or the zeros of a check',
  async (backend, source, bits, warnings) => {
    const ids = await Promise.all(
      [crossed, nine, some].map((text) => platform.submitPaid({ backend, circuit: qasm(text) }))
    )
    for (const [at, id] of ids.entries()) {
      const { status, result, actual_cost_usd } = await platform.ended(id)
      expect({ status, counts: result?.counts, actual_cost_usd }).toEqual({
        status: 'completed',
        counts: { [bits[at]!]: 100 },
        actual_cost_usd: 0
      })
      expect(result).toMatchObject({ metadata: { count_source: source, shots_observed: 100 }, warnings })
    }
  },
  240_000
)

interface Listed {
  id: string
  credentials: Record<string, string>
}

const steer = <T>(path: string, body?: unknown) => platform.steer<T>('azure-quantum', path, body)

const named = async (id: string) =>
  (await steer<{ keys: Listed[] }>('/keys')).keys.find((one) => one.id === id)!.credentials

const waitingJob = () => platform.waitingAt('azure-quantum')

const message = (id: string, words: RegExp) => platform.queueMessage(id, words)

async function completes(id: string): Promise<void> {
  azure().advance(48 * HOUR_MS)
  expect(await platform.ended(id)).toMatchObject({ status: 'completed', attempts: 1, actual_cost_usd: 1.3 })
  expect(azure().tasks()).toHaveLength(1)
}

test('a secret that expires in the queue is named, and the job goes on with a new one of the application', async () => {
  const id = await waitingJob()
  await steer('/keys', { id: 'first-secret', active: false })
  await message(id, /client_secret .* has expired/)
  await platform.storeCredentials('azure-quantum', await named('second-secret'))
  await completes(id)
}, 240_000)

test('credentials of another workspace are told both, and the job goes on with those of its own', async () => {
  const id = await waitingJob()
  await platform.storeCredentials('azure-quantum', await named('other-secret'))
  expect(await message(id, /now of the workspace/)).toMatch(/other-workspace; the job is in .*emulated-workspace/)
  await platform.storeCredentials('azure-quantum', await named('first-secret'))
  await completes(id)
}, 240_000)
