// The direct consumer with a real queue, database and executor.
import { randomUUID } from 'node:crypto'
import { afterAll, expect, test } from '@jest/globals'
import { eq, sql } from 'drizzle-orm'
import pino from 'pino'
import { createClaimTurns } from '../../../apps/worker/direct/claim-turns.js'
import { startDirectConsumer } from '../../../apps/worker/direct/direct-consumer.js'
import { createLeasedJobs } from '../../../apps/worker/direct/leased-jobs.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { markDelivered } from '../../../db/job-steps/outbox.js'
import { waitingOfJob } from '../../../db/jobs/job-waiting.js'
import { jobs } from '../../../db/tables/jobs.js'
import { createDirectQueue } from '../../../services/dispatch/direct-queue.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import type { Seat } from '../../../services/executor/gate.js'
import { readRedisSettings } from '../../../services/redis/redis-settings.js'
import { eventually } from '../../support/eventually.js'
import { gateTo } from '../../support/jobs/gate-to.js'
import { addJob, addPerson, type Person } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('claim-turns')
const { db } = database
const log = pino({ level: 'silent' })
const redis = readRedisSettings({ REDIS_URL: process.env.TEST_REDIS_URL! })
const queue = createDirectQueue(redis, database.name)
const executor = createExecutorClient(process.env.TEST_EXECUTOR_URL!, process.env.TEST_EXECUTOR_TOKEN!)
afterAll(async () => {
  await queue.queue.obliterate({ force: true })
  await Promise.all([queue.close(), executor.close()])
  await database.drop()
})

const PERMITS = 2

function startConsumer(limits: ReadonlyMap<string, number> = new Map()) {
  const leased = createLeasedJobs(db, 1_000, log)
  const gate = gateTo(executor, PERMITS)
  gate.setTeamLimits(limits)
  const consumer = startDirectConsumer(
    { db, gate, announce() {}, countFault() {}, countRepeatedStep() {}, log, leased },
    { redis, prefix: database.name, around: (_, work) => work(), log }
  )
  return {
    gate,
    async close() {
      await consumer.close(10_000)
      await leased.close()
    }
  }
}

/**
 * Direct jobs that are delivered, in this order.
 * @param before jobs that are delivered first.
 */
async function deliver(person: Person, count: number, before: string[] = []): Promise<string[]> {
  const own: string[] = []
  for (let job = 0; job < count; job++) own.push(await addJob(db, person, { submission: { mode: 'direct' } }))
  const ids = [...before, ...own]
  await queue.queue.addBulk(
    ids.map((jobId) => ({ name: 'run', data: { jobId, generation: 1 }, opts: { jobId: `${jobId}-1` } }))
  )
  await markDelivered(
    db,
    ids.map((jobId) => ({ jobId, kind: 'start' })),
    30
  )
  return own
}

const begun = async (): Promise<{ id: string; team: string }[]> => [
  ...(await db.execute<{ id: string; team: string }>(
    sql`select id, team_id as team from jobs where started_at is not null order by started_at, id`
  ))
]
/** The executor is that of all test files. */
const allCompleted = (ids: string[]) =>
  eventually(
    async () => {
      const [row] = await db.execute(
        sql`select count(*)::int as left from jobs where id::text in ${ids} and status <> 'completed'`
      )
      return row!.left === 0
    },
    { timeoutMs: 90_000 }
  )

test("another team's first job waits for at most one job per slot, and its entry keeps its place for the others", async () => {
  const [ada, bob] = [await addPerson(db), await addPerson(db)]
  const many = await deliver(ada, 12)
  const [one] = await deliver(bob, 1)
  const consumer = startConsumer()
  await allCompleted([...many, one!])
  const order = (await begun()).map(({ id }) => id)
  expect(order.indexOf(one!)).toBeLessThanOrEqual(PERMITS)
  // The jobs of a team keep their order, but for those that begin together: one for each slot, and the next.
  const begins = many.map((id) => order.indexOf(id))
  for (const [job, at] of begins.entries()) {
    expect(begins.slice(0, job).filter((earlier) => earlier > at).length).toBeLessThanOrEqual(PERMITS)
    expect(begins.slice(job + 1).filter((later) => later < at).length).toBeLessThan(many.length / 2)
  }
  await eventually(async () => (await queue.queue.getJobCountByTypes('waiting', 'active')) === 0)
  await consumer.close()
}, 120_000)

test('a job that waits for a slot stays pending, and a worker that stops hands its entry back', async () => {
  const ada = await addPerson(db)
  const ids = await deliver(ada, 3)
  const consumer = startConsumer()
  // Another call uses every permit.
  const owner = { team: 'another', job: 'another' }
  const { signal } = new AbortController()
  const seats = await Promise.all(Array.from({ length: PERMITS }, () => consumer.gate.enter(owner, signal)))
  const stateOf = async () =>
    (await db.execute(sql`select status from jobs where id::text in ${ids} order by id`)).map(({ status }) => status)
  await eventually(() => consumer.gate.waiting === 1)
  expect(await stateOf()).toEqual(['pending', 'pending', 'pending'])
  await consumer.close()
  for (const seat of seats) (seat as Seat).leave()
  expect(await stateOf()).toEqual(['pending', 'pending', 'pending'])
  expect(await queue.queue.getJobCountByTypes('waiting')).toBe(3)
  const next = startConsumer()
  await allCompleted(ids)
  await next.close()
}, 120_000)

