// `qjob capsule` against the real service, from a YAML file to a package that is verified offline.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { longTest } from '../support/lane.js'
import { type Shell, startService } from './qjob.js'
import { signedUp } from './signed-up.js'

/** Two tasks; the second takes the counts of the first. */
const guide = /```yaml\n([\s\S]*?)```/.exec(readFileSync(join(projectRoot, 'docs/capsules/capsules.md'), 'utf8'))![1]!

const keyRing = `cli:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`

let service: Awaited<ReturnType<typeof startService>>
let ada: Shell

beforeAll(async () => {
  service = await startService('cli_capsules', { RATE_LIMIT_SCALE: '0', SECRETS_KEYS: keyRing })
  ada = await signedUp(service, 'ada@example.org')
}, 120_000)

afterAll(async () => {
  ada?.remove()
  await service?.close()
})

/** Runs a command that must succeed and returns its standard output. */
async function done(args: string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await ada.run(['capsule', ...args], input)
  expect([args, code, stderr]).toEqual([args, 0, expect.not.stringContaining('qjob: ')])
  return stdout
}
const json = async (args: string[], input = '') => JSON.parse(await done([...args, '--json'], input))

async function refused(args: string[], code: number, reason: string): Promise<void> {
  const ended = await ada.run(['capsule', ...args])
  expect([args, ended.code, ended.stderr]).toEqual([args, code, expect.stringContaining(reason)])
}

const at = (name: string): string => join(ada.folder, name)

longTest(
  'a file becomes a draft that is run, sealed, exported, verified offline, and imported again',
  async () => {
    const made = await done(['create', ada.file('bell.yaml', guide)])
    const id = /^capsule ([0-9a-f-]{36})\nShow it with: qjob capsule show \1\n$/.exec(made)![1]!
    expect(await done(['show', id])).toMatch(/^task +bell on local, its own program, openqasm$/m)
    await refused(['seal', id, '--exit-code', '0'], 4, '')
    await refused(['run', id], 2, '--mode: must be template')

    const run = await done(['run', id, '--mode', 'template', '--wait'])
    expect(run).toMatch(/^status +completed$/m)
    expect(run).toMatch(/^task +bell on local, 2000 shots: completed, job [0-9a-f-]{36}$/m)
    expect(run).toMatch(/^task +mirror on local, 2000 shots: completed, job [0-9a-f-]{36}$/m)
    expect(await done(['runs', id])).toMatch(/ template +request +completed +/)

    const sealed = await json(['seal', id, '--exit-code', '0', '--exit-message', 'fine'])
    expect([sealed.state, sealed.seal.exit_message]).toEqual(['sealed', 'fine'])
    const { capsule_digest } = sealed.seal
    expect(await done(['show', id])).toMatch(new RegExp(`^identity +${capsule_digest}$`, 'm'))

    expect(await json(['export', id, '--attestation', at('bell.json')])).toEqual({
      file: 'bell-pair-and-its-mirror.capsule',
      size_bytes: readFileSync(at('bell-pair-and-its-mirror.capsule')).length,
      attestation: at('bell.json')
    })
    await refused(['export', id], 2, 'bell-pair-and-its-mirror.capsule: already exists; --force overwrites it')
    const both = ['export', id, '--attestation', at('other.json')]
    await refused(both, 2, 'bell-pair-and-its-mirror.capsule: already exists')
    expect(existsSync(at('other.json'))).toBe(false)
    await refused(['export', id, '--force', '-o', at('x'), '--attestation', `${ada.folder}/./x`], 2, '--attestation')
    await refused(['export', id, '--attestation', '-'], 2, '--attestation -')
    await refused(['export', id, '-o', ada.folder, '--force'], 2, 'cannot be written (EISDIR)')
    await done(['export', id, '--format', 'rocrate', '-o', at('bell.zip')])
    const [key] = (
      (await (await fetch(`${service.url}/api/meta/keys`)).json()) as { keys: { public_key_pem: string }[] }
    ).keys
    writeFileSync(at('key.pem'), key!.public_key_pem)
    for (const [name, args] of [
      ['keys.txt', ['signing-keys']],
      ['keys.json', ['signing-keys', '--json']]
    ] as const)
      writeFileSync(at(name), (await ada.run([...args])).stdout)

    // Offline.
    const offline = { QJOB_URL: 'http://127.0.0.1:1' }
    const verify = (...args: string[]) => ada.run(['capsule', 'verify', ...args], '', offline)
    for (const args of [
      ['bell-pair-and-its-mirror.capsule', '--id', capsule_digest],
      ['bell-pair-and-its-mirror.capsule', '--attestation', 'bell.json', '--key', 'key.pem'],
      ['bell.zip', '--key', 'key.pem'],
      ['bell.zip', '--key', 'keys.txt'],
      ['bell.zip', '--key', 'keys.json']
    ]) {
      const { code, stdout } = await verify(...args, '--json')
      expect([args, code, JSON.parse(stdout)]).toMatchObject([
        args,
        0,
        { ok: true, authenticated: true, capsule_digest }
      ])
    }
    const alone = await verify('bell-pair-and-its-mirror.capsule')
    expect([alone.code, alone.stdout]).toEqual([0, expect.stringContaining('pass --id, or --key')])

    const other = await verify('bell-pair-and-its-mirror.capsule', '--id', `mqc:1:${'0'.repeat(64)}`)
    expect([other.code, other.stdout]).toEqual([1, expect.stringMatching(/NOT verified[\s\S]*^identity +WRONG: /m)])
    const tar = gunzipSync(readFileSync(at('bell-pair-and-its-mirror.capsule')))
    const place = tar.indexOf('OPENQASM')
    tar[place] = tar[place]! ^ 1
    writeFileSync(at('changed.capsule'), gzipSync(tar))
    const changed = await verify('changed.capsule')
    expect([changed.code, changed.stderr]).toEqual([1, expect.stringContaining('qjob: changed.capsule: ')])
    await refused(['import', at('changed.capsule')], 4, '')

    const back = await json(['import', at('bell.zip')])
    expect([back.state, back.warnings]).toEqual(['draft', []])
    const again = await json(['show', back.capsule_id])
    expect([again.definition_sha256, again.derived_from]).toEqual([sealed.definition_sha256, capsule_digest])
    await done(['delete', back.capsule_id])
  },
  180_000
)

