// Credentials that no key of the ring opens: a job for which nothing was sent fails and gets its money back; one that may
// have been sent waits for as long as for a silent provider, and then its money stays held.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { settleHeldProviderJob } from '../../../activities/provider/held-money.js'
import { submitToProvider } from '../../../activities/provider/submit.js'
import { beginJob, failJob } from '../../../db/job-steps/job-steps.js'
import { ledgerMismatches } from '../../../db/proofs/money-proof.js'
import { markSending, takeForSubmit } from '../../../db/provider-jobs/provider-jobs.js'
import { takeHeldProviderJobs } from '../../../db/provider-jobs/provider-money.js'
import { plainRef } from '../../../db/provider-jobs/provider-refs.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { storeCredentials } from '../../../services/providers/credentials.js'
import { createProviders } from '../../../services/providers/providers.js'
import { providerDeps } from '../../support/jobs/provider-steps.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('unopenable_credentials')
const { db } = database
// Nothing listens there: no test gets as far as a request.
const executor = createExecutorClient('http://127.0.0.1:1', 'a-token')
const providers = createProviders({ ionq: { api: 'http://127.0.0.1:1' } })
const ring = (id: string) => readKeyRing(`${id}:${randomBytes(32).toString('base64')}`)
afterAll(async () => {
  await Promise.all([executor.close(), providers.close()])
  await database.drop()
})

const person = await addPerson(db)
const fence = { generation: 1 }
let jobId: string
beforeEach(async () => {
  jobId = await addJob(db, person, { cost: 700n, submission: { backend: 'ionq-direct-simulator' } })
  await beginJob(db, jobId, fence)
  const [job] = await db.execute<{ team_id: string }>(sql`select team_id from jobs where id = ${jobId}`)
  await db.transaction((tx) =>
    storeCredentials(tx, ring('old'), { teamId: job!.team_id, provider: 'ionq' }, { api_key: 'a-key-of-the-team' })
  )
})

const deps = () => providerDeps({ db, executor, keyRing: ring('new'), providers: providers.adapters })
const { signal } = new AbortController()
const submit = () => submitToProvider(deps(), { ref: plainRef(jobId), fence, signal })

const record = async () => {
  const [row] = await db.execute(
    sql`select status, error_code, actual_cost_micro::int as cost from jobs where id = ${jobId}`
  )
  return row
}

test('before anything was sent, the job fails and its reservation is released', async () => {
  const end = await submit()
  expect(end).toMatchObject({ next: 'fail', error: { code: 'provider_refused' } })
  expect((end as { error: { message: string } }).error.message).toContain('api_key of ionq cannot be opened')
  await failJob(db, jobId, fence, { code: 'provider_refused', message: 'as above' })
  expect(await record()).toEqual({ status: 'failed', error_code: 'provider_refused', cost: 0 })
  expect([...(await ledgerMismatches(db))]).toEqual([])
})

test('after a request that may have arrived, the job waits for a day and then ends with its money held', async () => {
  const attempt = (await takeForSubmit(db, plainRef(jobId), fence, { provider: 'IonQ', token: jobId }))!
  await markSending(db, plainRef(jobId), fence, attempt.number, 'v1')
  expect(await submit()).toMatchObject({ next: 'again', afterMs: 60_000 })
  await db.execute(
    sql`update provider_tasks set last_sent_at = last_sent_at - interval '25 hours' where job_id = ${jobId}`
  )
  expect(await submit()).toMatchObject({ next: 'fail', error: { code: 'provider_outcome_unknown' } })
  await failJob(db, jobId, fence, { code: 'provider_outcome_unknown', message: 'as above' })
  expect(await record()).toEqual({ status: 'failed', error_code: 'provider_outcome_unknown', cost: null })
  expect([...(await ledgerMismatches(db))]).toEqual([])

  // The look-ups of held money come to this job, and to the jobs behind it.
  await db.execute(sql`update provider_tasks set ask_at = now() where job_id = ${jobId}`)
  const [held] = await takeHeldProviderJobs(db, 10)
  expect(held!.jobId).toBe(jobId)
  expect(await settleHeldProviderJob(deps(), held!, signal)).toBe('not_yet')
})
