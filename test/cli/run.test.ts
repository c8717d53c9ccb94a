// `qjob run`, from a program to its result, against the real service.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { eventually } from '../support/eventually.js'
import { longTest } from '../support/lane.js'
import { type Shell, startService } from './qjob.js'
import { signedUp } from './signed-up.js'

const values = `import math
def main(theta=0.5, shots=100, big=0, names=()):
    print("theta is", theta)
    return {"energy": -math.cos(theta), "big": big * 10**15 + 1, "names": names, "_summary": {"Energy": f"{-math.cos(theta):.3f}"}}
`
const bell = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nh q[0];\ncx q[0], q[1];\n'
const endless = 'import time\ntime.sleep(600)\n'
const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

let service: Awaited<ReturnType<typeof startService>>
let ada: Shell

beforeAll(async () => {
  service = await startService('run', { RATE_LIMIT_SCALE: '0' })
  ada = await signedUp(service, 'ada@example.org')
}, 120_000)

afterAll(async () => {
  ada?.remove()
  await service?.close()
})

test('qjob run prints the counts of a circuit', async () => {
  const { code, stdout, stderr } = await ada.run(['run', ada.file('bell.qasm', bell), '--shots', '200', '--seed', '1'])
  expect(code).toBe(0)
  expect(stdout).toMatch(
    /^200 shots, qubit 0 leftmost\n(00|11) {2}█{40} {2}\d+ +[\d.]+ %\n(00|11) {2}█+ +\d+ +[\d.]+ %\n$/
  )
  // Where there is no terminal, each change is a line.
  const lines = stderr.trimEnd().split('\n')
  expect(lines.at(-1)).toMatch(/^job \S+ completed after [\d.]+ s: qjob job \S+$/)
  expect(lines[0]).toMatch(/^job \S+ is submitted$/)
  expect(lines[1]).toBe(`page: ${service.url}/jobs/${uuid.exec(lines[0]!)![0]}`)
  for (const line of lines.slice(2, -1)) expect(line).toMatch(/^job \S+ is (pending|running)$/)
  expect(new Set(lines).size).toBe(lines.length)
})

test("qjob run prints a program's values with its summary first, and sends parameters exactly as typed", async () => {
  const names = ada.file('names.json', '["α", 1234567890123456]\n')
  const args = ['run', ada.file('values.py', values), '--mode', 'temporal', '--param', 'theta=0.25']
  const { code, stdout, stderr } = await ada.run([
    ...args,
    '--param',
    'big=1000000000000000',
    '--param',
    `names=@${names}`
  ])
  expect([code, stderr]).toEqual([0, expect.stringContaining(' completed after ')])
  const [summary, shown, printed] = stdout.split('\n\n')
  expect([summary, printed]).toEqual(['Energy  -0.969', 'printed by the code:\ntheta is 0.25\n'])
  const [energy, sum, list] = shown!.split('\n')
  expect([energy, sum]).toEqual([`energy  ${-Math.cos(0.25)}`, `big     ${10n ** 30n + 1n}`])
  expect(list).toMatch(/^names {3}\["(α|\\u03b1)", ?1234567890123456\]$/)
})

test('with --json, stdout has only the result, exactly as stored', async () => {
  const args = ['run', '-', '--param', 'big=9007199254740991', '--json']
  const { code, stdout } = await ada.run(args, values)
  expect(code).toBe(0)
  expect(stdout).toMatch(/"big": ?9007199254740991000000000000001\b/)
  expect(JSON.parse(stdout)).toMatchObject({ _summary: { Energy: '-0.878' }, stdout: 'theta is 0.5\n' })
})

test('a failed job exits with 1, its reason on stderr, and its id in the JSON', async () => {
  const { code, stdout, stderr } = await ada.run(['run', '-', '--json'], 'x = 1\nraise ValueError("no luck")\n')
  expect(code).toBe(1)
  expect(stderr).toMatch(
    /^(job .*\n|page: .*\n)*Show the job with: qjob job \S+\nqjob: job \S+ is failed: execution_error: .*ValueError: no luck/
  )
  const { error } = JSON.parse(stdout)
  expect(error).toMatchObject({ exit_code: 1, status: 'failed', code: 'execution_error' })
  expect((await ada.run(['job', error.job_id])).stdout).toMatch(/^status +failed$/m)
})

