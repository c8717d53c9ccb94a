// The tests of the Python package, clients/python, run by pytest against a platform and the wheel that users install.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { everything } from '../support/lane.js'
import { installedPythonPackage, python, pythonPackage } from '../support/python-package.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'

/** PennyLane's own tests of devices, in the long lane, submit thousands of jobs. */
const LIMIT_MS = everything ? 1_800_000 : 300_000

let platform: Platform
let installed: string
let key: string
beforeAll(async () => {
  installed = installedPythonPackage()
  platform = await startPlatform('python_package')
  const body = { name: 'python', tier: 'simulate', kind: 'live' }
  key = ((await (await platform.call('POST', '/api/team/api-keys', body)).json()) as { key: string }).key
}, 90_000)
afterAll(async () => {
  if (installed) rmSync(dirname(installed), { recursive: true })
  await platform?.close()
})

/** @returns the exit code, and everything that pytest printed. */
async function pytest(...args: string[]): Promise<{ code: number | null; output: string }> {
  const env = { PATH: process.env.PATH!, HOME: dirname(installed), PYTHONPATH: installed }
  const child = spawn(python, ['-m', 'pytest', ...args], {
    // Away from the sources, which would be imported instead of the wheel.
    cwd: dirname(installed),
    env: { ...env, QJOB_URL: platform.url(), QJOB_KEY: key, QJS_WHEEL: installed },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text
    })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, output }
}

const config = ['-c', join(pythonPackage, 'pyproject.toml'), '--import-mode=importlib', '-p', 'no:cacheprovider', '-rs']

test(
  'the Python package keeps its promises against a running service',
  async () => {
    const lane = everything ? [] : ['-m', 'not long']
    const { code, output } = await pytest(...config, ...lane, join(pythonPackage, 'tests'))
    expect([code, code === 0 || output]).toEqual([0, true])
  },
  LIMIT_MS
)
