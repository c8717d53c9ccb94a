// What the runs of a capsule spend and reserve: the counter equals the ledger of their jobs at every moment, and no run
// is created that exceeds the budget. MONEY_PROPERTY_RUNS sets how many random histories are tried.
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import { changeBackend } from '../../../db/backends/backends.js'
import { advanceRun, dueRuns } from '../../../db/capsule-runs/capsule-run-steps.js'
import { createRun } from '../../../db/capsule-runs/capsule-runs.js'
import { createCapsule } from '../../../db/capsules/capsule-changes.js'
import { beginJob, completeJob, failJob, recordCancelled, requestCancel } from '../../../db/job-steps/job-steps.js'
import { recordScriptRequest } from '../../../db/jobs/script-requests.js'
import { settleHeld } from '../../../db/money/budget.js'
import { proveAll, proveRecent } from '../../../db/proofs/money-proof.js'
import { bookUsage } from '../../../db/provider-jobs/pending-usage.js'
import { markAccepted, markSeen, markSending, takeForSubmit } from '../../../db/provider-jobs/provider-jobs.js'
import { plainRef, requestedRef } from '../../../db/provider-jobs/provider-refs.js'
import { lockTeamForWrite } from '../../../db/teams/teams.js'
import type { CapsuleTask } from '../../../domain/capsules/capsule-definition.js'
import { codeOf, type ServiceError } from '../../../domain/errors.js'
import { bellQasm3 } from '../../support/jobs/builders.js'
import { requestedCircuit } from '../../support/jobs/money-scenario.js'
import { addPerson, addTeam, type Person } from '../../support/jobs/rows.js'
import { everything } from '../../support/lane.js'
import { createTestDatabase } from '../../support/stack/database.js'

const RUNS = Number(process.env.MONEY_PROPERTY_RUNS ?? (everything ? 8 : 3))
const fence = { generation: 1 }

const database = await createTestDatabase('capsule_budget', { max: 12 })
const { db } = database
let person: Person
let teamId: string
beforeAll(async () => {
  person = await addPerson(db)
  // One micro-dollar a shot, so the shots of a task set its price.
  await changeBackend(db, 'aer-mps', { pricing: { taskFee: 0n, perShot: 1n, minimumCost: 0n } })
  await guardCapsules()
})
beforeEach(async () => {
  teamId = await addTeam(db, person)
})
afterAll(() => database.drop())

/** Makes the database itself refuse, at the commit, each reservation that exceeds the budget. */
async function guardCapsules(): Promise<void> {
  await db.execute(sql`
    create function watch_capsules() returns trigger language plpgsql as $$
    declare most bigint;
    begin
      if tg_op = 'UPDATE' and new.reserved_micro <= old.reserved_micro then return null; end if;
      select max_budget_micro into most from capsules where id = new.capsule_id;
      if new.reserved_micro > 0 and new.spent_micro + new.reserved_micro > most then
        raise exception 'the budget of a capsule was exceeded: % + % of %', new.spent_micro, new.reserved_micro, most;
      end if;
      return null;
    end $$`)
  await db.execute(sql`create constraint trigger watch_capsules after insert or update on capsule_budgets
    deferrable initially deferred for each row execute function watch_capsules()`)
}

const task = (place: number, shots: number): CapsuleTask => ({
  name: `t${place}`,
  source: { kind: 'circuit', format: 'qasm3', text: bellQasm3() },
  backend: shots === 0 ? 'local' : 'aer-mps',
  parameters: { shots: Math.max(shots, 1) },
  execution_mode: 'temporal',
  timeout_seconds: 60,
  circuit_count: 1
})

const addCapsule = (prices: number[], maxBudget: bigint | null): Promise<string> =>
  db.transaction((tx) =>
    createCapsule(
      tx,
      {
        teamId,
        ownerId: person.userId,
        state: 'draft',
        name: 'a capsule',
        description: '',
        tags: [],
        definition: { tasks: prices.map((price, place) => task(place, price)) },
        maxBudget,
        retentionYears: null,
        regulatoryFramework: null
      },
      { actor: 'system' }
    )
  )

