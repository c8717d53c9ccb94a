// How the devices of a provider are described that does not answer, or only after a while. The database is real; the provider is
// an adapter whose calls each test sets.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import { prepareProgram } from '../../../activities/provider/prepare.js'
import { watchProviders } from '../../../apps/worker/sweeps/watched-providers.js'
import { beginJob } from '../../../db/job-steps/job-steps.js'
import { plainRef } from '../../../db/provider-jobs/provider-refs.js'
import { createExecutorClient } from '../../../services/executor/client.js'
import { readKeyRing } from '../../../services/keys/key-ring.js'
import { type DeviceFacts, type ProviderAdapter, ProviderFault } from '../../../services/providers/adapter.js'
import { storeCredentials } from '../../../services/providers/credentials.js'
import { createDescriptions } from '../../../services/providers/descriptions.js'
import { eventually } from '../../support/eventually.js'
import { gateTo } from '../../support/jobs/gate-to.js'
import { adapterWith, providerDeps } from '../../support/jobs/provider-steps.js'
import { addJob, addPerson, addTeam } from '../../support/jobs/rows.js'
import { createTestDatabase } from '../../support/stack/database.js'

const database = await createTestDatabase('provider_descriptions')
const { db } = database
const compiler = createExecutorClient(process.env.TEST_EXECUTOR_URL!, process.env.TEST_EXECUTOR_TOKEN!)
const keyRing = readKeyRing(`one:${randomBytes(32).toString('base64')}`)
afterAll(async () => {
  await compiler.close()
  await database.drop()
})

const backend = 'ionq-direct-simulator'
const fence = { generation: 1 }
const person = await addPerson(db)
/** Two of one team, and one of another. */
let jobs: [string, string, string]
/** The calls of `describe`. */
let asked: number

beforeEach(async () => {
  const teams = await Promise.all([addTeam(db, person), addTeam(db, person)])
  for (const teamId of teams)
    await db.transaction((tx) =>
      storeCredentials(tx, keyRing, { teamId, provider: 'ionq' }, { api_key: 'key-of-the-team' })
    )
  const add = async (teamId: string) => {
    const jobId = await addJob(db, person, { submission: { teamId, backend } })
    await beginJob(db, jobId, fence)
    return jobId
  }
  jobs = [await add(teams[0]!), await add(teams[0]!), await add(teams[1]!)]
  asked = 0
})

const facts: DeviceFacts = {
  target: { format: 'ionq', num_qubits: 29 },
  status: 'online',
  shots: null,
  price: null
}

const worker = (describe: ProviderAdapter['describe'], describeMs = 60_000, faultMs = 60_000) => {
  const provider = adapterWith({
    describe: (...args) => {
      asked++
      return describe(...args)
    }
  })
  const deps = providerDeps({ db, executor: compiler, keyRing, providers: new Map([['IonQ', provider]]) })
  return {
    ...deps,
    gate: gateTo(compiler),
    descriptions: createDescriptions(faultMs),
    providerTimes: { ...deps.providerTimes, describeMs }
  }
}

type Worker = ReturnType<typeof worker>

const prepare = (deps: Worker, jobId: string, others = {}) =>
  prepareProgram(deps, { ref: plainRef(jobId), fence, signal: new AbortController().signal, ...others })

/** The same worker, whose provider answers now. */
const healed = ({ descriptions }: Worker): Worker => ({ ...worker(async () => facts), descriptions })

/** Never answers. */
const hanging: ProviderAdapter['describe'] = (_credentials, _device, signal) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

test('while a provider is asked about a device, the other jobs of the team come back later', async () => {
  let answer = (_: DeviceFacts) => {}
  const answered = new Promise<DeviceFacts>((resolve) => {
    answer = resolve
  })
  const deps = worker(() => answered)
  const first = prepare(deps, jobs[0])
  await eventually(() => asked === 1)
  const later = await prepare(deps, jobs[1])
  expect(later).toMatchObject({ next: 'again', why: expect.stringMatching(/another job of the team is asking IonQ/) })
  expect((later as { afterMs: number }).afterMs).toBeLessThanOrEqual(10_000)
  answer(facts)
  expect(await first).toEqual({ next: 'submit' })
  expect(asked).toBe(1)
})

test('a job of another team is not held up by it', async () => {
  let isHung = true
  const deps = worker((...args) => {
    if (!isHung) return Promise.resolve(facts)
    isHung = false
    return hanging(...args)
  }, 5_000)
  const first = prepare(deps, jobs[0])
  await eventually(() => asked === 1)
  expect(await prepare(deps, jobs[2])).toEqual({ next: 'submit' })
  expect(await first).toMatchObject({ next: 'again' })
})

test('a provider that does not answer is given up after a limit, counts as silent, and is not asked again by the next job', async () => {
  const outcomes: string[] = []
  const silent = worker(hanging, 50)
  const providers = watchProviders(silent.providers, (_provider, _call, outcome) => outcomes.push(outcome), null)
  const deps = { ...silent, providers }
  const why = 'IonQ did not describe the device within 0.05 s'
  expect(await prepare(deps, jobs[0])).toMatchObject({ next: 'again', why })
  expect(await prepare(deps, jobs[1])).toMatchObject({ next: 'again', why })
  expect([asked, outcomes]).toEqual([1, ['unclear']])
})

test('a fault that can pass is forgotten after a while', async () => {
  const deps = worker(async () => Promise.reject(new ProviderFault('unclear', 'it broke')), 60_000, 0)
  expect(await prepare(deps, jobs[0])).toMatchObject({ next: 'again', why: 'it broke' })
  expect(await prepare(healed(deps), jobs[1])).toEqual({ next: 'submit' })
})

test('a refusal of one job is not repeated to the next one without asking', async () => {
  const deps = worker(async () => Promise.reject(new ProviderFault('refused', 'it is refused')))
  expect(await prepare(deps, jobs[0])).toMatchObject({ next: 'fail', error: { message: 'it is refused' } })
  expect(await prepare(healed(deps), jobs[1])).toEqual({ next: 'submit' })
})

test('a fault with credentials of the team does not count for others that it stores', async () => {
  const deps = worker(async () => Promise.reject(new ProviderFault('busy', 'too many requests with this key')))
  expect(await prepare(deps, jobs[2])).toMatchObject({ next: 'again' })
  const [job] = await db.execute<{ team_id: string }>(sql`select team_id from jobs where id = ${jobs[2]}`)
  await db.transaction((tx) =>
    storeCredentials(tx, keyRing, { teamId: job!.team_id, provider: 'ionq' }, { api_key: 'another-key' })
  )
  expect(await prepare(healed(deps), jobs[2])).toEqual({ next: 'submit' })
})

test("a description takes a place of the team's share, which is free while the circuit waits for the executor", async () => {
  let holds = 0
  const place = {
    enter: () => {
      holds++
      return true
    },
    leave: () => {
      holds = 0
    }
  }
  const during: number[] = []
  const deps = worker(async () => {
    during.push(holds)
    return facts
  })
  const { gate } = deps
  const enter: typeof gate.enter = (...args) => {
    during.push(holds)
    return gate.enter(...args)
  }
  expect(await prepare({ ...deps, gate: { ...gate, enter } }, jobs[0], { place })).toEqual({ next: 'submit' })
  expect(during).toEqual([1, 0])
  expect(await prepare(deps, jobs[1], { place: { ...place, enter: () => false } })).toMatchObject({ next: 'again' })
  expect(asked).toBe(1)
})
