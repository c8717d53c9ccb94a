// A user's session with `qjob` against the real service: accounts, jobs, money.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { listAttempts } from '../../db/jobs/attempts.js'
import { eventually } from '../support/eventually.js'
import { longTest } from '../support/lane.js'
import { Shell, startService } from './qjob.js'
import { signedUp as signedUpAt } from './signed-up.js'

const password = 'correct horse battery'
const bell = `// A comment before the header.
OPENQASM 3.0;
include "stdgates.inc";
qubit[2] q; bit[2] c;
h q[0]; cx q[0], q[1];
c = measure q;
`
const asymmetric2 = 'OPENQASM 2.0;\ninclude "qelib1.inc";\nqreg q[3]; creg c[3];\nx q[0];\nmeasure q -> c;\n'
/** Runs until it is cancelled, or for as long as the tests can take. */
const endless = 'import time\ntime.sleep(600)\nfrom qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n'

let service: Awaited<ReturnType<typeof startService>>
let ada: Shell
const shells: Shell[] = []

function newShell(env: Record<string, string> = {}): Shell {
  const shell = new Shell({ QJOB_URL: service.url, ...env })
  shells.push(shell)
  return shell
}

async function signedUp(email: string): Promise<Shell> {
  const shell = await signedUpAt(service, email)
  shells.push(shell)
  return shell
}

const sessionCookie = (shell: Shell): string => {
  const folder = join(shell.folder, '.config/qjob/sessions')
  return JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]!), 'utf8')).cookie
}

/** The id of a job that the executor is running. */
async function runningJob(shell: Shell): Promise<string> {
  const file = shell.file('endless.py', endless)
  const { stdout } = await shell.run(['submit', file, '--timeout', '600', '--json'])
  const id = JSON.parse(stdout).job_id
  // A cold interpreter is slow when all cores are busy.
  await eventually(async () => (await listAttempts(service.database.db, id)).length > 0, { timeoutMs: 50_000 })
  return id
}

beforeAll(async () => {
  service = await startService('cli')
  ada = await signedUp('ada@example.org')
}, 120_000)

afterAll(async () => {
  for (const shell of shells) shell.remove()
  await service?.close()
})

test('sessions are saved per service in the configuration folder, readable only for their owner', async () => {
  const config = join(ada.folder, 'elsewhere')
  const signedIn = await ada.run(['login', 'ada@example.org'], '', { XDG_CONFIG_HOME: config, QJOB_PASSWORD: password })
  expect(signedIn.code).toBe(0)
  const folder = join(config, 'qjob/sessions')
  const [file, ...others] = readdirSync(folder)
  expect(others).toEqual([])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(statSync(join(folder, file!)).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(folder, file!), 'utf8')).not.toContain(password)

  const other = await ada.run(['whoami', '--url', `${service.url}/elsewhere`])
  expect(other.code).not.toBe(0)
  const whoami = await ada.run(['whoami'], '', { XDG_CONFIG_HOME: config })
  expect(whoami.stdout).toContain('ada@example.org')
})

test('signing out ends the session at the service too, and later commands explain how to sign in', async () => {
  const shell = await signedUp('grace@example.org')
  const folder = join(shell.folder, '.config/qjob/sessions')
  const kept = readFileSync(join(folder, readdirSync(folder)[0]!), 'utf8')
  expect((await shell.run(['logout'])).stdout).toBe(`Signed out of ${service.url}.\n`)
  for (const args of [['whoami'], ['jobs'], ['budget'], ['submit', '-']]) {
    const { code, stderr } = await shell.run(args, bell)
    expect([code, stderr]).toEqual([
      4,
      `qjob: not signed in to ${service.url}: run qjob login EMAIL, or set an API key in QJOB_KEY\n`
    ])
  }
  const replayed = await fetch(`${service.url}/api/auth/session`, { headers: { cookie: JSON.parse(kept).cookie } })
  expect(replayed.status).toBe(401)
})

test('a new password that the service would refuse is not asked for twice', async () => {
  const short = await ada.onTerminal(['sign-up', 'bob@example.org'], 'Password: ', 'too short\r')
  expect([short.code, short.stdout]).toEqual([
    2,
    'Password: \r\nqjob: the password must have 10 to 200 characters (got 9)\r\n'
  ])
})

test('the password prompt on a terminal does not show the password', async () => {
  const ended = await ada.onTerminal(['login', 'ada@example.org'], 'Password: ', `${password}x\x7f\r`)
  expect(ended.stdout).toMatch(/^Password: \r\nSigned in to /)
  expect(ended.stdout).not.toContain('correct')
  expect(ended.code).toBe(0)
})

