// What a platform administrator does with their session, from any machine.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Shell, startService } from '../qjob.js'
import { signedUp } from '../signed-up.js'

const keyRing = `cli:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`
const bell = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q; bit[2] c;\nh q[0]; cx q[0], q[1];\nc = measure q;\n'
const hostile = 'bell \x1b[2J\x1b]0;owned\x07'
const none = '00000000-0000-4000-8000-000000000000'

let service: Awaited<ReturnType<typeof startService>>
let ada: Shell
let eve: Shell
let team: string
let job: string

/** The standard output of a command that succeeds. */
async function shown(shell: Shell, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await shell.run(args)
  expect([args, code, stderr]).toEqual([args, 0, expect.stringMatching(/^(page: .*\n)?$/)])
  return stdout
}
const json = async (shell: Shell, ...args: string[]) => JSON.parse(await shown(shell, ...args, '--json'))

beforeAll(async () => {
  service = await startService('cli-administrator', { SECRETS_KEYS: keyRing, RATE_LIMIT_SCALE: '0' })
  ;[ada, eve] = await Promise.all([signedUp(service, 'ada@example.org'), signedUp(service, 'eve@example.org')])
  const operator = { DATABASE_URL: service.database.url }
  expect((await ada.run(['admin', 'grant', 'ada@example.org'], '', operator)).code).toBe(0)
  const submitted = await eve.run(['submit', '-', '--name', hostile, '--wait', '--json'], bell)
  job = JSON.parse(submitted.stdout).id
  team = (await json(eve, 'team', 'list')).teams[0].id
}, 120_000)

afterAll(async () => {
  for (const shell of [ada, eve]) shell?.remove()
  await service?.close()
})

test("a team's limits and ceilings are shown and changed, and its owner can go up to the ceilings", async () => {
  const limits = ['--daily', '3', '--ceiling-daily', '5', '--ceiling-per-job', '2.5']
  const changed = await shown(ada, 'admin', 'budget', team, ...limits)
  expect(changed).toMatch(/^PERIOD \(UTC\) +LIMIT +SPENT +RESERVED +LEFT +CEILING$/m)
  expect(changed).toMatch(/^\d{4}-\d\d-\d\d +\$3\.00 +\$0\.00 +\$0\.00 +\$3\.00 +\$5\.00$/m)
  expect(await shown(ada, 'admin', 'budget', team)).toBe(changed)
  expect(await json(ada, 'admin', 'budget', team)).toMatchObject({
    team_id: team,
    limits: { daily_usd: 3 },
    ceilings: { daily_usd: 5, per_job_usd: 2.5 }
  })
  expect(await shown(eve, 'budget', '--daily', '5')).toMatch(/ \$5\.00$/m)
  expect((await eve.run(['budget', '--daily', '6'])).code).toBe(4)
})

test('a backend is changed, and jobs that it then refuses are refused', async () => {
  const changed = await json(
    ada,
    'admin',
    'backend',
    'aer-mps',
    '--no-available',
    '--description',
    'resting',
    '--order',
    '7'
  )
  expect(changed).toMatchObject({ slug: 'aer-mps', isAvailable: false, description: 'resting', displayOrder: 7 })
  expect((await eve.run(['submit', '-', '--backend', 'aer-mps'], bell)).code).toBe(4)
  const text = await shown(
    ada,
    'admin',
    'backend',
    'aer-mps',
    '--available',
    '--per-shot',
    '0.0001',
    '--description',
    ''
  )
  expect(text).toMatch(/^state +available\nprice +\$0\.0001 per shot$/m)
  expect(text).not.toContain('resting')
  const nothing = await ada.run(['admin', 'backend', 'aer-mps'])
  expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining('name what to change')])
})

test('the price of a machine’s time is set with its cap, and cleared', async () => {
  const price = async (...options: string[]) =>
    /^price +(.*)$/m.exec(await shown(ada, 'admin', 'backend', 'ibm-fez', ...options))?.[1]
  expect(await price('--per-second', '1.6', '--seconds-max', '60')).toBe(
    '$0.30 per task, $0.00145 per shot, $1.60 per second, at most 60 s'
  )
  expect(await shown(eve, 'estimate', 'ibm-fez', '--shots', '100')).toMatch(
    /^time +at most 60 s at \$1\.60 each, for every circuit$/m
  )
  expect(await price('--no-per-second')).toBe('$0.30 per task, $0.00145 per shot')
  const alone = await ada.run(['admin', 'backend', 'ibm-fez', '--per-second', '1'])
  expect([alone.code, alone.stderr]).toEqual([4, expect.stringContaining('perSecond and secondsMax go together')])
})