const startRun = (capsuleId: string): Promise<string[]> =>
  db.transaction(async (tx) => {
    await lockTeamForWrite(tx, { ...person, key: null }, teamId)
    const { jobIds } = await createRun(tx, {
      capsuleId,
      mode: 'template',
      trigger: 'request',
      owner: { userId: person.userId, keyId: null },
      actor: `user:${person.userId}`,
      at: new Date()
    })
    return jobIds
  })

const wrong = async () => {
  const found = [...(await proveRecent(db))!, ...(await proveAll(db))!]
  return found.filter((finding) => !finding.includes('more than was reserved') && !finding.includes('is held and'))
}

const counterOf = async (capsuleId: string) =>
  (
    await db.execute(sql`select spent_micro::int as spent, reserved_micro::int as reserved
      from capsule_budgets where capsule_id = ${capsuleId}`)
  )[0] ?? { spent: 0, reserved: 0 }

/** What the ledger has for the jobs of the capsule's runs. */
const ledgerOf = async (capsuleId: string) =>
  (
    await db.execute(sql`select
      coalesce(sum(case kind when 'reserve' then amount_micro when 'adjust' then 0 else -amount_micro end), 0)::int as reserved,
      coalesce(sum(case when kind in ('settle', 'adjust') then amount_micro else 0 end), 0)::int as spent
      from ledger join jobs on jobs.id = job_id where capsule_id = ${capsuleId}`)
  )[0]

const stepArb = fc.record({
  kind: fc.constantFrom(
    ...(['run', 'run', 'complete', 'complete', 'complete', 'fail', 'cancel', 'cancelled'] as const),
    ...(['atProvider', 'unknown', 'lateBill', 'lateUsage', 'lateUsage', 'advance', 'advance', 'advance'] as const)
  ),
  capsule: fc.nat(1),
  job: fc.nat(9),
  cost: fc.bigInt(0n, 25n)
})
type Step = typeof stepArb extends fc.Arbitrary<infer T> ? T : never

interface World {
  capsules: string[]
  jobs: string[]
}

async function act(world: World, { kind, capsule, job, cost }: Step): Promise<unknown> {
  if (kind === 'run') {
    world.jobs.push(...(await startRun(world.capsules[capsule]!)))
    return
  }
  if (kind === 'advance') return Promise.all((await dueRuns(db, 10)).map((id) => advanceRun(db, id)))
  const id = world.jobs.at(-1 - (job % Math.max(world.jobs.length, 1)))
  if (!id) return
  switch (kind) {
    case 'complete':
      await beginJob(db, id, fence)
      return completeJob(db, id, fence, 'a'.repeat(64))
    case 'fail':
      return failJob(db, id, undefined, { code: 'execution_error', message: 'it broke' })
    case 'cancel':
      return requestCancel(db, id)
    case 'cancelled':
      return recordCancelled(db, id, undefined, 'stopped_before_provider')
    case 'atProvider': {
      await beginJob(db, id, fence)
      const taken = await takeForSubmit(db, plainRef(id), fence, { provider: 'ionq', token: id })
      const sent = taken && (await markSending(db, plainRef(id), fence, taken.number, 'v1'))
      if (!sent || !(await markAccepted(db, plainRef(id), fence, `at-${id}`)) || cost % 3n === 0n) return
      const seen = { status: 'completed', queuePosition: null, predictedWaitSeconds: null, failure: null } as const
      const figure = cost % 2n === 0n ? { cost } : { cost: null, isUsagePending: true }
      return markSeen(db, plainRef(id), { ...seen, ...figure, state: 'completed' })
    }
    case 'unknown':
      return failJob(db, id, fence, { code: 'provider_outcome_unknown', message: 'no answer' })
    case 'lateUsage':
      return bookUsage(db, plainRef(id), { cost, usage: null, note: null })
    case 'lateBill':
      return db.transaction((tx) => settleHeld(tx, id, cost))
  }
}

async function actInOrder(world: World, step: Step): Promise<void> {
  try {
    await act(world, step)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'conflict') return
    if (code !== 'budget_exceeded') throw error
    const { estimated_cost, current_spend, budget } = (error as ServiceError).fields as Record<string, number>
    if (!(estimated_cost! + current_spend! > budget! + 1e-12)) throw error
  }
}