test('a wrong password and a used-up access code exit with 4 and the reason', async () => {
  const wrong = await ada.run(['login', 'ada@example.org'], 'not the password\n')
  expect([wrong.code, wrong.stderr]).toEqual([4, 'qjob: E-mail address or password is wrong\n'])
  const used = await newShell().run(['sign-up', 'b@example.org', '--code', 'no-such-code'], `${password}\n`)
  expect([used.code, used.stderr]).toEqual([4, 'qjob: code: is not valid, has expired or is used up\n'])
})

test('qjob submit --wait shows the job with its counts, cost and options', async () => {
  const { code, stdout, stderr } = await ada.run([
    ...['submit', ada.file('bell.qasm', bell), '--shots', '1000', '--seed', '7', '--name', 'a bell pair'],
    ...['--label', 'first', '--label', 'second', '--max-cost', '0.5', '--timeout', '30', '--wait']
  ])
  const { port } = new URL(service.url)
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(`^page: http://127\\.0\\.0\\.1:${port}/jobs/[0-9a-f-]{36}\n$`)
  ])
  expect(stdout).toMatch(/^status +completed$/m)
  expect(stdout).toMatch(/^name +a bell pair$/m)
  expect(stdout).toMatch(/^labels +first, second$/m)
  expect(stdout).toMatch(/^cost +\$0\.00 /m)
  expect(stdout).toContain('1000 shots, qubit 0 leftmost')
  const counts = [...stdout.matchAll(/^([01]{2}) +█+ +(\d+) +[\d.]+ %$/gm)].map(
    ([, key, n]) => [key, Number(n)] as const
  )
  expect(counts.map(([key]) => key).sort()).toEqual(['00', '11'])
  expect(counts[0]![1] + counts[1]![1]).toBe(1000)
  expect(counts[0]![1]).toBeGreaterThanOrEqual(counts[1]![1])
})

test('with --json, stdout has only the record of the job; OpenQASM 2 is read from standard input', async () => {
  const { code, stdout, stderr } = await ada.run(['submit', '-', '--shots', '50', '--wait', '--json'], asymmetric2)
  const job = JSON.parse(stdout)
  expect([code, stderr]).toEqual([0, `page: ${service.url}/jobs/${job.id}\n`])
  expect(job.status).toBe('completed')
  expect(job.source.kind).toBe('circuit')
  expect(job.result.counts).toEqual({ '100': 50 })

  const result = await ada.run(['job', job.id, '--result', '--json'])
  expect(JSON.parse(result.stdout)).toEqual(job.result)
  expect((await ada.run(['job', job.id, '--result'])).stdout).toMatch(/^50 shots, qubit 0 leftmost\n100 {2}█{40} {2}50/)
  const { attempts } = JSON.parse((await ada.run(['job', job.id, '--attempts', '--json'])).stdout)
  expect(attempts).toMatchObject([{ number: 1, state: 'completed' }])
})

test('parameters reach the code exactly as typed, as JSON or as text', async () => {
  const code = `from qiskit import QuantumCircuit
print(params['theta'], params['name'], params['list'], params['quoted'])
circuit = QuantumCircuit(1)
circuit.x(0)
`
  const { stdout } = await ada.run([
    ...['submit', ada.file('code.py', code), '--mode', 'temporal', '--wait', '--json', '--shots', '3'],
    ...['--param', 'theta=0.25', '--param', 'name=a=b', '--param', 'list=[1,"x"]', '--param', 'quoted="7"']
  ])
  const job = JSON.parse(stdout)
  expect(job).toMatchObject({ status: 'completed', execution_mode: 'temporal', result: { counts: { '1': 3 } } })
  expect(job.result.stdout).toBe("0.25 a=b [1, 'x'] 7\n")
})

test('a failed job exits with 1 and shows its reason without terminal control characters', async () => {
  const code = 'print("\\x1b[2J")\nraise ValueError("no \\x1b]0;luck")\n'
  const failed = await ada.run(['submit', '-', '--framework', 'qiskit', '--wait'], code)
  expect(failed.code).toBe(1)
  expect(failed.stdout).toMatch(/^status +failed$/m)
  expect(failed.stdout).toContain('ValueError: no �]0;luck')
  expect(failed.stdout).not.toContain('\x1b')
  const id = /^job +(\S+)$/m.exec(failed.stdout)![1]!
  const shown = await ada.run(['job', id])
  expect(shown.code).toBe(0)
  const result = await ada.run(['job', id, '--result', '--json'])
  expect(result.code).toBe(1)
  expect(JSON.parse(result.stdout).error.message).toContain('is failed and has no result: ')
})

