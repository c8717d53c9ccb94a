// A submission whose provider answers and does not accept, and one whose credentials change after a lost answer. The
// database is real; the provider is an adapter whose calls each test sets.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { prepareProgram } from '../../../activities/provider/prepare.js'
import { submitToProvider } from '../../../activities/provider/submit.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { plainRef } from '../../../db/provider-jobs/provider-refs.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { type ProviderAdapter, ProviderFault, type ProviderFaultKind } from '../../../services/providers/adapter.js'
import { storeCredentials } from '../../../services/providers/credentials.js'
import { gateTo } from '../../support/jobs/gate-to.js'
import { adapterWith, providerDeps, storeCompiled } from '../../support/jobs/provider-steps.js'
import { addJob, addPerson } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('provider_submission')
const { db } = database
const executor = createExecutorClient('http://127.0.0.1:1', 'a-token')
const compiler = createExecutorClient(process.env.TEST_EXECUTOR_URL!, process.env.TEST_EXECUTOR_TOKEN!)
const keyRing = readKeyRing(`one:${randomBytes(32).toString('base64')}`)
afterAll(async () => {
  await Promise.all([executor.close(), compiler.close()])
  await database.drop()
})

const person = await addPerson(db)
const fence = { generation: 1 }
const { signal } = new AbortController()
let jobId: string
let teamId: string
/** The paid requests: the place of each. */
let sent: object[]

beforeEach(async () => {
  jobId = await addJob(db, person, { cost: 700n, submission: { backend: 'ionq-direct-simulator' } })
  await beginJob(db, jobId, fence)
  const [job] = await db.execute<{ team_id: string }>(sql`select team_id from jobs where id = ${jobId}`)
  teamId = job!.team_id
  await replaceCredentials('first-key-of-the-team')
  await storeCompiled(db, jobId, fence)
  sent = []
})

const replaceCredentials = (api_key: string) =>
  db.transaction((tx) => storeCredentials(tx, keyRing, { teamId, provider: 'ionq' }, { api_key }))

/** An adapter that names the account of its credentials, and accepts everything unless a test says otherwise. */
function adapter(calls: Partial<ProviderAdapter> & { account?: string; answer?: () => string }): ProviderAdapter {
  const { account = 'account-1', answer = () => 'provider-job-1', ...others } = calls
  return adapterWith({
    place: async () => ({ account, region: 'north' }),
    stage:
      async ({ place }) =>
      async () => {
        sent.push(place)
        return answer()
      },
    find: async () => null,
    ...others
  })
}

const described = {
  target: { format: 'ionq', num_qubits: 29 },
  status: 'online',
  shots: null,
  price: null
}

const depsWith = (provider: ProviderAdapter, takeMs: number | null = null) => ({
  ...providerDeps({ db, executor, keyRing, providers: new Map([['IonQ', provider]]) }),
  rates: { take: async () => takeMs }
})
const context = () => ({ ref: plainRef(jobId), fence, signal })
const submit = (provider: ProviderAdapter, takeMs: number | null = null) =>
  submitToProvider(depsWith(provider, takeMs), context())

const fails =
  (kind: ProviderFaultKind, message = `it is ${kind}`) =>
  () => {
    throw new ProviderFault(kind, message)
  }

async function row() {
  const [found] = await db.execute<{
    state: string
    last_sent_at: Date | null
    wait_message: string | null
    place: unknown
  }>(sql`select state, last_sent_at, wait_message, place from provider_tasks where job_id = ${jobId}`)
  return found!
}

/** As if the job had been tried, and its last request sent, so much earlier. */
const age = (hours: number) =>
  db.execute(sql`update provider_tasks set trying_since = trying_since - make_interval(hours => ${hours}),
    last_sent_at = last_sent_at - make_interval(hours => ${hours}), seen_at = now() where job_id = ${jobId}`)

