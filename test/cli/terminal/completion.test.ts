// What a shell completes, asked of the shells that are installed.
import { execFileSync, spawnSync } from 'node:child_process'
import { afterAll, expect, test } from '@jest/globals'
import { program, Shell } from '../qjob.js'

const shell = new Shell()
afterAll(() => shell.remove())

const cases: [line: string[], completed: string[]][] = [
  [['qjob', 'cap'], ['capsule']],
  [['qjob', 'capsule', 'sh'], ['show']],
  [['qjob', 'jobs', '--stat'], ['--status']],
  [['qjob', 'jobs', '--status', 'dis'], ['dispatch_failed']],
  [['qjob', 'jobs', '--limit', '5', '--min'], ['--mine']],
  [['qjob', 'member', 'role', 'a@example.org', 'adm'], ['admin']],
  [
    ['qjob', 'completion', ''],
    ['bash', 'zsh', 'fish', '--help']
  ],
  [['qjob', 'job', '--backend', ''], []]
]

const script = (name: string): string =>
  execFileSync(process.execPath, [program, 'completion', name], { encoding: 'utf8' })
const isInstalled = (name: string): boolean => spawnSync(name, ['-c', 'exit']).status === 0

test('bash completes commands, options and their values', () => {
  const file = shell.file('qjob.bash', script('bash'))
  for (const [line, completed] of cases.slice(0, -1)) {
    const asked = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _qjob; printf '%s\\n' "\${COMPREPLY[@]}"`
    const shown = execFileSync('bash', ['-c', asked, 'bash', file, ...line], { encoding: 'utf8' })
    expect([line, shown.split('\n').filter(Boolean)]).toEqual([line, completed])
  }
})

for (const name of ['fish', 'zsh'].filter(isInstalled))
  test(`${name} reads its script, and fish completes the same`, () => {
    const file = shell.file(`qjob.${name}`, script(name))
    expect(spawnSync(name, ['-n', file]).status).toBe(0)
    if (name !== 'fish') return
    for (const [line, completed] of cases.slice(0, 4)) {
      const asked = ['-c', `source ${file}; complete -C "${line.join(' ')}" | string split -f1 \\t`]
      expect(execFileSync(name, asked, { encoding: 'utf8' }).trim().split('\n')).toEqual(completed)
    }
  })
