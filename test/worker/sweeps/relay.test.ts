// The relay against dispatch targets that are there, away, hanging or refusing.
import { createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { msToTs } from '@temporalio/common/lib/time.js'
import { sql } from 'drizzle-orm'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { createRelayPass } from '../../../apps/worker/sweeps/relay.js'
import { createSweepReports } from '../../../apps/worker/sweeps/sweep-reports.js'
import { defaultTimes } from '../../../apps/worker/times.js'
import { quietJobs } from '../../../db/job-steps/stalled-workflows.js'
import { jobStatus } from '../../../db/jobs/jobs.js'
import { recordSweep } from '../../../db/service/sweeps.js'
import { searchAttributesWith, workflowIdOf } from '../../../domain/jobs/dispatch.js'
import type { ExecutionMode } from '../../../domain/jobs/job-status.js'
import { createDirectQueue } from '../../../services/dispatch/direct-queue.js'
import { createDispatcher } from '../../../services/dispatch/dispatcher.js'
import { ensureSearchAttributes } from '../../../services/dispatch/search-attributes.js'
import { assertAccepts } from '../../../services/dispatch/target-probe.js'
import { createTemporalClient } from '../../../services/dispatch/temporal-client.js'
import { readRedisSettings } from '../../../services/redis/redis-settings.js'
import { deadAddress } from '../../support/api/api.js'
import { eventually } from '../../support/eventually.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { databaseTime } from '../../support/postgres/database-time.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('relay')
const { db } = database
const opened: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})
afterAll(() => database.drop())
beforeEach(() => db.execute(sql`truncate jobs, sweeps cascade`))

const person = await addPerson(db)
const add = (mode: ExecutionMode = 'temporal') => addJob(db, person, { submission: { mode } })
/** Every row is due, and has been unreachable for this long. */
const unreachableFor = (seconds: number) =>
  db.execute(
    sql`update outbox set next_at = now() - interval '1 second', unreachable_since = now() - make_interval(secs => ${seconds})`
  )
const due = () => db.execute(sql`update outbox set next_at = now() - interval '1 second'`)
const rowOf = async (jobId: string) => {
  const [row] = await db.execute<{ deliveries: number; unreachable: number | null; next: number }>(sql`
    select deliveries, extract(epoch from now() - unreachable_since)::float8 as unreachable,
      extract(epoch from next_at)::float8 as next from outbox where job_id = ${jobId} and kind = 'start'`)
  return row!
}

function relay(where: { temporal?: string; namespace?: string; redis?: string; prefix?: string } = {}) {
  const { temporal = process.env.TEST_TEMPORAL_ADDRESS!, namespace = 'default' } = where
  const { client, connection, close } = createTemporalClient({ address: temporal }, namespace)
  const queue = createDirectQueue(
    readRedisSettings({ REDIS_URL: where.redis ?? process.env.TEST_REDIS_URL! }),
    database.name
  )
  opened.push(close, queue.close)
  const logged: { level: string; reason?: string }[] = []
  const keep = (level: string) => (facts: object) => logged.push({ level, ...facts })
  const dispatcher = createDispatcher({
    db,
    temporal: client,
    taskQueue: database.name,
    searchAttributes: searchAttributesWith(where.prefix ?? ''),
    queue: queue.queue,
    announce: () => {},
    log: { warn: keep('warn'), error: keep('error') }
  })
  let time = 0
  const log = pino({ level: 'silent' })
  const passOf = (mode: ExecutionMode) =>
    createRelayPass(
      {
        db,
        dispatcher,
        announce: () => {},
        times: defaultTimes,
        teamRunningMax: 1_000,
        findings: () => [],
        reports: createSweepReports(db, log, () => time),
        log,
        clock: () => time
      },
      mode
    )
  return {
    dispatcher,
    client,
    connection,
    logged,
    pass: { temporal: passOf('temporal'), direct: passOf('direct') },
    /** Lets seconds pass in which the relay made passes. */
    later(seconds: number) {
      time += seconds * 1_000
    }
  }
}

