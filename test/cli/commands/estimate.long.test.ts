// `qjob estimate` says before a submission what the submission then says.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { type Shell, startService } from '../qjob.js'
import { signedUp } from '../signed-up.js'

const bell = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nh q[0];\ncx q[0], q[1];\n'
const noise = '{"readout_errors":{"all":{"p0_given1":0.02,"p1_given0":0.01}}}'
const sampled = ['--param', `noise_model=${noise}`, '--param', 'observables=["ZZ","XX"]']
const mitigated = [...sampled, '--param', 'mitigation={"readout":true}']

let service: Awaited<ReturnType<typeof startService>>
let ada: Shell

beforeAll(async () => {
  service = await startService('cli-estimate', { RATE_LIMIT_SCALE: '0' })
  ada = await signedUp(service, 'ada@example.org')
  await service.database.db.execute(
    sql`update backends set task_fee_micro = 70, per_shot_micro = 11 where slug = 'aer-density-matrix'`
  )
}, 120_000)

afterAll(async () => {
  ada?.remove()
  await service?.close()
})

const estimate = async (...args: string[]) => {
  const { code, stdout, stderr } = await ada.run(['estimate', ...args])
  expect([args, code, stderr]).toEqual([args, 0, ''])
  return stdout
}

test('the price of all parameters is that of the submission', async () => {
  const points = ada.file('points.json', '[{ "shots": 50 }, { "shots": 5 }, {}]')
  const file = ada.file('bell.qasm', bell)
  const cases = [['--shots', '70'], ['--points', points, '--seed', '3'], mitigated, [...mitigated, '--points', points]]
  for (const args of cases) {
    const { estimated_cost_usd, refusals } = JSON.parse(await estimate('aer-density-matrix', ...args, '--json'))
    const submitted = await ada.run(['submit', file, '--backend', 'aer-density-matrix', ...args, '--json'])
    const { job_id } = JSON.parse(submitted.stdout)
    const record = JSON.parse((await ada.run(['job', job_id, '--json'])).stdout)
    expect([args, refusals, estimated_cost_usd]).toEqual([args, [], record.estimated_cost_usd])
    expect(estimated_cost_usd).toBeGreaterThan(0)
  }
  expect(await estimate('aer-density-matrix', '--points', points)).toMatch(
    /^circuits +3 at .*\nshots +at most 1024 at /m
  )
  expect(await estimate('aer-density-matrix', '--circuits', '4', '--shots', '10')).toMatch(
    /^circuits +4 at \$0\.00007\nshots +10 at \$0\.000011 each, for every circuit$/m
  )
})

test('the backend auto is chosen by the wishes, with the reason of each candidate', async () => {
  const chosen = await estimate('auto', '--simulator', '--min-qubits', '2')
  expect(chosen).toMatch(/^backend +local\nchosen +free, .* \(\d+ of \d+ backends could take it\)\nestimate +\$0\.00$/m)
  expect(chosen).toMatch(/^BACKEND +COST +QUEUE +QUBITS +USABLE +WHY\nlocal +\$0\.00 +0 s +\d+ +yes +free, /m)
  expect(chosen).toMatch(/^ionq-direct-forte-1 .* no +.*it is a quantum computer$/m)
  expect(await estimate('auto', ...mitigated)).toMatch(/^backend +aer-(noisy|density-matrix)$/m)
  const none = await ada.run(['estimate', 'auto', '--hardware'])
  expect([none.code, none.stderr]).toEqual([4, expect.stringContaining('auto finds none that can take this job')])
})

test('what would refuse the submission is shown', async () => {
  const dear = await estimate('aer-density-matrix', '--shots', '10000', '--max-cost', '0.01', '--qubits', '99')
  expect(dear).toMatch(/^refused now +.*qubits.*\nrefused now +.*\$0\.01/m)
  expect(await estimate('local', ...mitigated)).toMatch(/^refused now +params\..*local runs without noise/m)
  for (const [args, message] of [
    [['local', '--simulator'], '--simulator: only for the backend auto'],
    [['auto', '--simulator', '--hardware'], "option '--simulator' cannot be used with option '--hardware'"],
    [['local', '--circuits', '2', '--param', 'circuit_count=3'], '--param circuit_count: must be given only once']
  ] as const) {
    const { code, stderr } = await ada.run(['estimate', ...args])
    expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(message)])
  }
})

test('submit takes --simulator as the wish of auto', async () => {
  const submitted = await ada.run(['submit', '-', '--backend', 'auto', '--simulator', '--json'], bell)
  const record = JSON.parse((await ada.run(['job', JSON.parse(submitted.stdout).job_id, '--json'])).stdout)
  expect(record.choice).toMatchObject({ asked: { hardware: false }, chosen: 'local' })
})