longTest(
  'a job becomes a capsule, and the exit code of its verification shows whether the results match',
  async () => {
    const job = JSON.parse(
      (await ada.run(['submit', ada.file('b.qasm', qasm), '--seed', '7', '--wait', '--json'])).stdout
    ).id
    const id = (await json(['from-job', job, '--name', 'From a job', '--tag', 'x'])).capsule_id
    await done(['seal', id, '--exit-code', '0', '--margin', '0.2'])
    await refused(['run', id, '--backend', 'local'], 2, '--mode: must be template')
    const verified = await json(['run', id, '--wait'])
    expect(verified.mode).toBe('verify')
    expect([verified.status, verified.verdict]).toEqual(['completed', 'exact'])
    const shown = await done(['runs', id, '--run', verified.id])
    expect(shown).toMatch(/^verdict +exact$/m)

    const published = ['publish', id, '--title', 'A title', '--description', 'what it is', '--license', 'Apache-2.0']
    expect((await json(published)).state).toBe('published')
    expect(await done(['list', '--published'])).toMatch(new RegExp(`^${id} .* Apache-2\\.0 +a-title +A title$`, 'm'))
    expect(await done(['show', 'a-title'])).toMatch(new RegExp(`^capsule +${id}\\ntitle +A title$`, 'm'))
    const copy = (await json(['clone', id, '--name', 'a copy'])).capsule_id
    expect(await done(['list', '--state', 'draft'])).toContain(copy)
    await refused(['archive', id], 4, 'published')
    await refused(['delete', id], 4, 'published')
  },
  120_000
)

test('wrong arguments are refused before any request, and a wrong file with its line', async () => {
  await refused(
    ['create', ada.file('wrong.yaml', 'name: x\ntasks:\n  - name: a\n')],
    4,
    'line 3: tasks[0].backend: is required'
  )
  await refused(['show', 'X'], 2, '"X" is not the id of a capsule')
  await refused(['show', 'x'], 4, 'no published capsule has this slug')
  await refused(['run', 'x'], 2, '"x" is not the id of a capsule')
  await refused(['run', '00000000-0000-4000-8000-000000000000'], 4, 'no such capsule')
  await refused(['seal', '00000000-0000-4000-8000-000000000000', '--exit-code', '0', '--margin', '2'], 2, 'from 0 to 1')
  await refused(['verify', 'none.capsule'], 2, 'cannot be read (ENOENT)')
  await refused(['verify', ada.file('text.capsule', 'hello')], 1, 'neither')
  await refused(['verify', ada.file('text.capsule', 'hello'), '--id', 'mqc:2:0'], 2, 'must be mqc:1:')
  await refused(['show', '00000000-0000-4000-8000-000000000000'], 4, 'no such capsule')
}, 60_000)

const qasm = 'OPENQASM 3.0;\ninclude "stdgates.inc";\nqubit[2] q;\nh q[0];\ncx q[0], q[1];\n'
