// With whose credentials a worker reads the machines of a provider, and how soon it asks again. The database is real; the
// provider is an adapter whose answers each test sets, and the time is a number.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { pino } from 'pino'
import { newReads, type RefreshDeps, refreshBackends } from '../../../apps/worker/sweeps/provider-loops.js'
import { findBackend } from '../../../db/backends/backends.js'
import type { Credentials } from '../../../domain/backends/provider-credentials.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { type BackendState, type ProviderAdapter, ProviderFault } from '../../../services/providers/adapter.js'
import { storeCredentials } from '../../../services/providers/credentials.js'
import { addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('provider_loops')
const { db } = database
afterAll(() => database.drop())

const keyRing = readKeyRing(`one:${randomBytes(32).toString('base64')}`)
const person = await addPerson(db)
const EXPIRED = 'EXPIREDKEY0000000001'
const VALID = 'VALIDKEY000000000001'
const REFRESH_MS = 5 * 60_000
/** Between two passes of the loop. */
const PASS_MS = 5_000

const garnet = 'arn:aws:braket:eu-north-1::device/qpu/iqm/Garnet'
const online: BackendState[] = [{ target: garnet, status: 'online', queueTimeSeconds: null, queueLength: 7 }]

/** The keys with which the machines were requested. */
let asked: string[]
beforeEach(async () => {
  asked = []
  await db.execute(sql`delete from team_secrets`)
  await db.execute(sql`update backends set queue_updated_at = null`)
})

async function teamWith(accessKey: string): Promise<string> {
  const teamId = await addTeam(db, person)
  await store(teamId, accessKey)
  return teamId
}

const store = (teamId: string, accessKey: string) =>
  db.transaction((tx) =>
    storeCredentials(
      tx,
      keyRing,
      { teamId, provider: 'aws-braket' },
      { access_key_id: accessKey, secret_access_key: 'a-secret-of-the-team', s3_bucket: 'amazon-braket-of-the-team' }
    )
  )

/** @param answer to the keys of a team. */
function worker(answer: (accessKey: string) => BackendState[]) {
  const unused = () => Promise.reject(new Error('the loop does not make this call'))
  const adapter: ProviderAdapter = {
    name: 'AWS Braket',
    credentials: 'aws-braket',
    submitsOnce: false,
    devicesArePublic: false,
    billsSeconds: false,
    rates: null,
    verify: unused,
    place: unused,
    describe: unused,
    stage: unused,
    find: unused,
    look: unused,
    counts: unused,
    cancel: unused,
    backends: async (credentials: Credentials | null) => {
      const accessKey = credentials!.access_key_id!
      asked.push(accessKey)
      return answer(accessKey)
    }
  }
  const deps: RefreshDeps = {
    db,
    providers: new Map([[adapter.name, adapter]]),
    emulated: false,
    keyRing,
    log: pino({ level: 'silent' })
  }
  const reads = newReads()
  return (now: number) => refreshBackends(deps, reads, now)
}

const rejected = (): never => {
  throw new ProviderFault('unauthorized', 'AWS does not know the access key')
}

test('a provider that rejects the only credentials is asked again with the next refresh, and not before', async () => {
  await teamWith(EXPIRED)
  const pass = worker(rejected)
  for (let now = 0; now < REFRESH_MS; now += PASS_MS) await pass(now)
  expect(asked).toEqual([EXPIRED])
  for (let now = REFRESH_MS; now < 2 * REFRESH_MS; now += PASS_MS) await pass(now)
  expect(asked).toEqual([EXPIRED, EXPIRED])
})

test('after the rejection of one team, the machines are read with the credentials of the next at once', async () => {
  await teamWith(EXPIRED)
  await teamWith(VALID)
  const pass = worker((accessKey) => (accessKey === VALID ? online : rejected()))
  for (let now = 0; now < REFRESH_MS; now += PASS_MS) await pass(now)
  expect(asked.filter((accessKey) => accessKey === VALID)).toHaveLength(1)
  expect(asked.filter((accessKey) => accessKey === EXPIRED).length).toBeLessThanOrEqual(1)
  expect(await findBackend(db, 'iqm-garnet')).toMatchObject({ status: 'online', queueLength: 7 })
})

test('credentials that replace rejected ones are used with the next refresh', async () => {
  const teamId = await teamWith(EXPIRED)
  const pass = worker((accessKey) => (accessKey === VALID ? online : rejected()))
  for (const now of [0, PASS_MS]) await pass(now)
  await store(teamId, VALID)
  for (let now = 2 * PASS_MS; now <= REFRESH_MS + PASS_MS; now += PASS_MS) await pass(now)
  expect(asked).toEqual([EXPIRED, VALID])
})

test('a provider without credentials of any team is not asked, and is asked soon after the first are stored', async () => {
  const pass = worker(() => online)
  for (const now of [0, PASS_MS]) await pass(now)
  expect(asked).toEqual([])
  await teamWith(VALID)
  await pass(2 * PASS_MS)
  expect(asked).toEqual([VALID])
})

test('of several workers, one reads the machines, and another one when that is away', async () => {
  await teamWith(VALID)
  const [one, other] = [worker(() => online), worker(() => online)]
  await one(0)
  for (let now = 0; now < REFRESH_MS; now += PASS_MS) await other(now)
  expect(asked).toEqual([VALID])
  await db.execute(sql`update backends set queue_updated_at = queue_updated_at - interval '5 minutes'`)
  await other(REFRESH_MS)
  await one(REFRESH_MS)
  expect(asked).toEqual([VALID, VALID])
})

test('a worker that cannot read the machines does not keep another one from it', async () => {
  await teamWith(VALID)
  await worker(() => {
    throw new ProviderFault('unreachable', 'it has no way to the provider')
  })(0)
  await worker(() => online)(0)
  expect(asked).toEqual([VALID, VALID])
})
