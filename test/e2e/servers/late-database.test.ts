// The processes start in any order: a database that comes late delays them, and nothing else.
import { afterAll, expect, test } from '@jest/globals'
import { eventually } from '../../support/eventually.js'
import { submission } from '../../support/jobs/builders.js'
import { startPlatform } from '../../support/stack/platform.js'
import { tcpProxy } from '../../support/stack/tcp-proxy.js'

const { hostname, port } = new URL(process.env.TEST_PG_URL!)
const database = await tcpProxy({ host: hostname, port: Number(port) })
const platform = await startPlatform('late_database', { databasePort: database.port })
afterAll(async () => {
  await platform.close()
  await database.close()
})

test('an api and a worker that start before their database work once it is there', async () => {
  await Promise.all([platform.kill('api'), platform.kill('worker')])
  database.cut()
  const started = Promise.all([platform.start.api(), platform.start.worker()])
  started.catch(() => {})
  const waiting = () =>
    new Set(
      platform.logLines().flatMap((line) => (line.msg === 'the start waits for the database' ? [line.process] : []))
    )
  try {
    await eventually(() => waiting().size === 2, { timeoutMs: 50_000 })
  } finally {
    database.release()
  }
  await started
  expect(await platform.ended(await platform.submit(submission()))).toMatchObject({ status: 'completed' })
}, 150_000)
