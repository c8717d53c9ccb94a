// How often the service looks at the jobs of a team that wait at their provider. The database is real; the provider is an
// adapter whose jobs stay queued, or which does not respond.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { followTask } from '../../../activities/provider/follow.js'
import { submitToProvider } from '../../../activities/provider/submit.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { plainRef } from '../../../db/provider-jobs/provider-refs.js'
import { teamLooksPerSecond } from '../../../db/provider-jobs/team-looks.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { type ProviderAdapter, ProviderFault } from '../../../services/providers/adapter.js'
import { storeCredentials } from '../../../services/providers/credentials.js'
import { adapterWith, completedView, providerDeps, storeCompiled } from '../../support/jobs/provider-steps.js'
import { addJob, addPerson, type Person } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('provider_looks')
const { db } = database
const executor = createExecutorClient('http://127.0.0.1:1', 'a-token')
const keyRing = readKeyRing(`one:${randomBytes(32).toString('base64')}`)
const fence = { generation: 1 }
const { signal } = new AbortController()

const queued = adapterWith({
  place: async () => ({ account: 'account-1' }),
  stage: async () => async () => 'provider-job',
  look: async () => ({ ...completedView, status: 'queued', raw: 'Queued' })
})
const depsWith = (provider: ProviderAdapter) => ({
  ...providerDeps({ db, executor, keyRing, providers: new Map([['IonQ', provider]]) }),
  teamLooks: (teamId: string) => teamLooksPerSecond(db, teamId)
})

interface Team {
  id: string
  jobs: string[]
}

/** A team with jobs that the provider has accepted just now. */
async function teamWith(count: number): Promise<Team> {
  const person: Person = await addPerson(db)
  const jobs: string[] = []
  for (let number = 0; number < count; number++) {
    const jobId = await addJob(db, person, { cost: 0n, submission: { backend: 'ionq-direct-simulator' } })
    await beginJob(db, jobId, fence)
    await storeCompiled(db, jobId, fence)
    jobs.push(jobId)
  }
  const [job] = await db.execute<{ team_id: string }>(sql`select team_id from jobs where id = ${jobs[0]!}`)
  const id = job!.team_id
  await db.transaction((tx) =>
    storeCredentials(tx, keyRing, { teamId: id, provider: 'ionq' }, { api_key: 'key-of-the-team' })
  )
  for (const jobId of jobs)
    expect(await submitToProvider(depsWith(queued), { ref: plainRef(jobId), fence, signal })).toEqual({
      next: 'follow'
    })
  return { id, jobs }
}

const acceptedAgo = (jobs: readonly string[], seconds: number) =>
  db.execute(sql`update provider_tasks set accepted_at = now() - make_interval(secs => ${seconds})
    where job_id in ${jobs.map((id) => id)}`)

/** Milliseconds until the next look. */
async function pauseOf(jobId: string, provider = queued, isFree = true): Promise<number> {
  const place = { enter: () => isFree, leave: () => {} }
  const end = await followTask(depsWith(provider), { ref: plainRef(jobId), fence, signal, place })
  if (end.next !== 'again') throw new Error(`the job is to ${end.next}`)
  return end.afterMs
}

let few: Team
let many: Team
beforeAll(async () => {
  few = await teamWith(5)
  many = await teamWith(60)
}, 60_000)
afterAll(async () => {
  await executor.close()
  await database.drop()
})

test('the looks at all jobs of a team together stay within its bound, and the jobs of others do not count', async () => {
  await acceptedAgo(few.jobs, 0)
  expect(await pauseOf(few.jobs[0]!)).toBe(1_000)
  const pauses = await Promise.all(many.jobs.map((jobId) => pauseOf(jobId)))
  const looksPerSecond = pauses.reduce((sum, ms) => sum + 1_000 / ms, 0)
  expect(looksPerSecond).toBeGreaterThan(16)
  expect(looksPerSecond).toBeLessThan(22)
})

test('a provider that does not respond is not called more often than one that does', async () => {
  const silent = adapterWith({
    place: queued.place,
    look: async () => {
      throw new ProviderFault('unclear', 'no answer within 30 s')
    }
  })
  await acceptedAgo(many.jobs, 600)
  expect(await pauseOf(many.jobs[0]!, silent)).toBeGreaterThanOrEqual(60_000)
})

test('a look that finds its team with no free call to the provider is not tried again sooner', async () => {
  await acceptedAgo(many.jobs, 600)
  expect(await pauseOf(many.jobs[0]!, queued, false)).toBeGreaterThanOrEqual(60_000)
})

test('a job accepted just now is looked at soon, however many jobs of its team have waited for hours', async () => {
  await acceptedAgo(many.jobs, 7_200)
  await acceptedAgo(many.jobs.slice(0, 1), 0)
  expect(await pauseOf(many.jobs[0]!)).toBe(1_000)
  expect(await pauseOf(many.jobs[1]!)).toBe(60_000)
})
