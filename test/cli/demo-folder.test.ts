// `npm run demo` never writes into the data folder of a service.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { demoEnvironment, demoFolder } from '../../apps/cli/demo/demo-folder.js'
import { Shell } from './qjob.js'

const folder = mkdtempSync(join(tmpdir(), 'qjs-demo-'))
let shell: Shell
beforeAll(() => {
  shell = new Shell()
})
afterAll(() => {
  shell.remove()
  rmSync(folder, { recursive: true })
})

test('a demo with DATA_DIR of a service names it, exits with 1, and writes nothing', async () => {
  const own = join(folder, 'of a service')
  mkdirSync(join(own, 'keys'), { recursive: true })
  writeFileSync(join(own, 'stack.json'), '{}')
  const { code, stdout, stderr } = await shell.run(['demo'], '', { DATA_DIR: own })
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain(`DATA_DIR=${own} was not created by the demo`)
  expect(readdirSync(own)).toEqual(['keys', 'stack.json'])
})

test('a folder that a demo has made serves the next one, and so does an empty or a new one', () => {
  const made = join(folder, 'new')
  expect(demoFolder(made)).toBe(made)
  writeFileSync(join(made, 'stack.json'), '{}')
  expect(demoFolder(made)).toBe(made)
  const empty = join(folder, 'empty')
  mkdirSync(empty)
  expect(demoFolder(empty)).toBe(empty)
})

test('a demo uses none of the servers, files and keys that the environment names', () => {
  const foreign = {
    DATABASE_URL: 'postgres://x',
    REDIS_URL: 'redis://x',
    TEMPORAL_ADDRESS: 'x:1',
    MAIL_DIR: '/x',
    AUDIT_CHECKPOINTS_FILE: '/x',
    SECRETS_KEYS: 'k:x'
  }
  const env = demoEnvironment({ ...foreign, LOG_LEVEL: 'warn', DATA_DIR: join(folder, 'another') })
  expect(env).toEqual({ LOG_LEVEL: 'warn', PORT: '0', DATA_DIR: join(folder, 'another') })
  expect(existsSync('/x')).toBe(false)
})
