// A worker and an api that are cut off from all their servers end at SIGTERM, within the time that their supervisor leaves them.
import { afterEach, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { slowQiskit, submission } from '../../support/jobs/builders.js'
import { type Platform, startPlatform } from '../../support/stack/platform.js'
import { tcpProxy } from '../../support/stack/tcp-proxy.js'

/** After which a supervisor kills: `TimeoutStopSec` of docs/operations/deployment/few-machines.md. */
const KILLED_MS = 40_000

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function startCuttable(file: string) {
  const { hostname, port } = new URL(process.env.TEST_PG_URL!)
  const database = await tcpProxy({ host: hostname, port: Number(port) })
  closing.push(() => database.close())
  const platform = await startPlatform(file, { redis: true, temporal: true, databasePort: database.port })
  closing.push(() => platform.close())
  return { platform, database }
}

/** Work of both kinds is under way, and requests wait. */
async function occupy(platform: Platform): Promise<void> {
  const slow = { inline_code: slowQiskit(120), framework: 'qiskit' }
  const direct = await platform.submit(submission({ execution_mode: 'direct', ...slow }))
  await platform.submit(submission({ execution_mode: 'temporal', ...slow }))
  await platform.accepted(direct)
}

async function endsAtSigterm(platform: Platform, name: 'api' | 'worker'): Promise<void> {
  platform.signal(name, 'SIGTERM')
  let exit: { code: number | null; signal: string | null } | null = null
  const exited = platform.exited(name).then((how) => {
    exit = how
  })
  await eventually(() => exit !== null, { timeoutMs: KILLED_MS })
  await exited
  const lines = platform.logLines().filter((line) => line.process === name)
  const named = lines.find(({ msg }) => msg === 'the process exits before these parts have closed')
  // Either everything has closed, or the log names what has not.
  expect(exit).toEqual({ code: named ? 1 : 0, signal: null })
  if (named) expect((named.parts as string[]).length).toBeGreaterThan(0)
}

test('when the servers hang', async () => {
  const { platform, database } = await startCuttable('cut-off-hung')
  await occupy(platform)
  platform.signal('redis', 'SIGSTOP')
  platform.signal('temporal', 'SIGSTOP')
  database.hang()
  const held = platform.call('POST', '/api/jobs/submit', submission()).catch(() => null)
  await Promise.all([endsAtSigterm(platform, 'worker'), endsAtSigterm(platform, 'api')])
  expect((await held)?.status).not.toBe(201)
}, 180_000)

test('when the servers are gone', async () => {
  const { platform, database } = await startCuttable('cut-off-gone')
  await occupy(platform)
  await Promise.all([platform.kill('redis'), platform.kill('temporal')])
  database.cut()
  const held = platform.call('POST', '/api/jobs/submit', submission()).catch(() => null)
  await Promise.all([endsAtSigterm(platform, 'worker'), endsAtSigterm(platform, 'api')])
  expect((await held)?.status).not.toBe(201)
}, 180_000)
