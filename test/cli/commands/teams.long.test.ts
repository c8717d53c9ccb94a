// Teams, members, invitations, keys, credentials, webhooks, budgets and the account, from the command line alone.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { emulatorVariables } from '../../../apps/cli/stack/parts/emulators.js'
import { type Emulators, startEmulators } from '../../../apps/emulators/emulators.js'
import { eventually } from '../../support/eventually.js'
import { type Ended, type Shell, startService } from '../qjob.js'
import { signedUp } from '../signed-up.js'

const keyRing = `cli:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`
const mails = mkdtempSync(join(tmpdir(), 'qjob-mails-'))
const bell = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q; bit[2] c;\nh q[0]; cx q[0], q[1];\nc = measure q;\n'

let emulators: Emulators
let service: Awaited<ReturnType<typeof startService>>
let ada: Shell
let bob: Shell

beforeAll(async () => {
  emulators = await startEmulators()
  const braket = emulatorVariables(emulators.providers.filter(({ provider }) => provider === 'aws-braket'))
  const settings = { SECRETS_KEYS: keyRing, MAIL_DIR: mails, RATE_LIMIT_SCALE: '0', ...braket }
  service = await startService('cli-teams', settings)
  ;[ada, bob] = await Promise.all([signedUp(service, 'ada@example.org'), signedUp(service, 'bob@example.org')])
}, 120_000)

afterAll(async () => {
  for (const shell of [ada, bob]) shell?.remove()
  rmSync(mails, { recursive: true, force: true })
  await service?.close()
  await emulators?.close()
})

/** The standard output of a command that succeeds. */
async function shown(shell: Shell, args: string[], input = ''): Promise<string> {
  const ended: Ended = await shell.run(args, input)
  expect([args, ended.code, ended.code === 0 ? '' : ended.stderr]).toEqual([args, 0, ''])
  return ended.stdout
}
const json = async (shell: Shell, args: string[]) => JSON.parse(await shown(shell, [...args, '--json']))

/** The link of the newest mail to an address. */
async function mailedLink(to: string): Promise<string> {
  let link: string | undefined
  await eventually(async () => {
    const files = readdirSync(mails).map((name) => readFileSync(join(mails, name), 'utf8').replace(/=\r?\n/g, ''))
    link = files
      .filter((mail) => mail.includes(to))
      .flatMap((mail) => mail.match(/http\S+\/invitations\/[\w-]+/g) ?? [])
      .at(-1)
    return link !== undefined
  })
  return link!
}

test('a person is invited into a team, promoted, made its owner, and can leave and remove others', async () => {
  expect(await shown(ada, ['team', 'create', 'Qubits'])).toMatch(/^team Qubits, [0-9a-f-]{36}\n$/)
  await shown(ada, ['team', 'rename', 'Qubits', 'Lab'])
  await shown(ada, ['invitation', 'send', 'bob@example.org', '--message', 'come in'])
  expect(await shown(ada, ['invitation', 'list'])).toMatch(/bob@example\.org +member/)
  await shown(ada, ['invitation', 'role', 'bob@example.org', '--role', 'admin'])
  const link = await mailedLink('bob@example.org')
  expect(await shown(bob, ['invitation', 'show', link])).toMatch(/^team +Lab\nrole +admin$/m)
  await shown(bob, ['invitation', 'accept', link])
  expect((await bob.run(['invitation', 'accept', link])).code).toBe(4)

  expect(await shown(bob, ['member', 'list'])).toMatch(/ada@example\.org +owner/)
  await shown(ada, ['member', 'role', 'bob@example.org', 'member'])
  const refused = await bob.run(['member', 'remove', 'ada@example.org'])
  expect([refused.code, refused.stdout]).toEqual([4, ''])
  await shown(ada, ['team', 'transfer', 'Lab', 'bob@example.org'])
  expect((await json(bob, ['team', 'list'])).teams).toMatchObject([{ name: 'Lab', role: 'owner' }])
  await shown(bob, ['team', 'transfer', 'Lab', 'ada@example.org'])
  await shown(bob, ['team', 'leave', 'Lab'])
  expect((await json(bob, ['team', 'list'])).teams).toEqual([])

  await shown(ada, ['invitation', 'send', 'eve@example.org'])
  await shown(ada, ['invitation', 'resend', 'eve@example.org'])
  await shown(ada, ['invitation', 'cancel', 'eve@example.org'])
  expect(await shown(ada, ['invitation', 'list'])).toBe('No pending invitations.\n')
}, 180_000)

