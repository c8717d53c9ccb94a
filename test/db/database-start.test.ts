// A process that starts waits for a database that is away, and ends at once when only an operator can help.
import { afterAll, afterEach, expect, test } from '@jest/globals'
import type { DatabaseSettings } from '../../db/connection/database-settings.js'
import { startDatabase } from '../../db/database-start.js'
import { eventually } from '../support/eventually.js'
import { createTestDatabase } from '../support/stack/database.js'
import { tcpProxy } from '../support/stack/tcp-proxy.js'

const database = await createTestDatabase('database_start')
const { hostname, port } = new URL(database.url)
afterAll(() => database.drop())

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const settingsOf = (url: string): DatabaseSettings => ({
  url,
  directUrl: url,
  poolMax: 4,
  prepares: true,
  startupParameters: true
})

/** A start through a proxy that a test cuts. A check has its time limit only where nothing else ends it. */
async function startThrough(how: 'cut' | 'hang', waitMs = 60_000) {
  const proxy = await tcpProxy({ host: hostname, port: Number(port) })
  closing.push(() => proxy.close())
  proxy[how]()
  const url = new URL(database.url)
  url.port = String(proxy.port)
  const warnings: unknown[] = []
  const log = { info: () => {}, warn: (line: unknown) => void warnings.push(line) }
  const started = startDatabase(settingsOf(url.href), 'auto', log, {
    waitMs,
    pauseMs: 50,
    checkMs: how === 'hang' ? 1_000 : 30_000
  })
  started.catch(() => {})
  return { proxy, warnings, started }
}

test.each([
  ['cut', 'the database closed the connection'],
  ['hang', 'no response from the database within 1 s']
] as const)(
  'a start waits for a database that is away (%s), says why, and succeeds when it is back',
  async (how, reason) => {
    const { proxy, warnings, started } = await startThrough(how)
    await eventually(() => warnings.length >= 2)
    expect(warnings[0]).toEqual({ reason })
    proxy.release()
    await started
  }
)

test('a start ends with the reason when the database stays away', async () => {
  const { started, warnings } = await startThrough('cut', 3_000)
  await expect(started).rejects.toThrow('the database closed the connection')
  expect(warnings.length).toBeGreaterThan(0)
})

test.each([
  ['a wrong password', { password: 'wrong' }, 'password authentication failed'],
  ['a database that does not exist', { pathname: '/nowhere' }, 'database "nowhere" does not exist']
])('a start ends at once at %s', async (_, change, message) => {
  const url = Object.assign(new URL(database.url), change)
  const warnings: unknown[] = []
  const log = { info: () => {}, warn: (line: unknown) => void warnings.push(line) }
  await expect(startDatabase(settingsOf(url.href), 'auto', log)).rejects.toThrow(message)
  expect(warnings).toEqual([])
})
