// The public client `marqov` as it is published, against the service: api, worker and executor as processes of their own.
// It is used as a program of a user would use it; test/marqov/driver.py runs what stands in these checks.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import type { HttpAnswer } from '../support/jobs/marqov.js'
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

/** The client needs Python 3.12; the service itself does with 3.11. */
const probe =
  'import importlib.util, sys; print(importlib.util.find_spec("marqov") is not None, sys.version_info >= (3, 12))'
const python = spawnSync(join(projectRoot, '.venv/bin/python'), ['-c', probe], { encoding: 'utf8' })
const [installed, installable] = python.stdout
  .trim()
  .split(' ')
  .map((word) => word === 'True')

test('the client is installed wherever Python is new enough for it', () => {
  expect(python.stderr).toBe('')
  expect(installed).toBe(installable)
})

if (installed) {
  let scene: Scene
  let begun: LongWaits
  beforeAll(async () => {
    scene = await startScene()
    begun = beginLongWaits(scene)
  }, 60_000)
  afterAll(() => scene?.close())

  describe('in short', () => checkContract(() => scene))
  describe('submitting', () => checkSubmitting(() => scene))
  describe('scripts', () => checkScripts(() => scene))
  describe('native programs', () => checkNative(() => scene))
  describe('values', () => checkValues(() => scene))
  describe('refusals', () => checkRefusals(() => scene))
  describe('retries', () => checkRetries(() => scene))
  // After what passes its time; the limited api is not there while it restarts.
  describe('waiting', () =>
    checkWaiting(
      () => scene,
      () => begun
    ))
  describe('limits', () => checkLimits(() => scene))

  test('no answer to the client was a redirect, a page or nothing at all', () => {
    const { answers } = scene.python
    expect(answers.length).toBeGreaterThan(200)
    const ofProxy = ({ status, type }: HttpAnswer) => status > 500 && type === 'text/html'
    const fine = ({ status, type }: HttpAnswer) =>
      type?.startsWith('application/json') && (status >= 400 || [200, 201, 202].includes(status))
    expect(answers.filter((answer) => !ofProxy(answer) && !fine(answer))).toEqual([])
  })
}