/** A service whose job is running at the first requests, and whose progress requests all fail. */
async function serviceOf(id: string, result: string) {
  const asked = new Set<string>()
  let polls = 0
  const server = createServer((request, response) => {
    const path = request.url!.replace(/\?.*/, '')
    asked.add(path)
    if (path.endsWith('/tasks')) response.writeHead(429, { 'retry-after': '30' }).end('{"error":"slow down"}')
    else if (path.endsWith('/events') && polls < 3) response.write('data: {"type":\n\n')
    else if (path.endsWith('/events')) response.destroy()
    else if (path.endsWith('/status')) response.end(`{"status":"${++polls < 8 ? 'running' : 'completed'}"}`)
    else if (request.method === 'POST') response.writeHead(201).end(`{"job_id":"${id}"}`)
    else response.end(`{"id":"${id}","status":"completed","created_at":"2026-11-21T10:00:00.000Z","result":${result}}`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    close() {
      server.closeAllConnections()
      server.close()
    }
  }
}

test('the wait survives progress requests that are refused, broken off or malformed', async () => {
  const id = '01a1fdb6-9b8b-7716-8ef2-8ab24a008b25'
  const { url, asked, close } = await serviceOf(id, '{"n":1}')
  const ended = await ada.run(['run', '-', '--json', '--url', url], 'x = 1')
  expect(ended).toEqual({
    code: 0,
    stdout: '{"n":1}\n',
    stderr: `job ${id} is submitted\npage: ${url}/jobs/${id}\njob ${id} is running\njob ${id} completed: qjob job ${id}\n`
  })
  expect([...asked].filter((path) => /\/(tasks|events)$/.test(path))).toHaveLength(2)
  close()
})

longTest(
  '--no-wait prints the id at once; Ctrl-C during the wait leaves the job running',
  async () => {
    const submitted = await ada.run(['run', '-', '--no-wait', '--json', '--timeout', '600'], endless)
    const id = JSON.parse(submitted.stdout).job_id
    expect([submitted.code, submitted.stderr]).toEqual([0, `page: ${service.url}/jobs/${id}\n`])
    expect((await ada.run(['cancel', id, '--wait'])).code).toBe(0)

    const run = ada.start(['run', '-', '--timeout', '600'], endless)
    await eventually(() => run.output.stderr.includes('is running'), { timeoutMs: 50_000 })
    run.signal('SIGINT')
    const { code, stdout, stderr } = await run.ended
    expect([code, stdout]).toEqual([130, ''])
    const going = uuid.exec(/Follow it with: .*/.exec(stderr)![0])![0]
    expect((await ada.run(['job', going])).stdout).toMatch(/^status +running/m)
    const cancelled = await ada.run(['cancel', going, '--wait', '--json'])
    expect(JSON.parse(cancelled.stdout).status).toBe('cancelled')
  },
  120_000
)

test('on a terminal the progress is one line, which is erased before the result', async () => {
  // The job of a real service can end before its first progress is shown.
  const { url, close } = await serviceOf(
    '01a1fdb6-9b8b-7716-8ef2-8ab24a008b25',
    '{"counts":{"00":4,"11":6},"shots":10}'
  )
  const { code, stdout } = await ada.onTerminal(
    ['run', ada.file('bell.qasm', bell), '--shots', '10', '--url', url],
    'never shown',
    ''
  )
  expect(code).toBe(0)
  const [shown, ended] = stdout.split('\r\x1b[Kjob ')
  expect(shown).toMatch(/^job \S+ is submitted\r\n.*job \S+ is running/s)
  expect(ended).toMatch(/^\S+ completed: qjob job /)
  expect(stdout).toMatch(/10 shots, qubit 0 leftmost\r\n/)
  close()
})

test('qjob submit --backend auto says where the job runs and why', async () => {
  const args = ['submit', '-', '--backend', 'auto', '--min-qubits', '26', '--max-cost', '0', '--wait']
  const { code, stdout } = await ada.run(args, bell)
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^backend +aer-statevector, direct$/m)])
  expect(stdout).toMatch(/^chosen +free, as others are; the first of them in the catalogue \(\d of \d+ backends could/m)
  const refused = await ada.run(['submit', '-', '--backend', 'auto', '--hardware', '--max-wait', '60'], bell)
  expect([refused.code, refused.stderr]).toEqual([4, expect.stringContaining('auto finds none that can take this job')])
})