longTest(
  'Ctrl-C during the wait leaves the job running and shows how to follow it; cancel stops it',
  async () => {
    const id = await runningJob(ada)
    const interrupted = await ada.onTerminal(['job', id, '--wait'], 'is running', '\x03')
    expect(interrupted.code).toBe(130)
    expect(interrupted.stdout).toContain(`The job continues.\r\nFollow it with: qjob job ${id.slice(-8)} --wait\r\n`)
    expect((await ada.run(['job', id])).stdout).toMatch(/^status +running/m)

    const cancelled = await ada.run(['cancel', id, '--wait'])
    expect(cancelled).toEqual({ code: 0, stdout: `job ${id} is cancelled (stopped_before_provider)\n`, stderr: '' })
    const again = await ada.run(['cancel', id])
    expect([again.code, again.stdout]).toEqual([4, ''])
    expect((await ada.run(['job', id, '--wait'])).code).toBe(1)
  },
  120_000
)

longTest(
  'the wait for a job survives a restart of the service',
  async () => {
    const id = await runningJob(ada)
    const waiting = ada.start(['job', id, '--wait', '--json'])
    await service.stopApi()
    await service.startApi()
    expect((await ada.run(['cancel', id])).code).toBe(0)
    const { code, stdout } = await waiting.ended
    expect([code, JSON.parse(stdout).status]).toEqual([1, 'cancelled'])
  },
  120_000
)

longTest('jobs are listed newest first, with filters and pages', async () => {
  const all = JSON.parse((await ada.run(['jobs', '--json', '--limit', '100'])).stdout)
  expect(all.total).toBeGreaterThan(3)
  const first = await ada.run(['jobs', '--limit', '2'])
  expect(first.stdout.split('\n')[0]).toMatch(/^ID +STATUS +BACKEND +MODE +SUBMITTED +RAN +COST +NAME +SUMMARY$/)
  expect(first.stdout.split('\n')[1]).toMatch(new RegExp(`^${all.jobs[0].id} `))
  const cursor = / more: --cursor (\S+)\n$/.exec(first.stdout)![1]!
  const second = await ada.run(['jobs', '--limit', '2', '--cursor', cursor])
  expect(second.stdout.split('\n')[1]).toMatch(new RegExp(`^${all.jobs[2].id} `))
  const failed = JSON.parse((await ada.run(['jobs', '--status', 'failed', '--backend', 'local', '--json'])).stdout)
  expect(failed.jobs.length).toBeGreaterThan(0)
  expect(failed.jobs.every((job: { status: string }) => job.status === 'failed')).toBe(true)
  expect((await ada.run(['jobs', '--backend', 'sv1'])).stdout).toBe('No jobs.\n')
})

test("another user's job is not found", async () => {
  const eve = await signedUp('eve@example.org')
  const { jobs } = JSON.parse((await ada.run(['jobs', '--limit', '1', '--json'])).stdout)
  for (const args of [
    ['job', jobs[0].id],
    ['cancel', jobs[0].id]
  ])
    expect(await eve.run(args)).toEqual({ code: 4, stdout: '', stderr: 'qjob: no such job\n' })
})

longTest('without QJOB_URL and a running stack, PORT is that of the service', async () => {
  const { port } = new URL(service.url)
  const env = { QJOB_URL: '', PORT: port, DATA_DIR: ada.folder }
  expect((await ada.run(['whoami'], '', env)).stdout).toContain(`service`)
  const unreachable = await ada.run(['backends'], '', { ...env, PORT: '1' })
  expect([unreachable.code, unreachable.stderr]).toEqual([3, expect.stringContaining('http://127.0.0.1:1 ')])
})

