// The worker's loop for costs that a provider states after the end: it books what is stated, keeps the others for later, and
// says which it gives up.
import { randomBytes } from 'node:crypto'
import { afterAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { startProviderLoops } from '../../../apps/worker/sweeps/provider-loops.js'
import { createSweepReports } from '../../../apps/worker/sweeps/sweep-reports.js'
import { completeJob } from '../../../db/job-steps/job-steps.js'
import { markSeen } from '../../../db/provider-jobs/provider-jobs.js'
import { plainRef } from '../../../db/provider-jobs/provider-refs.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import type { ProviderAdapter, ProviderJobView } from '../../../services/providers/adapter.js'
import { storeCredentials } from '../../../services/providers/credentials.js'
import { eventually } from '../../support/eventually.js'
import { addAcceptedJob, usd } from '../../support/jobs/money-rows.js'
import { adapterWith, completedView, providerDeps } from '../../support/jobs/provider-steps.js'
import { addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('pending_usage')
const { db } = database
const executor = createExecutorClient('http://127.0.0.1:1', 'a-token')
const keyRing = readKeyRing(`one:${randomBytes(32).toString('base64')}`)
afterAll(async () => {
  await executor.close()
  await database.drop()
})
const person = await addPerson(db)

/** A completed job of ten dollars, whose cost is due for a query. */
async function addPendingJob(): Promise<string> {
  const teamId = await addTeam(db, person)
  await db.transaction((tx) => storeCredentials(tx, keyRing, { teamId, provider: 'ionq' }, { api_key: 'a-key-of-it' }))
  const jobId = await addAcceptedJob(db, person, { cost: usd(10), submission: { teamId } })
  const ended = { status: 'completed', queuePosition: null, predictedWaitSeconds: null, failure: null } as const
  await markSeen(db, plainRef(jobId), { ...ended, state: 'completed', cost: null, isUsagePending: true })
  await completeJob(db, jobId, { generation: 1 }, 'a'.repeat(64))
  await db.execute(sql`update provider_tasks set usage_ask_at = now() - interval '1 second' where job_id = ${jobId}`)
  return jobId
}

/** Named as the rows of `addAcceptedJob` name their provider. */
const adapter = (look: (id: string) => ProviderJobView): ProviderAdapter =>
  adapterWith({ name: 'ionq' as ProviderAdapter['name'], look: async (_at, id) => look(id) })

test('costs that are stated are booked, others are asked for again, and those after a week are given up', async () => {
  const [stated, pending, broken, late] = [
    await addPendingJob(),
    await addPendingJob(),
    await addPendingJob(),
    await addPendingJob()
  ]
  await db.execute(sql`update provider_tasks set ended_at = now() - interval '8 days' where job_id = ${late}`)
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const provider = adapter((id) => {
    if (id.endsWith(broken!)) throw new Error('this version does not understand the answer')
    return id.endsWith(stated!) ? { ...completedView, cost: usd(4) } : { ...completedView, isUsagePending: true }
  })
  const loops = startProviderLoops({
    ...providerDeps({ db, executor, keyRing, providers: new Map([['ionq', provider]]) }),
    reports: createSweepReports(db, log, () => performance.now()),
    log
  })
  try {
    await eventually(async () => {
      const passes = await db.execute(sql`select handled from sweeps where name = 'pending_usage'`)
      return passes.length > 0
    })
  } finally {
    await Promise.all(loops.map((loop) => loop.close()))
  }
  const rows = await db.execute<{ job_id: string; cost: number; asked: boolean }>(sql`
    select job_id, actual_cost_micro::int as cost, usage_ask_at is not null as asked
    from provider_tasks join jobs on jobs.id = job_id`)
  expect(Object.fromEntries(rows.map(({ job_id, cost, asked }) => [job_id, [cost, asked]]))).toEqual({
    [stated!]: [4_000_000, false],
    [pending!]: [10_000_000, true],
    [broken!]: [10_000_000, true],
    [late!]: [10_000_000, false]
  })
  const said = (jobId: string) => lines.filter((line) => line.jobId === jobId).map(({ msg }) => msg)
  expect(said(stated!)).toEqual(['the provider has stated what a provider job cost; it is booked'])
  expect(said(pending!)).toEqual([])
  expect(said(broken!)).toEqual(['the cost of a provider job could not be looked up'])
  expect(said(late!)).toEqual(['the provider has not stated what a provider job cost; the estimate stays booked'])
})