longTest(
  'qjob compare shows the verdict on two jobs with their counts, and exits with 0 if they agree',
  async () => {
    const submitted = async (source: string, ...more: string[]): Promise<string> => {
      const args = ['submit', '-', '--shots', '5000', '--wait', '--json', ...more]
      return JSON.parse((await ada.run(args, source)).stdout).id
    }
    const [a, b] = [await submitted(bell, '--seed', '1'), await submitted(bell, '--seed', '2')]
    const other = await submitted(bell.replace('cx q[0], q[1];', ''), '--seed', '3')
    const equal = await ada.run(['compare', a, b])
    expect([equal.code, equal.stderr]).toEqual([0, ''])
    expect(equal.stdout).toMatch(/^verdict +consistent\ndistance +0\.\d{4} total variation, at most 0\.0\d{3}\n/)
    expect(equal.stdout).toMatch(/^error rate +1 %\na +\S+ on local, simulator_sampled, seed 1$/m)
    expect(equal.stdout).toMatch(/^OUTCOME +A +SHARE A +B +SHARE B\n(00|11) +\d+ +\d+\.\d\d % +\d+ +\d+\.\d\d %$/m)
    const apart = await ada.run(['compare', a, other, '--margin', '0.2', '--json'])
    expect([apart.code, JSON.parse(apart.stdout)]).toEqual([
      1,
      expect.objectContaining({ verdict: 'different', margin: 0.2 })
    ])
    const wrong = await ada.run(['compare', a, 'another'])
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('"another" is not the id of a job')])
    const margin = await ada.run(['compare', a, b, '--margin', '2'])
    expect([margin.code, margin.stderr]).toEqual([2, expect.stringContaining('It must be above 0, up to 1.')])
  },
  180_000
)

test.each([
  [['run'], 'name one thing to run: FILE, --script-slug or --script-id'],
  [['run', 'x.py', '--script-slug', 's'], 'name one thing to run'],
  [['run', '--script-id', 'bell-state'], '--script-id: must be an id from qjob scripts list (got bell-state)'],
  [['run', '-', '--param', 'a=@missing.json'], 'missing.json: cannot be read (ENOENT)'],
  [['run', '-', '--param', 'a=@'], '--param a=@: must name a file after the @'],
  [['run', '-', '--param', 'a=1', '--param', 'a=2'], '--param a: must be given only once'],
  [['run', '-', '--hardware', '--min-qubits', '2'], '--min-qubits, --hardware: only for the backend auto'],
  [['run', 'missing.py'], 'missing.py: cannot be read (ENOENT)']
])('%j is wrong use: 2, and nothing is sent', async (args, reason) => {
  const { code, stdout, stderr } = await ada.run(args, 'x = 1', { QJOB_URL: 'http://127.0.0.1:1' })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(reason)
})

longTest(
  'code of 50,000 characters is sent, one more needs a saved script, and a malformed JSON file is named',
  async () => {
    const longest = `# ${'🙂'.repeat(49_998)}`
    const sent = await ada.run(['run', '-', '--no-wait'], longest, { QJOB_URL: 'http://127.0.0.1:1' })
    expect(sent.code).toBe(3)
    const refused = await ada.run(['run', '-', '--no-wait'], `${longest}x`)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      'qjob: standard input: must have at most 50000 characters (got 50001): save it with qjob scripts upload, and run it with qjob scripts run\n'
    ])
    const bad = ada.file('bad.json', '{"a": }')
    const param = await ada.run(['run', '-', '--param', `a=@${bad}`], 'x = 1')
    expect([param.code, param.stderr]).toEqual([2, `qjob: --param a: ${bad} is not JSON\n`])
  }
)
