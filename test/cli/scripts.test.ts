// `qjob scripts` against the real service, from saving a script to deleting it.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { longTest } from '../support/lane.js'
import { type Shell, startService } from './qjob.js'
import { signedUp } from './signed-up.js'

const scan = `from marqov import Circuit, get_device, task, workflow

@task(retries=1)
def ones(theta, shots, backend):
    counts = get_device({"backend": backend}).run(Circuit().ry(theta, 0), shots)
    return counts.get("1", 0)

@workflow
def scan(shots, backend):
    return {"off": ones(0, shots, backend), "on": ones(3.141592653589793, shots, backend)}
`

let service: Awaited<ReturnType<typeof startService>>
let ada: Shell
let eve: Shell

beforeAll(async () => {
  service = await startService('scripts', { RATE_LIMIT_SCALE: '0' })
  ;[ada, eve] = await Promise.all([signedUp(service, 'ada@example.org'), signedUp(service, 'eve@example.org')])
}, 120_000)

afterAll(async () => {
  ada?.remove()
  eve?.remove()
  await service?.close()
})

/** Runs a command that must succeed and returns its standard output. */
async function done(shell: Shell, args: string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await shell.run(['scripts', ...args], input)
  expect([args, code, stderr]).toEqual([args, 0, expect.not.stringContaining('qjob: ')])
  return stdout
}
const json = async (shell: Shell, args: string[], input = '') =>
  JSON.parse(await done(shell, [...args, '--json'], input))

async function refused(shell: Shell, args: string[], code: number, reason: string): Promise<void> {
  const ended = await shell.run(['scripts', ...args])
  expect([args, ended.code, ended.stdout]).toEqual([args, code, ''])
  expect(ended.stderr).toContain(reason)
}

longTest(
  'a script is saved, shown and run by its slug, and its jobs are listed',
  async () => {
    const file = ada.file('angle-scan.py', scan)
    const kept = await done(ada, ['upload', file, '--description', 'Two angles'])
    expect(kept).toMatch(/^script [0-9a-f-]{36}: angle-scan, a workflow\nRun it with: qjob scripts run angle-scan\n$/)
    const id = kept.slice('script '.length, 'script '.length + 36)

    const shown = await done(ada, ['show', 'angle-scan'])
    expect(shown).toMatch(new RegExp(`^script +${id}$`, 'm'))
    expect(shown).toMatch(/^type +workflow, marqov$/m)
    expect(shown).toMatch(/^functions +@task ones\(theta, shots, backend\), @workflow scan\(shots, backend\)$/m)
    expect(shown).toContain('\n\nTwo angles\n')
    expect(await done(ada, ['show', id, '--source'])).toBe(scan)

    const ran = await ada.run(['scripts', 'run', 'angle-scan', '--shots', '100', '--mode', 'temporal'])
    expect([ran.code, ran.stdout]).toEqual([0, 'off  0\non   100\n'])
    const job = /qjob job (\S+)/.exec(ran.stderr)![1]!
    expect((await ada.run(['job', job])).stdout).toMatch(
      new RegExp(`^source +script ${id} version 1, marqov, sha256 `, 'm')
    )
    const bySlug = await ada.run(['run', '--script-slug', 'angle-scan', '--shots', '50', '--json'])
    expect(JSON.parse(bySlug.stdout)).toMatchObject({ off: 0, on: 50 })
    const byId = await ada.run(['run', '--script-id', id, '--shots', '60', '--json'])
    expect(JSON.parse(byId.stdout)).toMatchObject({ off: 0, on: 60 })

    const { jobs } = JSON.parse((await ada.run(['jobs', '--script', id, '--json'])).stdout)
    expect(jobs.map((one: { id: string }) => one.id)).toContain(job)
    expect(jobs).toHaveLength(3)
    expect(await done(ada, ['list', '--mine'])).toMatch(new RegExp(`^${id} +angle-scan +workflow +private +3 +`, 'm'))
    expect(await done(ada, ['show', id])).toMatch(new RegExp(`^${job} +completed +local +`, 'm'))
  },
  90_000
)

