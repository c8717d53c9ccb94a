// What `qjob` writes to a terminal of each width, with names as hostile and as wide as the service accepts.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Shell, startService } from '../qjob.js'
import { signedUp } from '../signed-up.js'

const hostile = '\x1b[2J\x1b]0;owned\x07 \u202eevil'
const names = [
  `量子もつれの実験についての${'とても'.repeat(20)}長い名前`,
  `${hostile} ${'long '.repeat(30)}`,
  '🙂'.repeat(40)
]
const bell = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q; bit[2] c;\nh q[0]; cx q[0], q[1];\nc = measure q;\n'

let service: Awaited<ReturnType<typeof startService>>
let ada: Shell
let job: string
let other: string
let sweep: string
let capsule: string

async function post(path: string, body: object): Promise<void> {
  const folder = join(ada.folder, '.config/qjob/sessions')
  const { cookie } = JSON.parse(readFileSync(join(folder, readdirSync(folder)[0]!), 'utf8'))
  const response = await fetch(service.url + path, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  expect(response.status).toBeLessThan(300)
}

beforeAll(async () => {
  service = await startService('cli-terminal', { RATE_LIMIT_SCALE: '0' })
  ada = await signedUp(service, 'ada@example.org')
  for (const name of [...names, ...Array.from({ length: 9 }, (_, n) => `team ${n}`)])
    await post('/api/teams', { name: name.slice(0, 60) })
  const file = ada.file('bell.qasm', bell)
  const done = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await ada.run(args)
    expect([args, code, code === 0 ? '' : stderr]).toEqual([args, 0, ''])
    return stdout
  }
  for (const name of names) await done('submit', file, '--name', name, '--label', [...name].slice(0, 25).join(''))
  job = JSON.parse(await done('submit', file, '--name', names[0]!, '--wait', '--json')).id
  other = JSON.parse(await done('submit', file, '--wait', '--json')).id
  const points = ada.file('points.json', JSON.stringify([1, 2, 3].map((theta) => ({ theta, note: names[0] }))))
  const rotation =
    'OPENQASM 3.0;\ninclude "stdgates.inc";\ninput float theta;\nqubit q; bit c;\nrx(theta) q;\nc = measure q;\n'
  sweep = JSON.parse(
    await done(
      'submit',
      ada.file('rotation.qasm', rotation),
      '--points',
      points,
      '--name',
      names[1]!,
      '--wait',
      '--json'
    )
  ).id
  const made = await done('capsule', 'from-job', job, '--name', names[1]!, '--description', names[0]!, '--json')
  capsule = JSON.parse(made).capsule_id
  const code = ada.file('one.py', 'from qiskit import QuantumCircuit\ncircuit = QuantumCircuit(1)\n')
  const program = JSON.parse(await done('submit', code, '--framework', 'qiskit', '--wait', '--json')).id
  await done('scripts', 'from-job', program, '--name', names[1]!, '--description', names[0]!, '--slug', 'a-script')
}, 120_000)

afterAll(async () => {
  ada?.remove()
  await service?.close()
})

const commands = (): string[][] => [
  ['jobs'],
  ['job', job],
  ['job', job, '--attempts'],
  ['job', job, '--tasks'],
  ['job', sweep],
  ['job', sweep, '--result'],
  ['compare', job, other],
  ['compare', sweep, sweep],
  ['estimate', 'local'],
  ['estimate', 'auto', '--simulator'],
  ['estimate', 'ionq-direct-forte-1', '--qubits', '99'],
  ['backends', '--all'],
  ['budget'],
  ['whoami'],
  ['team', 'list'],
  ['member', 'list'],
  ['key', 'list'],
  ['usage'],
  ['sessions', 'list'],
  ['profile', 'show'],
  ['artifacts', job],
  ['scripts', 'list'],
  ['scripts', 'templates'],
  ['scripts', 'show', 'a-script'],
  ['capsule', 'list'],
  ['capsule', 'show', capsule],
  ['audit', 'list'],
  ['audit', 'verify'],
  ['job', capsule],
  ['jobs', '--status', 'done'],
  ['submit', '--help']
]

/** The columns that a character takes, by the tables of Unicode and not by those of the program. */
const columnsOf = (char: string): number => {
  if (/\p{M}/u.test(char)) return 0
  return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u30ff]/u.test(char) ? 2 : 1
}
const ownColours = new RegExp(`${'\x1b'}\\[\\d+m`, 'g')
const widthOf = (line: string): number => [...line].reduce((sum, char) => sum + columnsOf(char), 0)

test.each([60, 80, 120])(
  'no command writes a line that is wider than a terminal of %i columns',
  async (columns) => {
    const tooWide: string[] = []
    for (const args of commands()) {
      const { stdout } = await ada.onTerminal(args, 'never shown', '', { columns, env: { TERM: 'xterm-256color' } })
      expect([args, stdout]).toEqual([args, expect.stringMatching(/\w/)])
      // Nothing but the colours of qjob itself reaches the terminal, and no half of a character.
      expect(stdout.replace(ownColours, '')).not.toMatch(/(?![\r\n])\p{C}/u)
      expect(stdout.isWellFormed()).toBe(true)
      for (const line of stripVTControlCharacters(stdout).split(/\r?\n/))
        if (widthOf(line) > columns) tooWide.push(`${args.join(' ')}: ${line}`)
    }
    expect(tooWide).toEqual([])
  },
  120_000
)

test('a terminal of 120 columns shows more than one of 60, and a file everything', async () => {
  const [narrow, wide] = await Promise.all(
    [60, 120].map((columns) => ada.onTerminal(['jobs'], 'never shown', '', { columns }))
  )
  expect(narrow!.stdout).not.toContain('RAN')
  expect(wide!.stdout).toContain('RAN')
  expect(wide!.stdout).toContain('…')
  const { stdout } = await ada.run(['jobs'])
  expect(stdout).toContain(names[0])
  expect(stdout).toContain(job)
  expect(stdout).toMatch(/ID +STATUS +BACKEND +MODE +SUBMITTED +RAN +COST +NAME +SUMMARY/)
})

test('statuses have colours on a terminal only, and not with NO_COLOR or --json', async () => {
  const green = '\x1b[32mcompleted\x1b[39m'
  const env = { TERM: 'xterm-256color' }
  expect((await ada.onTerminal(['job', job], 'never shown', '', { env })).stdout).toContain(green)
  const without = await ada.onTerminal(['job', job], 'never shown', '', { env: { ...env, NO_COLOR: '1' } })
  expect(without.stdout).not.toContain('\x1b[')
  const json = await ada.onTerminal(['job', job, '--json'], 'never shown', '', { env })
  expect(json.stdout).not.toContain('\x1b[')
  expect(JSON.parse(json.stdout).id).toBe(job)
  const file = await ada.run(['job', job], '', { ...env, FORCE_COLOR: '1' })
  expect(file.stdout).not.toContain('\x1b[')
})