test('a lost answer is not followed by a request with credentials of another account, even where a token never pays twice', async () => {
  const first = adapter({ submitsOnce: true, answer: fails('unclear') })
  expect(await submit(first)).toMatchObject({ next: 'again' })
  await replaceCredentials('key-of-another-account')
  const second = adapter({ submitsOnce: true, account: 'account-2' })
  await age(1)
  expect(await submit(second)).toMatchObject({ next: 'again' })
  expect(sent).toHaveLength(1)
  expect((await row()).wait_message).toMatch(/sent with credentials of account-1, and the team's are now of account-2/)

  // The first account's credentials are stored again: the same request goes to the same place, and pays once.
  await replaceCredentials('first-key-of-the-team')
  expect(await submit(first)).toMatchObject({ next: 'again' })
  expect(await submit(adapter({ submitsOnce: true }))).toEqual({ next: 'follow' })
  expect(await row()).toMatchObject({ state: 'accepted', wait_message: null })
})

test('with replaced keys of the same account, the first request is looked for where it was sent, and then repeated', async () => {
  expect(await submit(adapter({ answer: fails('unclear') }))).toMatchObject({ next: 'again' })
  await replaceCredentials('second-key-of-the-team')
  await age(1)
  let lookedAt: object | null = null
  const moved = adapter({
    place: async () => ({ account: 'account-1', region: 'south' }),
    find: async ({ place }) => {
      lookedAt = place
      return null
    }
  })
  expect(await submit(moved)).toEqual({ next: 'follow' })
  expect(lookedAt).toEqual({ account: 'account-1', region: 'north' })
  expect(sent).toEqual([
    { account: 'account-1', region: 'north' },
    { account: 'account-1', region: 'south' }
  ])
})

test('a request that was certainly not accepted fixes no place', async () => {
  expect(await submit(adapter({ answer: fails('busy') }))).toMatchObject({ next: 'again' })
  expect(await row()).toMatchObject({ last_sent_at: null, place: null, wait_message: 'it is busy' })
})

test('a fault before the paid request is never a request that may have arrived', async () => {
  expect(await submit(adapter({ stage: fails('unclear', 'the upload broke') as never }))).toMatchObject({
    next: 'again'
  })
  expect(await row()).toMatchObject({ state: 'intended', last_sent_at: null, wait_message: 'the upload broke' })
  expect(await submit(adapter({}))).toEqual({ next: 'follow' })
})

test.each(['busy', 'unclear'] as const)(
  'a provider that answers for a day and accepts nothing (%s) ends the job, and its money is released',
  async (kind) => {
    const provider = adapter({ answer: fails(kind) })
    expect(await submit(provider)).toMatchObject({ next: 'again' })
    await age(25)
    const end = await submit(provider)
    expect(end).toMatchObject({ next: 'fail', error: { code: 'provider_unreachable' } })
    expect((await row()).state).toBe('withdrawn')
  }
)

test('a device that takes no jobs at present has refused nothing, however long it is away', async () => {
  const provider = adapter({ answer: fails('offline', 'the device is in maintenance') })
  for (let day = 0; day < 3; day++) {
    expect(await submit(provider)).toMatchObject({ next: 'again' })
    await age(23)
  }
  expect(await row()).toMatchObject({ state: 'intended', wait_message: 'the device is in maintenance' })
  expect(await submit(adapter({}))).toEqual({ next: 'follow' })
})

test('a device that its provider has retired fails the job as backend_retired', async () => {
  expect(await submit(adapter({ answer: fails('retired') }))).toMatchObject({
    next: 'fail',
    error: { code: 'backend_retired' }
  })
  expect((await row()).state).toBe('withdrawn')
})

test("beyond the provider's rate nothing is sent", async () => {
  const provider = adapter({ rates: { submit: { max: 1, windowSeconds: 1 }, look: { max: 1, windowSeconds: 1 } } })
  expect(await submit(provider, 700)).toMatchObject({ next: 'again' })
  expect(sent).toEqual([])
  expect(await submit(provider)).toEqual({ next: 'follow' })
})

test.each([
  [
    'the provider says that the device is retired',
    'backend_retired',
    async () => ({ ...described, status: 'retired' })
  ],
  ['the device takes fewer shots', 'provider_refused', async () => ({ ...described, shots: { min: 1, max: 1 } })],
  ['the provider does not know the device', 'provider_refused', fails('not_found')],
  ['the credentials are rejected', 'provider_refused', fails('unauthorized')]
])('nothing is compiled or sent when %s', async (_name, code, describe) => {
  await db.execute(sql`delete from artifacts where job_id = ${jobId}`)
  const provider = adapter({ describe: describe as ProviderAdapter['describe'] })
  expect(await prepareProgram(depsWith(provider), context())).toMatchObject({ next: 'fail', error: { code } })
})

test('a device that cannot be described at present is asked again', async () => {
  await db.execute(sql`delete from artifacts where job_id = ${jobId}`)
  const provider = adapter({ describe: fails('unclear') as never })
  expect(await prepareProgram(depsWith(provider), context())).toMatchObject({ next: 'again', why: 'it is unclear' })
  await db.execute(sql`update jobs set started_at = started_at - interval '25 hours' where id = ${jobId}`)
  expect(await prepareProgram(depsWith(provider), context())).toMatchObject({
    next: 'fail',
    error: { code: 'provider_unreachable' }
  })
})

test.each([
  ['fewer qubits than the circuit', 1, { next: 'fail', error: { code: 'unsupported_operation' } }],
  ['more qubits than the executor takes', 1000, { next: 'submit' }],
  ['a number that the provider does not tell', null, { next: 'submit' }]
])('without a width in the catalogue, a circuit may have that of the device: %s', async (_name, num_qubits, end) => {
  await db.execute(sql`delete from artifacts where job_id = ${jobId}`)
  await db.execute(sql`update backends set max_qubits = null where slug = 'ionq-direct-simulator'`)
  const target = { format: 'ionq' as const, num_qubits }
  const provider = adapter({ describe: async () => ({ target, status: 'online', shots: null, price: null }) })
  expect(await prepareProgram({ ...depsWith(provider), gate: gateTo(compiler) }, context())).toMatchObject(end)
})
