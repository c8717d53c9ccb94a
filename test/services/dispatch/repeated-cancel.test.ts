// The relay delivers a cancel again until its job has ended. A real Temporal server refuses the second request of a
// workflow, which is no outage.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { OutboxRow } from '../../../db/job-steps/outbox.js'
import { searchAttributesWith, workflowIdOf } from '../../../domain/jobs/dispatch.js'
import { createDirectQueue } from '../../../services/dispatch/direct-queue.js'
import { createDispatcher } from '../../../services/dispatch/dispatcher.js'
import { createTemporalClient } from '../../../services/dispatch/temporal-client.js'
import { readRedisSettings } from '../../../services/redis/redis-settings.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('repeated_cancel')
const taskQueue = `repeated-cancel-${randomUUID()}`
const { client, close } = createTemporalClient({ address: process.env.TEST_TEMPORAL_ADDRESS! }, 'default')
const direct = createDirectQueue(readRedisSettings({ REDIS_URL: process.env.TEST_REDIS_URL! }), taskQueue)
beforeAll(() => client.connection.ensureConnected())
afterAll(async () => {
  await Promise.all([close(), direct.close()])
  await database.drop()
})

test('a cancel that is delivered again to a workflow that is ending reaches it, each time', async () => {
  const { deliver } = createDispatcher({
    db: database.db,
    temporal: client,
    taskQueue,
    searchAttributes: searchAttributesWith(''),
    queue: direct.queue,
    announce: () => {},
    log: { warn: () => {}, error: () => {} }
  })
  const jobId = randomUUID()
  // No worker serves the queue, so the workflow stays open.
  await client.workflow.start('runJob', { taskQueue, workflowId: workflowIdOf(jobId, 1), args: [] })
  const row: OutboxRow = { jobId, kind: 'cancel', mode: 'temporal', generation: 1, deliveries: 0 }
  const outcomes = []
  for (let time = 0; time < 3; time++) outcomes.push(...(await deliver([row])))
  expect(outcomes).not.toContain('unreachable')
})