test('with several teams, a change needs --team, which takes a name or the end of an id', async () => {
  const { id } = await json(ada, ['team', 'create', 'Second'])
  const unnamed = await ada.run(['key', 'create', 'ci'])
  expect([unnamed.code, unnamed.stderr]).toEqual([
    2,
    'qjob: --team: is needed, because you are in several teams: qjob team list lists them\n'
  ])
  await shown(ada, ['member', 'list', '--team', 'Second'])
  await shown(ada, ['member', 'list', '--team', id.slice(-8)])
  const unknown = await ada.run(['member', 'list', '--team', 'Third'])
  expect([unknown.code, unknown.stderr]).toEqual([
    4,
    'qjob: no team of yours is called "Third": qjob team list lists them\n'
  ])
  await shown(ada, ['team', 'delete', 'Second'])
}, 180_000)

test('jobs, scripts and capsules are made in the team of --team, and listed by it', async () => {
  const { id } = await json(ada, ['team', 'create', 'Shared'])
  const file = ada.file('shared.qasm', bell)
  const code = ada.file('shared.py', 'def main(shots=10):\n    return {"shots": shots}\n')
  const job = await json(ada, ['submit', file, '--wait', '--team', 'Shared'])
  expect(job.team_id).toBe(id)
  await shown(ada, ['run', code, '--team', id.slice(-8), '--json'])
  await shown(ada, ['scripts', 'upload', code, '--team', 'Shared'])
  await shown(ada, ['scripts', 'run', 'shared', '--team', 'Shared', '--json'])
  await shown(ada, ['scripts', 'options', 'shared', '--team', 'Shared'])
  await shown(ada, ['scripts', 'analyse', 'shared', '--team', 'Shared'])
  const { jobs } = await json(ada, ['jobs', '--team', 'Shared'])
  expect(jobs.map((one: { team_id: string }) => one.team_id)).toEqual([id, id, id])
  const { scripts } = await json(ada, ['scripts', 'list', '--team', 'Shared'])
  expect(scripts.map((one: { slug: string }) => one.slug)).toEqual(['shared'])

  const { capsule_id } = await json(ada, ['capsule', 'from-job', job.id, '--name', 'Shared bell'])
  await shown(ada, ['capsule', 'clone', capsule_id, '--team', 'Lab', '--name', 'A copy'])
  const namesOf = async (team: string) =>
    (await json(ada, ['capsule', 'list', '--team', team])).capsules.map((one: { name: string }) => one.name)
  expect(await namesOf('Shared')).toEqual(['Shared bell'])
  expect(await namesOf('Lab')).toEqual(['A copy'])
  expect(await shown(ada, ['audit', 'list', '--team', 'Shared'])).toMatch(/created/)
  expect(await shown(ada, ['audit', 'verify', '--team', id.slice(-8)])).toMatch(/^intact: /)
  const unknown = await ada.run(['submit', file, '--team', 'Third'])
  expect([unknown.code, unknown.stdout]).toEqual([4, ''])
  await shown(ada, ['team', 'delete', 'Shared'])
}, 180_000)

test('an API key is printed once, signs programs in, and stops when it is revoked', async () => {
  const made = await ada.run(['key', 'create', 'ci', '--daily-limit', '2.5', '--expires', '2099-01-01T00:00:00Z'])
  expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/^marqey_live_[\w-]{43}\n$/)])
  const key = made.stdout.trim()
  const env = { QJOB_KEY: key }
  expect((await bob.run(['whoami'], '', env)).stdout).toMatch(/Lab \(member\)/)
  expect((await bob.run(['submit', '-', '--wait'], bell, env)).code).toBe(0)
  const list = await shown(ada, ['key', 'list'])
  expect(list).toMatch(/simulate +\$2\.50 +2099-01-01 00:00:00 UTC .* ci$/m)
  expect(list).not.toContain(key)
  await shown(ada, ['key', 'revoke', 'ci'])
  expect((await bob.run(['whoami'], '', env)).code).toBe(4)
}, 180_000)

