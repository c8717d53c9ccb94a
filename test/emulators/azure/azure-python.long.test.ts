// Microsoft's own Python client, unmodified, works with the emulated Azure over TLS; and the emulator finds what the readers of
// qiskit and the matrices of the providers find, which test/emulators/azure/azure-programs.test.ts checks gate by gate.
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { type Emulators, startEmulators } from '../../../apps/emulators/emulators.js'
import { Shell } from '../../cli/qjob.js'
import { eventually } from '../../support/eventually.js'

const LOADING_MS = 400_000
const program = join(projectRoot, '.venv/bin/python')

/** The client needs Python 3.12; the service itself needs only 3.11. */
const probe =
  'import importlib.util, sys; print(importlib.util.find_spec("marqov") is not None, sys.version_info >= (3, 12))'
const python = spawnSync(program, ['-c', probe], { encoding: 'utf8' })
const [installed, installable] = python.stdout
  .trim()
  .split(' ')
  .map((word) => word === 'True')

test("Microsoft's client is installed if Python is new enough for it", () => {
  expect(python.stderr).toBe('')
  expect(installed).toBe(installable)
})

if (installed) {
  const folder = mkdtempSync(join(tmpdir(), 'azure-tls-'))
  const certificate = join(folder, 'cert.pem')
  let emulators: Emulators

  // biome-ignore lint/suspicious/noExplicitAny: what the script prints
  async function run(script: string, args: string[], env: Record<string, string>, input = ''): Promise<any> {
    const running = promisify(execFile)(program, [join(projectRoot, 'test/emulators/python', script), ...args], {
      env: { PATH: process.env.PATH, ...env },
      timeout: LOADING_MS,
      maxBuffer: 64 << 20
    })
    running.child.stdin!.end(input)
    const { stdout } = await running
    return stdout === '' ? null : JSON.parse(stdout)
  }

  beforeAll(async () => {
    await run('azure_certificate.py', [folder], {})
    const tls = { cert: readFileSync(certificate, 'utf8'), key: readFileSync(join(folder, 'key.pem'), 'utf8') }
    emulators = await startEmulators({ tls })
  }, LOADING_MS)
  afterAll(async () => {
    await emulators?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  test('qjob emulators speaks TLS with the files of a certificate', async () => {
    const shell = new Shell()
    const files = ['--tls-cert', certificate, '--tls-key', join(folder, 'key.pem')]
    const run = shell.start(['emulators', '--json', ...files])
    const line = await eventually(() => /^.*\n/.exec(run.output.stdout)?.[0] ?? null)
    const { providers } = JSON.parse(line) as { providers: { base_url: string; control_url: string }[] }
    for (const { base_url, control_url } of providers)
      expect([new URL(base_url).protocol, new URL(control_url).protocol]).toEqual(['https:', 'http:'])
    run.signal('SIGTERM')
    expect((await run.ended).code).toBe(0)
    const wrong = await shell.run(['emulators', '--tls-cert', certificate, '--tls-key', certificate])
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('must be a certificate and its key in PEM')])
    shell.remove()
  })

  test(
    "Microsoft's client finds its workspace, submits, reads results, lists and cancels",
    async () => {
      const { base_url, control_url, credentials } = emulators.provider('azure-quantum')
      expect(base_url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/)
      const found = await run(
        'azure_client.py',
        [base_url, control_url],
        { REQUESTS_CA_BUNDLE: certificate },
        JSON.stringify(credentials)
      )
      expect(found.location).toBe('eastus')
      expect(found.targets).toEqual({
        'ionq.simulator': 'Available',
        'ionq.qpu.forte-1': 'Available',
        'quantinuum.qpu.h2-1': 'Available',
        'quantinuum.sim.h2-1sc': 'Available',
        'quantinuum.sim.h2-1e': 'Available',
        'rigetti.sim.qvm': 'Available'
      })
      expect(found.quotas).toEqual(['hqc'])
      expect(found.simulator).toEqual({ status: 'Succeeded', results: { histogram: { '1': 1 } } })
      expect(found.forte).toEqual(found.simulator)
      expect(found.quantinuum).toEqual({ results: { c: ['001', '001', '001'] }, cost: 0.33 })
      expect(found.rigetti).toEqual([
        [1, 0, 0],
        [1, 0, 0]
      ])
      expect(found.failed).toEqual(['Failed', 'CompilationError', expect.stringContaining('unknown gate iswap')])
      expect(found.twice).toBe(409)
      expect(found.all).toBe(6)
      expect(found.expired).toEqual({ histogram: { '1': 1 } })
      expect(found.cancelled).toEqual({
        asked: expect.stringMatching(/^Cancel/),
        status: 'Cancelled',
        found: true
      })
      expect(found.refused).toEqual(['ClientAuthenticationError', expect.stringContaining('AADSTS7000215')])
    },
    LOADING_MS
  )
}