test(
  "with concurrent actors, a capsule's counter equals the ledger, the budget holds, and nothing stays reserved at the end",
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(9), { minLength: 1, maxLength: 4 }), { minLength: 2, maxLength: 2 }),
        fc.bigInt(0n, 60n),
        fc.array(fc.array(stepArb, { minLength: 5, maxLength: 20 }), { minLength: 2, maxLength: 6 }),
        async (prices, budget, sides) => {
          const world: World = {
            capsules: [await addCapsule(prices[0]!, budget), await addCapsule(prices[1]!, null)],
            jobs: []
          }
          await Promise.all(
            sides.map(async (steps) => {
              for (const step of steps) await actInOrder(world, step)
            })
          )
          expect(await wrong()).toEqual([])
          for (const id of world.capsules) expect(await counterOf(id)).toEqual(await ledgerOf(id))
          for (const id of world.jobs) {
            await requestCancel(db, id)
            await recordCancelled(db, id, undefined, 'stopped_before_provider')
            await actInOrder(world, {
              kind: 'lateBill',
              capsule: 0,
              job: world.jobs.length - 1 - world.jobs.indexOf(id),
              cost: 3n
            })
          }
          for (const runId of await dueRuns(db, 1_000)) await advanceRun(db, runId)
          expect(await wrong()).toEqual([])
          for (const id of world.capsules) expect(await counterOf(id)).toMatchObject({ reserved: 0 })
          expect(await dueRuns(db, 1_000)).toEqual([])
          const open = await db.execute(sql`select status from capsule_runs
            where team_id = ${teamId} and status in ('pending', 'running')`)
          expect([...open]).toEqual([])
        }
      ),
      { numRuns: RUNS, endOnFailure: true }
    ),
  60_000 + RUNS * 10_000
)

test("a script of a run can request circuits within its capsule's budget, and gets a refusal beyond it", async () => {
  const capsule = await addCapsule([4], 10n)
  const [jobId] = await startRun(capsule)
  await beginJob(db, jobId!, fence)
  const ask = async (number: number, estimate: bigint) => {
    await recordScriptRequest(
      db,
      jobId!,
      fence,
      { task: '', number, series: 0, parkedAs: null },
      requestedCircuit(number)
    )
    const ref = requestedRef(jobId!, '', number)
    return takeForSubmit(db, ref, fence, { provider: 'ionq', token: `${jobId}${number}`, estimate })
  }
  await ask(1, 3n)
  expect(await counterOf(capsule)).toEqual({ spent: 0, reserved: 4 })
  await ask(2, 5n)
  expect(await counterOf(capsule)).toEqual({ spent: 0, reserved: 8 })
  await expect(ask(3, 4n)).rejects.toMatchObject({
    code: 'budget_exceeded',
    message: expect.stringContaining("the capsule's max_budget_usd ($0.000002 of $0.000010)")
  })
  expect(await counterOf(capsule)).toEqual({ spent: 0, reserved: 8 })
  expect(await wrong()).toEqual([])
})

test("a manual change of a capsule's counter is found in both directions", async () => {
  const capsule = await addCapsule([5, 5], null)
  await startRun(capsule)
  expect(await wrong()).toEqual([])
  await db.execute(sql`update capsule_budgets set reserved_micro = 9 where capsule_id = ${capsule}`)
  const found = await wrong()
  expect(found).toContain(
    `capsule ${capsule}: $0.000009 counted as reserved, but $0.000010 for the open and held jobs of its runs`
  )
  expect(found.some((finding) => finding.startsWith(`capsule ${capsule}: $0.000009 reserved and`))).toBe(true)
  await db.execute(sql`update capsule_budgets set reserved_micro = 10, spent_micro = 1 where capsule_id = ${capsule}`)
  expect((await wrong()).length).toBe(1)
  await db.execute(sql`delete from capsule_budgets where capsule_id = ${capsule}`)
  expect((await wrong()).length).toBe(2)
})