describe('the deadline of an outage', () => {
  test('fails no job that a relay delivers when it is back after a pause', async () => {
    const ids = [await add(), await add(), await add()]
    await unreachableFor(1_200)
    const { pass, later } = relay()
    await pass.temporal()
    later(60)
    await pass.temporal()
    for (const id of ids)
      expect([await jobStatus(db, id), await rowOf(id)]).toMatchObject([
        'pending',
        { deliveries: 1, unreachable: null }
      ])
  })

  test('counts for a row that was just found unreachable again, by a relay that was not away itself', async () => {
    const [tried, waiting] = [await add(), await add()]
    await unreachableFor(1_200)
    const { pass, later } = relay({ temporal: await deadAddress() })
    await pass.temporal()
    expect([await jobStatus(db, tried), await jobStatus(db, waiting)]).toEqual(['pending', 'pending'])
    for (let second = 0; second < 32; second += 8) {
      later(8)
      await pass.temporal()
    }
    await db.execute(sql`update outbox set next_at = now() where job_id = ${tried}`)
    await pass.temporal()
    expect([await jobStatus(db, tried), await jobStatus(db, waiting)]).toEqual(['dispatch_failed', 'pending'])
  })

  test('is preceded by tries whose pauses grow to half a minute', async () => {
    const id = await add()
    const { pass } = relay({ temporal: await deadAddress() })
    for (const [seconds, pause] of [
      [0, 2],
      [12, 6],
      [600, 30]
    ] as const) {
      const before = await databaseTime(db)
      await unreachableFor(seconds)
      await pass.temporal()
      const { next } = await rowOf(id)
      const after = await databaseTime(db)
      // The outage goes on while the test waits for its turn, and counts by half.
      expect(next - before).toBeGreaterThanOrEqual(pause)
      expect(next - after).toBeLessThanOrEqual(Math.min(30, pause + (after - before) / 2))
    }
  })
})

test('a job whose workflow was there and is closed, though no row says so, is handed to the sweep of stalled workflows', async () => {
  const id = await add()
  const { client, close } = createTemporalClient({ address: process.env.TEST_TEMPORAL_ADDRESS! }, 'default')
  opened.push(close)
  await client.workflow.start('runJob', { taskQueue: 'nobody-serves-it', workflowId: workflowIdOf(id, 1), args: [] })
  await client.workflow.getHandle(workflowIdOf(id, 1)).terminate()
  await due()
  const { pass } = relay()
  await pass.temporal()
  expect(await rowOf(id)).toMatchObject({ deliveries: 1 })
  await db.execute(sql`update jobs set updated_at = updated_at - interval '1 hour' where id = ${id}`)
  expect(await quietJobs(db, 60, 10)).toMatchObject([{ id, generation: 1 }])
})