test('credentials are read from standard input or a prompt, listed without their values, and deleted', async () => {
  const value = 'a-secret-key-of-ionq'
  const stored = await shown(ada, ['credentials', 'set', 'ionq'], `api_key=${value}\n`)
  expect(stored).toMatch(/ionq +api_key +untested/)
  expect(stored).not.toContain(value)
  const typed = await ada.onTerminal(['credentials', 'set', 'ionq', 'api_key'], 'api_key: ', `${value}2\r`)
  expect(typed.code).toBe(0)
  expect(typed.stdout).not.toContain(value)
  const argument = await ada.run(['credentials', 'set', 'ionq', 'api_key'], '')
  expect([argument.code, argument.stdout]).toEqual([2, ''])
  const { secrets } = await json(ada, ['credentials', 'list'])
  await shown(ada, ['credentials', 'delete', secrets[0].id.slice(-8)])
  expect(await shown(ada, ['credentials', 'list'])).toBe('No credentials.\n')
}, 180_000)

test('a test of credentials says what they open, and what keeps jobs from running with them', async () => {
  const { credentials } = emulators.provider('aws-braket') as { credentials: Record<string, string> }
  const lines = (values: Record<string, string>) =>
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}\n`)
      .join('')
  await shown(ada, ['credentials', 'set', 'aws-braket'], lines(credentials))
  const right = await shown(ada, ['credentials', 'test', 'aws-braket'])
  expect(right).toMatch(
    /^.* takes these credentials\naccount +\d+\nregion +us-east-1\nbucket +\S+\ndevices +.*SV1.*\n$/
  )
  const elsewhere = { s3_bucket: 'amazon-braket-emulated-eu-north-1' }
  await shown(ada, ['credentials', 'set', 'aws-braket'], lines(elsewhere))
  const wrong = await shown(ada, ['credentials', 'test', 'aws-braket'])
  expect(wrong).toMatch(
    /takes these credentials, but not every job can run with them:\namazon-braket-emulated-eu-north-1: .*the bucket is in eu-north-1; set s3_bucket/
  )
  const tested = await json(ada, ['credentials', 'test', 'aws-braket'])
  expect([tested.valid, tested.details.faults.length]).toEqual([true, 1])
})

test('webhooks and budgets are set, shown and removed', async () => {
  const url = 'https://example.org/hook'
  const args = ['webhook', 'create', url, '--event', 'job.completed', 'job.failed']
  expect(await (await ada.run(args)).stdout).toMatch(/^whsec_\S+\n$/)
  expect(await shown(ada, ['webhook', 'list'])).toMatch(/job\.completed job\.failed +https:\/\/example\.org\/hook/)
  expect(await shown(ada, ['webhook', 'deliveries', url])).toBe('No deliveries.\n')
  await shown(ada, ['webhook', 'delete', url])
  expect(await shown(ada, ['webhook', 'list'])).toBe('No webhooks.\n')

  expect(await shown(ada, ['budget', '--per-job', '1.5', '--daily', '3'])).toMatch(/one job +\$1\.50/)
  expect(await shown(ada, ['budget', '--team', 'Lab'])).toMatch(/\$3\.00 +\$0\.00 +\$0\.00 +\$3\.00/)
  expect(await shown(ada, ['usage'])).toMatch(/^local +\S+ +1 +1024 +\$0\.00$/m)
  expect(await shown(ada, ['usage', '--csv'])).toMatch(/^date,.*\r?\n.*"local",1,1024,0\r?\n$/)
  expect(await shown(ada, ['estimate', 'local'])).toMatch(/^estimate +\$0\.00$/m)
}, 180_000)

test('how long contents are kept is set in days, shown, and taken back', async () => {
  expect(await shown(ada, ['retention', '--results', '365', '--output', '30'])).toMatch(/^results +365 days +365 days/m)
  expect(await shown(ada, ['retention', '--results', 'forever', '--team', 'Lab'])).toMatch(/^results +forever$/m)
  expect(await json(ada, ['retention'])).toMatchObject({ results: { days: null }, output: { days: 30 } })
  for (const wrong of ['0', 'never', '1.5']) expect((await ada.run(['retention', '--results', wrong])).code).toBe(2)
})

test('a profile is changed and shown, sessions are listed and ended, and the password is changed', async () => {
  await shown(bob, ['profile', 'set', '--name', 'Bob \u202eevil', '--username', 'bob-the-builder', '--public'])
  expect(await shown(ada, ['profile', 'show', 'bob-the-builder'])).toMatch(/^name +Bob �evil$/m)
  await shown(bob, ['login', 'bob@example.org'], 'correct horse battery\n')
  const { sessions } = await json(bob, ['sessions', 'list'])
  expect(sessions).toHaveLength(2)
  const other = sessions.find(({ current }: { current: boolean }) => !current)
  await shown(bob, ['sessions', 'end', other.id.slice(-8)])
  await shown(bob, ['password'], 'correct horse battery\nanother horse battery\n')
  expect((await bob.run(['login', 'bob@example.org'], 'correct horse battery\n')).code).toBe(4)
  await shown(bob, ['login', 'bob@example.org'], 'another horse battery\n')
  await shown(bob, ['profile', 'delete-account'], 'another horse battery\n')
  expect((await bob.run(['whoami'])).code).toBe(4)
}, 180_000)

test('a job runs again, shows its source, and its files are written without overwriting any', async () => {
  const code = 'print("hello")\nfrom qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n'
  await shown(ada, ['submit', '-', '--framework', 'qiskit', '--wait'], code)
  expect(await shown(ada, ['source', 'latest'])).toBe(code)
  await shown(ada, ['rerun', 'latest', '--wait'])
  expect((await json(ada, ['jobs', '--mine'])).total).toBeGreaterThanOrEqual(2)
  expect(await shown(ada, ['artifacts', 'latest'])).toMatch(/^stdout\.txt +\S+ \S+ +text\/plain/m)
  await shown(ada, ['artifacts', 'latest', 'stdout.txt'])
  expect(readFileSync(join(ada.folder, 'stdout.txt'), 'utf8')).toBe('hello\n')
  const again = await ada.run(['artifacts', 'latest', 'stdout.txt'])
  expect([again.code, again.stderr]).toEqual([2, 'qjob: stdout.txt: already exists; --force overwrites it\n'])
  await shown(ada, ['artifacts', 'latest', 'stdout.txt', '--force'])
  expect(await shown(ada, ['artifacts', 'latest', 'stdout.txt', '-o', '-'])).toBe('hello\n')
  const leading = await ada.run(['artifacts', 'latest', '../stdout.txt'])
  expect([leading.code, leading.stderr]).toEqual([2, 'qjob: ../stdout.txt: name the file to write with -o\n'])
}, 180_000)

test('a capsule is edited, sealed and given a schedule', async () => {
  // With a seed, its run gives the same counts. Without one, 1 % of verifications find a difference.
  await shown(ada, ['submit', '-', '--seed', '7', '--wait'], bell)
  const made = await json(ada, ['capsule', 'from-job', 'latest', '--name', 'Bell'])
  const capsule = made.capsule_id.slice(-8)
  await shown(ada, ['capsule', 'clone', capsule])
  expect(await shown(ada, ['capsule', 'edit', 'latest', '--tag', 'bell', '--retention-years', '3'])).toMatch(
    /^kept +3 years$/m
  )
  await shown(ada, ['capsule', 'seal', capsule, '--exit-code', '0'])
  const set = [
    'schedule',
    'set',
    capsule,
    '--cron',
    '@daily',
    '--timezone',
    'Europe/Berlin',
    '--alert',
    'ada@example.org'
  ]
  expect(await shown(ada, set)).toMatch(/^times +\S.* Europe\/Berlin$/m)
  expect(await shown(ada, ['schedule', 'show', capsule])).toMatch(/^mails to +ada@example\.org$/m)
  await shown(ada, ['capsule', 'run', capsule, '--wait'])
  expect(await shown(ada, ['capsule', 'verifications', capsule])).toMatch(/request/)
  await shown(ada, ['schedule', 'delete', capsule])
  expect((await ada.run(['schedule', 'show', capsule])).code).toBe(4)
}, 180_000)
