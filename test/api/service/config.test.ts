// The configuration of api and worker.
import { expect, test } from '@jest/globals'
import { readApiConfig } from '../../../apps/api/config.js'
import { readWorkerConfig } from '../../../apps/worker/config.js'

const env = {
  DATABASE_URL: 'postgres://localhost/qjs',
  REDIS_URL: 'redis://localhost',
  TEMPORAL_ADDRESS: 'localhost:7233'
}
const workerEnv = {
  ...env,
  EXECUTOR_URL: 'http://localhost:8800',
  EXECUTOR_TOKEN: 'a-token-of-the-tests',
  WORKFLOW_BUNDLE: 'dist/workflows.js'
}

test.each(['-1', '301', '1.5', 'ten', ' '])(
  'SHUTDOWN_DRAIN_SECONDS=%p stops the start with a message that names it',
  (text) => {
    expect(() => readApiConfig({ ...env, SHUTDOWN_DRAIN_SECONDS: text })).toThrow(
      `SHUTDOWN_DRAIN_SECONDS must be a whole number from 0 to 300 (got ${text})`
    )
  }
)

test('an api stops at once unless SHUTDOWN_DRAIN_SECONDS says otherwise', () => {
  expect(readApiConfig(env).drainSeconds).toBe(0)
  expect(readApiConfig({ ...env, SHUTDOWN_DRAIN_SECONDS: '10' }).drainSeconds).toBe(10)
})

test.each([
  ['DATABASE_POOL_MAX', '1', 'must be a whole number from 2 to 500 (got 1)'],
  ['DATABASE_POOL_MAX', '501', 'must be a whole number from 2 to 500 (got 501)'],
  ['DATABASE_POOL_MAX', '9.5', 'must be a whole number from 2 to 500 (got 9.5)'],
  ['DATABASE_PREPARED_STATEMENTS', 'no', 'must be on or off (got no)'],
  ['DATABASE_STARTUP_PARAMETERS', '0', 'must be on or off (got 0)']
])('%s=%s stops the start with a message that names it', (name, text, message) => {
  for (const read of [readApiConfig, readWorkerConfig])
    expect(() => read({ ...workerEnv, [name]: text })).toThrow(`${name} ${message}`)
})

test.each(['DATABASE_URL', 'DATABASE_DIRECT_URL'])('%s stops the start where it is no address', (name) => {
  expect(() => readApiConfig({ ...env, [name]: 'localhost:5432' })).toThrow(`${name}: must be an address such as`)
})

test('the pools have nine connections and twenty, prepare statements, and need no second address', () => {
  const defaults = { url: env.DATABASE_URL, directUrl: env.DATABASE_URL, prepares: true, startupParameters: true }
  expect(readApiConfig(env).database).toEqual({ ...defaults, poolMax: 9 })
  expect(readWorkerConfig(workerEnv).database).toEqual({ ...defaults, poolMax: 20 })
  const set = {
    DATABASE_DIRECT_URL: 'postgres://localhost:5433/qjs',
    DATABASE_POOL_MAX: '30',
    DATABASE_PREPARED_STATEMENTS: 'off',
    DATABASE_STARTUP_PARAMETERS: 'off'
  }
  expect(readWorkerConfig({ ...workerEnv, ...set }).database).toEqual({
    url: env.DATABASE_URL,
    directUrl: 'postgres://localhost:5433/qjs',
    poolMax: 30,
    prepares: false,
    startupParameters: false
  })
})
