// The api's configuration.
import { expect, test } from '@jest/globals'
import { readApiConfig } from '../../../apps/api/config.js'

const env = {
  DATABASE_URL: 'postgres://localhost/qjs',
  REDIS_URL: 'redis://localhost',
  TEMPORAL_ADDRESS: 'localhost:7233'
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
