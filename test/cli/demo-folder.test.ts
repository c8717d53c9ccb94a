// `npm run demo` never writes into the data folder of a service.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { demoEnvironment, demoFolder } from '../../apps/cli/demo/demo-folder.js'
import { howToLookAgain } from '../../apps/cli/demo/look-again.js'
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
    REDIS_TLS_CA: '/x',
    TEMPORAL_ADDRESS: 'x:1',
    TEMPORAL_TLS: '1',
    TEMPORAL_TLS_CA: '/x',
    TEMPORAL_API_KEY: 'x',
    TEMPORAL_API_KEY_FILE: '/x',
    MAIL_DIR: '/x',
    AUDIT_CHECKPOINTS_FILE: '/x',
    SECRETS_KEYS: 'k:x',
    PUBLIC_URL: 'https://x.example.org'
  }
  const env = demoEnvironment({ ...foreign, LOG_LEVEL: 'warn', DATA_DIR: join(folder, 'another') })
  expect(env).toEqual({ LOG_LEVEL: 'warn', PORT: '0', DATA_DIR: join(folder, 'another') })
  expect(existsSync('/x')).toBe(false)
})

test('a demo ends with the command, the address and the account that show its jobs again', () => {
  const account = { email: 'demo@example.com', password: 'secret-word' }
  expect(howToLookAgain('http://127.0.0.1:41233', '.demo', account).split('\n')).toEqual([
    'To look at these jobs and the capsule in the web console and in the Temporal UI:',
    '    DATA_DIR=.demo PORT=41233 npm start',
    '    open http://127.0.0.1:41233/jobs',
    '    sign in as demo@example.com with the password secret-word'
  ])
  const folder = "/srv/Ada's demo"
  expect(howToLookAgain('http://127.0.0.1:41233', folder, account)).toContain(
    `DATA_DIR='/srv/Ada'\\''s demo' PORT=41233`
  )
})