test('errors in a program are reported with their line, and doubts as warnings', async () => {
  await refused(ada, ['upload', ada.file('broken.py', 'def main(:\n')], 4, 'line 1')
  await refused(ada, ['upload', ada.file('empty.py', ' \n')], 2, 'must not be empty')
  await refused(ada, ['upload', '-'], 2, '--name: is required for a script from standard input')
  await refused(ada, ['upload', 'x.py', '--type', 'capsule'], 2, 'Allowed choices are script, task, workflow.')
  const doubtful = await done(
    ada,
    ['upload', '-', '--name', 'doubt'],
    'import requests, marqov\ncircuit = marqov.bell_state()\n'
  )
  expect(doubtful).toMatch(/^warning: .*requests/m)
  const requirements = ada.file('requirements.txt', '-r other.txt\n')
  await refused(ada, ['upload', ada.file('ok.py', scan), '--requirements', requirements], 4, 'line 1')
})

test('a change makes a new version, and jobs keep the version that they ran', async () => {
  const { script_id: id } = await json(ada, ['upload', ada.file('versions.py', scan)])
  expect(await done(ada, ['update', id, '--name', 'Renamed'])).toBe(`script ${id} is at version 1\n`)
  expect(await done(ada, ['update', 'versions', '--content', '-'], scan.replace('"on"', '"one"'))).toBe(
    `script ${id} is at version 2\n`
  )
  const requirements = ada.file('numpy.txt', 'numpy>=1\n')
  expect(await json(ada, ['update', id, '--requirements', requirements])).toMatchObject({
    name: 'Renamed',
    version: 3,
    requirements: 'numpy>=1\n'
  })
  expect(await json(ada, ['update', id, '--no-requirements'])).toMatchObject({ version: 4, requirements: null })
  await refused(ada, ['update', id], 2, 'nothing to change')
})

longTest(
  'an analysis shows whether a script can run and its cost; the script runs only if unchanged since',
  async () => {
    const { script_id: id } = await json(ada, ['upload', ada.file('analysed.py', `import requests\n${scan}`)])
    const analysis = await done(ada, ['analyse', id, '--shots', '10'])
    expect(analysis).toMatch(/^can run +yes$/m)
    expect(analysis).toMatch(/^cost +\$0\.00 estimated$/m)
    const { analysis_id, checks } = await json(ada, ['analyse', id, '--shots', '10'])
    const warnings = checks.filter((check: { level: string }) => check.level === 'warning')
    expect(warnings.length).toBeGreaterThan(0)
    const run = ['run', id, '--shots', '10', '--no-wait', '--analysis', analysis_id]
    await refused(ada, run, 4, `need your consent: ${warnings[0].id}`)
    const consents = warnings.flatMap((check: { id: string }) => ['--consent', check.id])
    expect(await done(ada, [...run, ...consents])).toMatch(/^job /)
    await refused(
      ada,
      ['run', id, '--shots', '11', '--no-wait', '--analysis', analysis_id, ...consents],
      4,
      'params.shots 10'
    )
    await refused(ada, ['run', id, '--consent', 'x'], 2, '--consent: needs --analysis')

    const away = await ada.run(['scripts', 'analyse', id, '--backend', 'ionq-forte-1'])
    expect(away.code).toBe(1)
    expect(away.stdout).toMatch(/^can run +no$/m)
    expect(away.stdout).toMatch(/^error /m)
    const options = await done(ada, ['options', id, '--shots', '1000'])
    expect(options).toMatch(/^local +.* +\$0\.00 {2}available$/m)
    expect(options).toMatch(/^ionq-forte-1 +.* +\$10\.30 {2}(?!available)\S/m)
  }
)

