// An accepted job ends exactly once, whatever parts were down or lost their data.
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { DIRECT_QUEUE } from '../../../domain/jobs/dispatch.js'
import { eventually } from '../../support/eventually.js'
import { slowQiskit, submission } from '../../support/jobs/builders.js'
import { longTest } from '../../support/lane.js'
import { type Platform, startPlatform } from '../../support/stack/platform.js'

const direct = { execution_mode: 'direct' }
const temporal = { execution_mode: 'temporal' }
const slow = (seconds: number) => ({ inline_code: slowQiskit(seconds), framework: 'qiskit' })

const completed = { status: 'completed', error: null }

let platform: Platform

beforeAll(async () => {
  // The product's own waiting times, shortened; the outcomes are the same.
  const quick = {
    REDELIVER_SECONDS: '3',
    WORKFLOW_QUIET_SECONDS: '3',
    WORKFLOW_MISSING_SECONDS: '2',
    WORKFLOW_SWEEP_SECONDS: '1'
  }
  platform = await startPlatform('outages', { redis: true, temporal: true, executor: true }, quick)
}, 180_000)

afterAll(() => platform.close())

test('a job accepted while Temporal is down says so, and runs when it is back', async () => {
  await platform.kill('temporal')
  const id = await platform.submit(submission(temporal))
  await platform.until(id, (job) => job.queue?.reason === 'engine_unavailable')
  await platform.start.temporal()
  expect(await platform.ended(id, 90_000)).toMatchObject(completed)
  expect(await platform.attempts(id)).toHaveLength(1)
}, 180_000)

test('a job accepted while Redis is down says so, and runs when it is back', async () => {
  await platform.kill('redis')
  const id = await platform.submit(submission(direct))
  await platform.until(id, (job) => job.queue?.reason === 'engine_unavailable')
  await platform.start.redis()
  expect(await platform.ended(id, 90_000)).toMatchObject(completed)
  expect(await platform.attempts(id)).toHaveLength(1)
}, 180_000)

longTest(
  'a job cancelled while Temporal is down is cancelled when it is back',
  async () => {
    const id = await platform.submit(submission({ ...temporal, ...slow(60) }))
    await platform.accepted(id)
    await platform.kill('temporal')
    const response = await platform.call('POST', `/api/jobs/${id}/cancel`)
    expect(response.status).toBe(202)
    await platform.start.temporal()
    expect(await platform.ended(id, 90_000)).toMatchObject({
      status: 'cancelled',
      error: null,
      cancel: { outcome: 'stopped_before_provider' }
    })
  },
  180_000
)

test('every accepted job still ends once after a FLUSHALL of Redis', async () => {
  const ids = await Promise.all(Array.from({ length: 8 }, () => platform.submit(submission({ ...direct, ...slow(1) }))))
  await platform.accepted(ids[0]!)
  const redis = new Redis(platform.redisUrl)
  await redis.flushall()
  redis.disconnect()
  for (const id of ids) {
    const job = await platform.ended(id, 90_000)
    expect(job).toMatchObject({ status: 'completed', attempts: 1 })
  }
}, 240_000)

longTest(
  'a queue entry that a dead consumer left behind does not keep its job from running',
  async () => {
    // An entry that no consumer works on: removed from the waiting list, as when a consumer died right after taking it.
    await platform.kill('worker')
    const id = await platform.submit(submission(direct))
    const connection = new Redis(platform.redisUrl, { maxRetriesPerRequest: null })
    const queue = new Queue(DIRECT_QUEUE, { connection, prefix: platform.settings.QUEUE_PREFIX! })
    // Beside it there can be one that was delivered again for a job of the test before.
    const entry = await eventually(async () => (await queue.getWaiting()).find(({ data }) => data.jobId === id) ?? null)
    const key = queue.toKey('wait')
    await connection.lrem(key, 1, entry.id!)
    await queue.close()
    connection.disconnect()
    await platform.start.worker()
    expect(await platform.ended(id, 90_000)).toMatchObject(completed)
  },
  180_000
)

longTest(
  'every accepted job still ends once after the loss of the whole Temporal database',
  async () => {
    const running = await platform.submit(submission({ ...temporal, ...slow(4) }))
    const waiting = await Promise.all(Array.from({ length: 3 }, () => platform.submit(submission(temporal))))
    await platform.accepted(running)
    await platform.kill('temporal')
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${platform.temporalFile}${suffix}`, { force: true })
    await platform.start.temporal()
    for (const id of [running, ...waiting]) {
      expect(await platform.ended(id, 90_000)).toMatchObject(completed)
      const attempts = await platform.attempts(id)
      expect(attempts.filter((attempt) => attempt.state === 'completed')).toHaveLength(1)
    }
  },
  240_000
)

test.each(['direct', 'temporal'])(
  'a %s job whose completion the database refuses fails with internal_error, and the log has the reason',
  async (mode) => {
    const { sql } = platform.connection
    await sql`create or replace function refuse_completion() returns trigger language plpgsql as $$
      begin raise exception 'this job is never completed'; end $$`
    await sql`create or replace trigger refuse_completion before update of status on jobs for each row
      when (new.status = 'completed' and new.name = 'refused') execute function refuse_completion()`
    const id = await platform.submit(submission({ execution_mode: mode, name: 'refused' }))
    expect(await platform.ended(id, 90_000)).toMatchObject({ status: 'failed', error: { code: 'internal_error' } })
    expect(platform.logLines()).toContainEqual(
      expect.objectContaining({ job_id: id, level: 'error', reason: 'this job is never completed' })
    )
  },
  180_000
)

test('jobs wait without an attempt while the executor is down, and run when it is back', async () => {
  await platform.kill('executor')
  const ids = await Promise.all([direct, temporal].map((mode) => platform.submit(submission(mode))))
  await platform.until(ids[1]!, (job) => job.status === 'running')
  // A direct job is claimed once it has a slot, so it survives the stop of its worker.
  await platform.stop('worker')
  await platform.start.worker()
  expect((await platform.job(ids[0]!)).status).toBe('pending')
  for (const id of ids) expect(await platform.attempts(id)).toEqual([])
  await platform.start.executor()
  for (const id of ids) {
    expect(await platform.ended(id, 90_000)).toMatchObject({ status: 'completed', attempts: 1 })
  }
}, 180_000)
