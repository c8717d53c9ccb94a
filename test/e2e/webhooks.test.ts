// Webhooks through the whole platform: API and worker as processes, jobs of both modes, a receiver on this machine.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { eventually } from '../support/eventually.js'
import { submission } from '../support/jobs/builders.js'
import { startReceiver, verified } from '../support/receivers/webhook-receiver.js'
import { startPlatform } from '../support/stack/platform.js'

const receiver = await startReceiver()
const platform = await startPlatform(
  'webhooks_e2e',
  {},
  {
    SECRETS_KEYS: `k1:${Buffer.from('a ring key of 32 bytes for tests').toString('base64')}`,
    WEBHOOK_ALLOW_PRIVATE: '1',
    LOG_LEVEL: 'trace'
  }
)
afterAll(async () => {
  await platform.close()
  await receiver.close()
})

test("the end of every job is delivered once, signed, in both modes, and recorded in the webhook's log", async () => {
  const first = await platform.submit(submission())
  const { team_id } = await platform.ended(first)
  const made = await platform.call('POST', '/api/team/webhooks', {
    team_id,
    url: receiver.url,
    events: ['job.completed', 'job.failed']
  })
  const { id, secret } = (await made.json()) as { id: string; secret: string }
  expect(made.status).toBe(201)

  const jobs = [
    await platform.submit(submission({ execution_mode: 'direct' })),
    await platform.submit(submission({ execution_mode: 'temporal' })),
    await platform.submit(submission({ execution_mode: 'direct', inline_code: 'OPENQASM 3.0; nonsense q;' }))
  ]
  for (const job of jobs) await platform.ended(job)
  await eventually(() => receiver.received.length >= jobs.length, { timeoutMs: 60_000, message: () => platform.logs() })

  const told = receiver.received.map((message) => verified(secret, message))
  expect(told.map(({ type, data }) => [data.job_id, type]).sort()).toEqual(
    [
      [jobs[0], 'job.completed'],
      [jobs[1], 'job.completed'],
      [jobs[2], 'job.failed']
    ].sort()
  )
  for (const { data } of told) {
    const { status, backend, completed_at } = await platform.job(data.job_id as string)
    expect(data).toMatchObject({ team_id, status, backend, completed_at })
  }
  const log = await eventually(async () => {
    const answer = await platform.call('GET', `/api/team/webhooks/${id}/deliveries`)
    const { deliveries } = (await answer.json()) as { deliveries: { state: string; tries: number }[] }
    return deliveries.every(({ state }) => state === 'delivered') && deliveries
  })
  expect(log.map(({ tries }) => tries)).toEqual([1, 1, 1])

  for (const part of ['api', 'worker']) {
    const text = readFileSync(
      join(projectRoot, '.test', 'platforms', platform.connection.sql.options.database, `${part}.log`),
      'utf8'
    )
    expect(text.length).toBeGreaterThan(100)
    expect(text).not.toContain(secret.slice(6))
  }
}, 180_000)