longTest('the code of a completed job becomes a script', async () => {
  const ran = await ada.run(['run', ada.file('once.py', scan), '--no-wait', '--json'])
  const { job_id } = JSON.parse(ran.stdout)
  await ada.run(['job', job_id, '--wait'])
  const saved = await done(ada, ['from-job', job_id, '--name', 'Écran of once', '--description', 'From a job'])
  const id = saved.slice('script '.length, 'script '.length + 36)
  expect(await json(ada, ['show', 'ecran-of-once'])).toMatchObject({ id, script_content: scan, name: 'Écran of once' })
  const again = ['from-job', job_id, '--name', 'Écran of once', '--description', 'Again']
  await refused(ada, again, 4, 'ecran-of-once')
  expect(await done(ada, [...again, '--slug', 'another-slug'])).toMatch(/^script /)
  await refused(ada, ['from-job', 'x', '--name', 'n', '--description', 'd'], 2, '"x" is not the id of a job')
})

longTest(
  'a private script is visible to its team; a published one can be run by all users and changed by none',
  async () => {
    const { script_id: id } = await json(ada, ['upload', ada.file('shared.py', scan)])
    await refused(eve, ['show', id], 4, 'no such script')
    await refused(eve, ['show', 'shared'], 4, 'no script has the slug or id "shared"')
    await refused(eve, ['run', id, '--no-wait'], 4, 'no such script')
    expect(await done(ada, ['publish', 'shared'])).toBe(`script ${id} is published\n`)
    expect(await done(eve, ['show', id])).toMatch(/^type +workflow, marqov, published$/m)
    expect(JSON.parse(await done(eve, ['run', id, '--shots', '7', '--json']))).toMatchObject({ on: 7 })
    await refused(eve, ['update', id, '--name', 'mine'], 4, 'qjob: ')
    await refused(ada, ['update', id, '--name', 'again'], 4, 'publish')
    await refused(ada, ['delete', id], 4, 'publish')

    // One's own slug takes precedence over that of another user.
    const { script_id: own } = await json(eve, ['upload', eve.file('shared.py', scan)])
    expect((await json(eve, ['show', 'shared'])).id).toBe(own)
    expect(await done(eve, ['delete', 'shared'])).toBe(`script ${own} is deleted\n`)
    await refused(eve, ['show', own], 4, 'no such script')
  }
)

test('every user can list templates and run them by their slug', async () => {
  const templates = await done(eve, ['templates'])
  expect(templates).toMatch(/^SLUG +TYPE +DESCRIPTION\n/)
  expect(templates).toMatch(/^bell-state +/m)
  const { scripts } = await json(eve, ['templates'])
  expect(scripts.every((script: { is_hardcoded: boolean }) => script.is_hardcoded)).toBe(true)
  const { counts } = await json(eve, ['run', 'bell-state', '--shots', '100'])
  expect(Object.keys(counts).sort()).toEqual(['00', '11'])
  await refused(eve, ['update', 'bell-state', '--name', 'mine'], 4, 'qjob: ')
})

longTest('the list of scripts is paged', async () => {
  const { scripts, total } = await json(ada, ['list', '--limit', '100'])
  expect(total).toBeGreaterThan(5)
  const page = await done(ada, ['list', '--limit', '2'])
  expect(page.split('\n')[1]).toContain(scripts[0].id)
  expect(page).toContain(`\n2 of ${total}; more: --offset 2\n`)
  expect((await done(ada, ['list', '--limit', '2', '--offset', '2'])).split('\n')[1]).toContain(scripts[2].id)
  const tasks = await json(ada, ['list', '--type', 'workflow', '--mine'])
  expect(tasks.scripts.every((script: { script_type: string }) => script.script_type === 'workflow')).toBe(true)
  expect(await done(eve, ['list', '--mine', '--type', 'task'])).toBe('No scripts.\n')
  await refused(ada, ['list', '--limit', '101'], 4, 'limit')
})