test('a job says how many begin before it when teams take turns', async () => {
  const [ada, bob, eve] = [await addPerson(db), await addPerson(db), await addPerson(db)]
  const many = await deliver(ada, 5)
  const [one, two] = await deliver(bob, 2)
  const [last] = await deliver(eve, 1)
  const ahead = async (id: string) =>
    (await db.select({ waiting: waitingOfJob }).from(jobs).where(eq(jobs.id, id)))[0]!.waiting!.ahead
  expect(await Promise.all(many.map(ahead))).toEqual([0, 3, 5, 6, 7])
  expect(await Promise.all([one!, two!, last!].map(ahead))).toEqual([1, 4, 2])
  await db.execute(sql`delete from outbox`)
  await queue.queue.drain()
})

test('two workers whose choice is the same job claim two jobs with their two slots', async () => {
  const ada = await addPerson(db)
  const ids = await deliver(ada, 3)
  const [one, two] = [createClaimTurns(db, gateTo(executor, 2)), createClaimTurns(db, gateTo(executor, 2))]
  const [held, released]: [string[], string[]] = [[], []]
  const steps = (worker: string) => ({
    // Both have chosen before either claims.
    hold: async ({ jobId }: { jobId: string }) => {
      held.push(jobId)
      await eventually(() => held.length === 2)
      return { gate: gateTo(executor), release: () => void released.push(worker) }
    },
    claim: async ({ jobId, generation }: { jobId: string; generation: number }) =>
      (await beginJob(db, jobId, { generation, lease: randomUUID() })) === 'begin'
  })
  const claimed = await Promise.all([one.next(ids[0]!, steps('one')), two.next(ids[0]!, steps('two'))])
  expect(held).toEqual([ids[0], ids[0]])
  expect(claimed.map((end) => end!.start.jobId).sort()).toEqual([ids[0], ids[1]])
  expect(released).toEqual([])
  for (const turns of [one, two]) turns.close()
  await db.execute(sql`delete from outbox`)
  await queue.queue.drain()
})

test('jobs that wait for an engine without a place hold up none of another engine, of their own team included', async () => {
  const ada = await addPerson(db)
  await db.execute(sql`update backends set engine = 'gpu_statevector', status = 'online' where slug = 'aer-mps'`)
  const gpu: string[] = []
  for (let job = 0; job < 6; job++)
    gpu.push(await addJob(db, ada, { submission: { mode: 'direct', backend: 'aer-mps' } }))
  const cpu = await deliver(ada, 2, gpu)
  const consumer = startConsumer()
  await allCompleted(cpu)
  const states = await db.execute(sql`select distinct status from jobs where id::text in ${gpu}`)
  expect([...states]).toEqual([{ status: 'pending' }])
  await consumer.close()
  await db.execute(sql`delete from outbox`)
  await queue.queue.drain()
}, 120_000)

test('a team that may use one slot leaves the other one free', async () => {
  const ada = await addPerson(db)
  const ids = await deliver(ada, 6)
  const [row] = await db.execute<{ team: string }>(sql`select team_id as team from jobs where id = ${ids[0]}`)
  const consumer = startConsumer(new Map([[row!.team, 1]]))
  let most = 0
  const looking = setInterval(() => {
    most = Math.max(most, consumer.gate.inUse)
  }, 2)
  await allCompleted(ids)
  clearInterval(looking)
  expect(most).toBe(1)
  await consumer.close()
}, 120_000)

test('claims at the same time choose different jobs, each with one look at what waits', async () => {
  const ada = await addPerson(db)
  const ids: string[] = []
  for (let job = 0; job < 6; job++) ids.push(await addJob(db, ada, { submission: { mode: 'direct' } }))
  await markDelivered(
    db,
    ids.map((jobId) => ({ jobId, kind: 'start' })),
    30
  )
  let looks = 0
  const counting = new Proxy(db, {
    get(target, key) {
      if (key === 'execute') looks++
      return Reflect.get(target, key)
    }
  })
  const gate = gateTo(executor, ids.length)
  const turns = createClaimTurns(counting, gate)
  const claimed: string[] = []
  await Promise.all(
    ids.map((entry) =>
      turns.next(entry, {
        hold: async () => ({ gate, release() {} }),
        async claim({ jobId }) {
          claimed.push(jobId)
          await eventually(() => claimed.length === ids.length)
          return true
        }
      })
    )
  )
  expect(claimed.sort()).toEqual(ids.sort())
  expect(looks).toBe(ids.length)
  turns.close()
  await db.execute(sql`delete from outbox where job_id::text in ${ids}`)
})