test('--version is that of the project', async () => {
  const { version } = JSON.parse(readFileSync(join(projectRoot, 'package.json'), 'utf8'))
  expect(await ada.run(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

longTest(
  'a program with an API key works without a session, and only in the team of the key',
  async () => {
    await ada.run(['submit', ada.file('bell.qasm', bell)])
    const whoami = JSON.parse((await ada.run(['whoami', '--json'])).stdout)
    const teamId = whoami.teams[0].id
    const cookie = sessionCookie(ada)
    const keyOf = async (tier: string) => {
      const answer = await fetch(`${service.url}/api/team/api-keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', cookie },
        body: JSON.stringify({ team_id: teamId, name: tier, tier, kind: 'test' })
      })
      return ((await answer.json()) as { key: string }).key
    }
    const program = newShell()
    const key = await keyOf('simulate')
    const submitted = await program.run(['submit', '-', '--shots', '10', '--wait', '--json'], asymmetric2, {
      QJOB_KEY: key
    })
    const job = JSON.parse(submitted.stdout)
    expect([submitted.code, submitted.stderr]).toEqual([0, `page: ${service.url}/jobs/${job.id}\n`])
    expect(job).toMatchObject({ team_id: teamId, status: 'completed', result: { counts: { '100': 10 } } })
    for (const args of [['jobs'], ['job', job.id], ['budget'], ['backends']])
      expect([args, (await program.run([...args, '--key', key])).code]).toEqual([args, 0])
    expect((await program.run(['whoami', '--key', key])).stdout).toMatch(
      new RegExp(`^team +ada@example\\.org's Team \\(\\w+\\), ${teamId}$`, 'm')
    )

    // The option takes precedence over the variable, and the key over the session.
    const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`
    const mistyped = await ada.run(['jobs', '--key', wrong], '', { QJOB_KEY: key })
    expect([mistyped.code, mistyped.stdout, mistyped.stderr]).toEqual([
      4,
      '',
      `qjob: ${service.url} rejects this API key: it is mistyped, revoked or expired (--key, QJOB_KEY)\n`
    ])
    const low = await program.run(['submit', '-', '--json'], bell, { QJOB_KEY: await keyOf('read') })
    expect(low.code).toBe(4)
    expect(JSON.parse(low.stdout).error).toMatchObject({ code: 'permission_denied', status: 403, exit_code: 4 })
    // A key cannot end a session.
    expect((await program.run(['logout', '--json'], '', { QJOB_KEY: key })).stdout).toBe('{"signed_out":false}\n')
  },
  180_000
)

test('backends lists the available backends, and all of them on request', async () => {
  const usable = (await ada.run(['backends'])).stdout
  expect(usable).toMatch(/^local +Local +simulator +25 +100000 +available +free$/m)
  expect(usable).not.toContain('ibm-fez')
  const all = (await ada.run(['backends', '--all'])).stdout
  expect(all).toMatch(
    /^ibm-fez .*(it is offline|no worker has declared IBM Quantum within a day) +\$0\.30 per task, \$0\.00145 per shot$/m
  )
  expect(JSON.parse((await ada.run(['backends', '--json'])).stdout).backends.length).toBeGreaterThan(3)
})

test('budget shows the limits and what is left', async () => {
  const { stdout } = await ada.run(['budget'])
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\d +\$100\.00 +\$0\.00 +\$0\.00 +\$100\.00 +\$1000\.00$/m)
  expect(stdout).toMatch(/^one job +\$100\.00 +\$1000\.00$/m)
})

test("a refusal is shown with the service's message, and its figures in the JSON", async () => {
  const file = ada.file('refused.qasm', bell)
  const shots = await ada.run(['submit', file, '--shots', '0'])
  expect([shots.code, shots.stdout, shots.stderr]).toEqual([
    4,
    '',
    'qjob: params.shots: must be an integer from 1 to 100000 (got 0)\n'
  ])
  const unknown = await ada.run(['submit', file, '--backend', 'nowhere', '--json'])
  expect(unknown.code).toBe(4)
  expect(JSON.parse(unknown.stdout)).toMatchObject({
    error: { message: expect.stringContaining('"nowhere"'), exit_code: 4, status: 400 }
  })
})

test('admin grant makes an administrator in the database, and only of an existing account', async () => {
  const env = { DATABASE_URL: service.database.url }
  const nobody = await ada.run(['admin', 'grant', 'nobody@example.org'], '', env)
  expect([nobody.code, nobody.stderr]).toEqual([
    4,
    'qjob: no account has the address nobody@example.org: sign up first\n'
  ])
  expect((await ada.run(['admin', 'grant', 'ADA@example.org'], '', env)).code).toBe(0)
  expect((await ada.run(['whoami'])).stdout).toMatch(/^platform administrator +yes$/m)
})

longTest('access codes store their uses and expiry, and are unique', async () => {
  const env = { DATABASE_URL: service.database.url }
  const expires = new Date(Date.now() + 3_600_000).toISOString()
  const args = ['admin', 'create-code', '--code', 'for-the-class', '--uses', '5', '--expires', expires]
  const made = await ada.run([...args, '--json'], '', env)
  expect(JSON.parse(made.stdout)).toEqual({ code: 'for-the-class', uses: 5, expires_at: expires })
  const look = await fetch(`${service.url}/api/auth/validate-code`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code: 'for-the-class' })
  })
  expect(await look.json()).toEqual({ valid: true, remaining_uses: 5 })
  const again = await ada.run(args, '', env)
  expect([again.code, again.stderr]).toEqual([4, 'qjob: this access code already exists: choose another\n'])
  const random = JSON.parse((await ada.run(['admin', 'create-code', '--json'], '', env)).stdout)
  expect(random).toMatchObject({ uses: 1, expires_at: null })
  const newcomer = await newShell().run(['sign-up', 'c@example.org', '--code', random.code], `${password}\n`)
  expect(newcomer.code).toBe(0)
})