test('jobs of all teams are listed and searched, and one is cancelled', async () => {
  const list = await shown(ada, 'admin', 'jobs')
  expect(list).toMatch(new RegExp(`^${job} +completed +.* +eve@example\\.org +local .* bell �\\[2J�\\]0;owned�$`, 'm'))
  expect((await json(ada, 'admin', 'jobs', '--q', 'eve@example.org', '--status', 'completed')).jobs).toMatchObject([
    { id: job }
  ])
  expect(await shown(ada, 'admin', 'jobs', '--q', 'nobody has this')).toBe('No jobs.\n')
  await eve.run(['submit', '-', '--wait'], bell)
  expect(await shown(ada, 'admin', 'jobs', '--limit', '1')).toMatch(/\n\n1 of 2; more: --offset 1\n$/)
  expect(await shown(ada, 'admin', 'jobs', '--limit', '1', '--offset', '1')).toContain(job)
  expect(await shown(ada, 'admin', 'jobs', '--offset', '9')).toBe('No more jobs: there are 2.\n')

  const endless = 'while True:\n    pass\nfrom qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n'
  const { stdout } = await eve.run(['submit', '-', '--framework', 'qiskit', '--json'], endless)
  const running = JSON.parse(stdout).job_id
  expect(await shown(ada, 'admin', 'cancel', running)).toMatch(new RegExp(`^job ${running} is cancell(ing|ed)\n$`))
  expect(JSON.parse((await eve.run(['job', running, '--wait', '--json'])).stdout).status).toBe('cancelled')
  const over = await ada.run(['admin', 'cancel', job])
  expect([over.code, over.stderr]).toEqual([4, expect.stringContaining('completed')])
  const short = await ada.run(['admin', 'cancel', job.slice(-8)])
  expect([short.code, short.stderr]).toEqual([2, expect.stringContaining('qjob admin jobs lists them')])
}, 180_000)

test('a published capsule is taken down', async () => {
  const { capsule_id: capsule } = await json(eve, 'capsule', 'from-job', job, '--name', 'Bell')
  await shown(eve, 'capsule', 'seal', capsule, '--exit-code', '0')
  await shown(eve, 'capsule', 'publish', capsule, '--title', 'Bell', '--description', 'a pair', '--license', 'CC0-1.0')
  expect(await shown(ada, 'admin', 'takedown', capsule, '--reason', 'not yours')).toBe(
    'Bell is out of the public catalogue\n'
  )
  expect(await shown(ada, 'capsule', 'list', '--published')).not.toContain('Bell')
  expect((await ada.run(['admin', 'takedown', none, '--reason', 'x'])).code).toBe(4)
}, 180_000)

test('what administrators changed is listed, page by page', async () => {
  const [newest] = (await shown(ada, 'admin', 'audit')).match(/capsule\.takedown.*/)!
  expect(newest).toContain('not yours')
  const page = await shown(ada, 'admin', 'audit', '--limit', '1')
  const [, cursor] = /\n\nmore: --cursor (\S+)\n$/.exec(page)!
  const next = await json(ada, 'admin', 'audit', '--limit', '1', '--cursor', cursor!)
  expect(next.entries).toMatchObject([{ action: 'job.cancel', actor: { email: 'ada@example.org' } }])
})

test('the state of the service is shown part by part', async () => {
  const text = await shown(ada, 'admin', 'system')
  expect(text).toMatch(/^database +[\d.]+ ms$/m)
  expect(text).toMatch(/^direct queue +\d+ waiting, \d+ active, \d+ delayed$/m)
  expect(text).toMatch(/^outbox +\d+ rows, \d+ held, \d+ due, \d+ unreachable/m)
  expect(text).toMatch(/^SWEEP +RAN +HANDLED +FAILED +STATE$/m)
  expect((await json(ada, 'admin', 'system')).parts.database.state).toBe('ok')
})

test('everyone else is told that only platform administrators can do this, and how to become one', async () => {
  for (const args of [
    ['jobs'],
    ['system'],
    ['audit'],
    ['budget', team],
    ['cancel', job],
    ['backend', 'local', '--status', 'offline'],
    ['takedown', job, '--reason', 'x']
  ]) {
    const { code, stdout, stderr } = await eve.run(['admin', ...args])
    expect([args, code, stdout, stderr]).toEqual([
      args,
      4,
      '',
      'qjob: only platform administrators can do this: qjob admin grant EMAIL makes a user one\n'
    ])
  }
  // A missing object is not taken for a missing right.
  expect((await ada.run(['admin', 'budget', none])).stderr).toBe('qjob: no such team\n')
}, 180_000)

test.each([60, 80, 120])('nothing is wider than a terminal of %i columns', async (columns) => {
  for (const args of [['jobs'], ['system'], ['audit'], ['budget', team]]) {
    const { stdout } = await ada.onTerminal(['admin', ...args], 'never shown', '', { columns, env: { NO_COLOR: '1' } })
    expect([args, stdout]).toEqual([args, expect.stringMatching(/\w/)])
    expect(stdout).not.toContain('\x1b')
    expect(stdout.split(/\r?\n/).filter((line) => line.length > columns)).toEqual([])
  }
})