describe('a dispatch target that responds with a refusal', () => {
  test('of Temporal: the jobs wait without a deadline, and its words are logged once and shown in the readiness', async () => {
    const ids = [await add(), await add()]
    await unreachableFor(1_200)
    const { pass, later, logged, dispatcher } = relay({ namespace: 'no-such-namespace' })
    for (let round = 0; round < 5; round++) {
      await due()
      const { findings } = await pass.temporal()
      later(8)
      expect(findings).toEqual([expect.stringMatching(/^Temporal refuses jobs: NOT_FOUND.*no-such-namespace/)])
    }
    for (const id of ids) {
      expect(await jobStatus(db, id)).toBe('pending')
      expect((await rowOf(id)).unreachable).toBeLessThan(600)
    }
    expect(logged).toEqual([
      { level: 'error', target: 'Temporal', reason: expect.stringContaining('no-such-namespace') }
    ])
    await expect(assertAccepts(db, dispatcher, 'Temporal')).rejects.toThrow('no-such-namespace')
    await assertAccepts(db, dispatcher, 'Redis')
  })

  test('of Redis: the jobs wait without a deadline, and its words are logged and shown in the readiness', async () => {
    const url = new URL(process.env.TEST_REDIS_URL!)
    const admin = new Redis(url.href)
    opened.push(() => admin.quit())
    const [name, password] = [database.name, 'a password']
    await admin.call('ACL', 'SETUSER', name, 'on', `>${password}`, '~*', '+@connection', '+info')
    url.username = name
    url.password = password
    const id = await add('direct')
    await unreachableFor(1_200)
    const { pass, later, dispatcher } = relay({ redis: url.href })
    for (let round = 0; round < 5; round++) {
      await due()
      await pass.direct()
      later(8)
    }
    expect(await jobStatus(db, id)).toBe('pending')
    expect((await rowOf(id)).unreachable).toBeLessThan(600)
    await expect(assertAccepts(db, dispatcher, 'Redis')).rejects.toThrow(/^Redis refuses jobs: NOPERM/)
    await admin.call('ACL', 'DELUSER', name)
  })

  test('is shown by an api that has refused nothing itself, while the workers still report it', async () => {
    const { dispatcher } = relay()
    const pass = { name: 'outbox' as const, periodSeconds: 10, error: null, handled: 0 }
    await recordSweep(db, { ...pass, findings: ['Temporal refuses jobs: INVALID_ARGUMENT: no mapping for TeamId'] })
    await expect(assertAccepts(db, dispatcher, 'Temporal')).rejects.toThrow('TeamId')
    await assertAccepts(db, dispatcher, 'Redis')
    await recordSweep(db, { ...pass, findings: [] })
    await assertAccepts(db, dispatcher, 'Temporal')
  })
})

test('direct jobs are delivered while Temporal accepts connections and never responds', async () => {
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  opened.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => silent.close(resolve))
  })
  const { port } = silent.address() as { port: number }
  await Promise.all(Array.from({ length: 20 }, () => add()))
  const id = await add('direct')
  await due()
  const { pass } = relay({ temporal: `127.0.0.1:${port}` })
  const hanging = pass.temporal().then(() => 'temporal')
  expect(await Promise.race([hanging, pass.direct().then(() => 'direct')])).toBe('direct')
  expect((await rowOf(id)).deliveries).toBe(1)
  await hanging
})

test('a worker finds the search attributes of jobs, and creates the missing ones', async () => {
  const { connection } = relay()
  expect(await ensureSearchAttributes(connection, 'default', searchAttributesWith(''))).toBeNull()
  const namespace = database.name
  const { operatorService, workflowService } = connection
  await workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: msToTs('1 day')
  })
  opened.push(() => operatorService.deleteNamespace({ namespace }))
  expect(
    await eventually(() =>
      ensureSearchAttributes(connection, namespace, searchAttributesWith('')).then((problem) => problem ?? 'none')
    )
  ).toBe('none')
  const listed = async () => Object.keys((await operatorService.listSearchAttributes({ namespace })).customAttributes)
  await eventually(async () => {
    expect(await listed()).toEqual(expect.arrayContaining(['TeamId', 'Backend', 'JobMode', 'JobStatus']))
    return true
  })
})

test('with a prefix, workflows carry search attributes that no other program of the namespace uses', async () => {
  const names = searchAttributesWith('Qjs')
  const { client, connection, pass } = relay({ prefix: 'Qjs' })
  expect(
    await eventually(() => ensureSearchAttributes(connection, 'default', names).then((problem) => problem ?? 'none'))
  ).toBe('none')
  const id = await add()
  await due()
  await eventually(async () => {
    await pass.temporal()
    return (await rowOf(id)).deliveries === 1
  })
  const { searchAttributes } = await client.workflow.getHandle(workflowIdOf(id, 1)).describe()
  expect(Object.keys(searchAttributes)).toEqual(expect.arrayContaining(Object.values(names)))
  expect(Object.keys(searchAttributes)).not.toContain('JobStatus')
})
