// The published client `marqov` against the service, with api, worker and executor as separate processes. It is used as in a
// user's program; test/marqov/driver.py runs the Python code of these checks.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import type { HttpAnswer } from '../support/jobs/marqov.js'
import { everything } from '../support/lane.js'
import { checkContract } from './contract.js'
import { checkLimits } from './limits.js'
import { checkNative } from './native.js'
import { checkRefusals } from './refusals.js'
import { checkRetries } from './retries.js'
import { type Scene, startScene } from './scene.js'
import { checkScripts } from './scripts.js'
import { checkSubmitting } from './submitting.js'
import { checkValues } from './values.js'
import { beginLongWaits, checkWaiting, type LongWaits } from './waiting.js'

/** The client needs Python 3.12; the service itself needs only 3.11. */
const probe =
  'import importlib.util, sys; print(importlib.util.find_spec("marqov") is not None, sys.version_info >= (3, 12))'
const python = spawnSync(join(projectRoot, '.venv/bin/python'), ['-c', probe], { encoding: 'utf8' })
const [installed, installable] = python.stdout
  .trim()
  .split(' ')
  .map((word) => word === 'True')

test('the public client is installed if Python is new enough for it', () => {
  expect(python.stderr).toBe('')
  expect(installed).toBe(installable)
})

if (installed) {
  let scene: Scene
  let begun: LongWaits
  beforeAll(async () => {
    scene = await startScene()
    if (everything) begun = beginLongWaits(scene)
  }, 180_000)
  afterAll(() => scene?.close())

  describe('the contract of the public client', () => checkContract(() => scene))
  describe('submitting with the public client', () => checkSubmitting(() => scene))
  describe('scripts with the public client', () => checkScripts(() => scene))
  describe('native programs with the public client', () => checkNative(() => scene))
  describe('values for the public client', () => checkValues(() => scene))
  describe('refusals to the public client', () => checkRefusals(() => scene))
  describe('retries of the public client', () => checkRetries(() => scene))
  // After the other tests, which use the time of the long waits; the limited api is away while it restarts.
  describe('waiting with the public client', () =>
    checkWaiting(
      () => scene,
      () => begun
    ))
  describe('rate limits for the public client', () => checkLimits(() => scene))

  test('the public client never received a redirect, a page or an empty response', () => {
    const { answers } = scene.python
    expect(answers.length).toBeGreaterThan(everything ? 200 : 100)
    const ofProxy = ({ status, type }: HttpAnswer) => status > 500 && type === 'text/html'
    const fine = ({ status, type }: HttpAnswer) =>
      type?.startsWith('application/json') && (status >= 400 || [200, 201, 202].includes(status))
    expect(answers.filter((answer) => !ofProxy(answer) && !fine(answer))).toEqual([])
  })
}
