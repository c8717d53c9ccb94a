// Random histories of jobs for the property tests of money: what can happen to them, carried out with the product's own
// steps on a real database.
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import type { Db } from '../../../db/client.js'
import {
  beginJob,
  completeJob,
  failJob,
  recordCancelled,
  recordFailure,
  requestCancel
} from '../../../db/job-steps/job-steps.js'
import type { Fence } from '../../../db/jobs/fence.js'
import { recordScriptRequest } from '../../../db/jobs/script-requests.js'
import { changeTeamBudget, settleHeld } from '../../../db/money/budget.js'
import { bookUsage, endUsageQueries } from '../../../db/provider-jobs/pending-usage.js'
import {
  markAccepted,
  markSeen,
  markSending,
  markUnknown,
  markWithdrawn,
  takeForSubmit
} from '../../../db/provider-jobs/provider-jobs.js'
import { plainRef, requestedRef } from '../../../db/provider-jobs/provider-refs.js'
import { codeOf, type ServiceError } from '../../../domain/errors.js'
import { addKey } from './money-rows.js'
import { addJob, addTeam, newLease, type Person } from './rows.js'

const micro = (max: number) => fc.bigInt(0n, BigInt(max))

/** Amounts are a few micro-dollars, so that limits are met often. */
export const teamArb = fc.record({
  perJob: micro(25),
  perSuite: micro(40),
  daily: micro(120),
  monthly: micro(200),
  keyDaily: fc.option(micro(60))
})
export type TeamPlan = typeof teamArb extends fc.Arbitrary<infer T> ? T : never

/** Two days of one month and one of the next. */
export const days = ['2026-10-30', '2026-10-31', '2026-11-01'] as const

const submitArb = fc.record({
  kind: fc.constant('submit' as const),
  team: fc.nat(9),
  byKey: fc.boolean(),
  day: fc.constantFrom(...days),
  cost: micro(12),
  circuits: fc.integer({ min: 1, max: 3 }),
  maxCost: fc.option(micro(20), { freq: 6 }),
  direct: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)),
  /** Whether it requests circuits while it runs. */
  script: fc.boolean()
})
const stepArb = fc.record({
  kind: fc.constantFrom(
    ...(['begin', 'begin', 'complete', 'fail', 'giveUp', 'cancel', 'cancelled', 'send', 'accept', 'accept'] as const),
    ...(['ended', 'ended', 'refused', 'unknown', 'lateBill', 'lateBill', 'lateUsage', 'lateUsage'] as const)
  ),
  /** Counted from the newest; mostly one of a few, so that concurrent steps meet. */
  job: fc.oneof({ weight: 3, arbitrary: fc.nat(3) }, fc.nat(99)),
  cost: micro(30),
  /** For scripts: which of its circuits, who requests it, and its price. */
  ask: fc.integer({ min: 1, max: 3 }),
  task: fc.constantFrom('', 'task_0001'),
  price: micro(9),
  end: fc.constantFrom('completed', 'failed', 'cancelled')
})
type Submit = typeof submitArb extends fc.Arbitrary<infer T> ? T : never
type Step = typeof stepArb extends fc.Arbitrary<infer T> ? T : never

/** Several actors at once, each performing its steps in order. */
export const scenarioArb = fc.record({
  teams: fc.array(teamArb, { minLength: 1, maxLength: 3 }),
  sides: fc.array(
    fc.array(fc.oneof({ weight: 1, arbitrary: submitArb }, { weight: 5, arbitrary: stepArb }), {
      minLength: 6,
      maxLength: 24
    }),
    { minLength: 2, maxLength: 8 }
  )
})

export interface World {
  teams: { id: string; key: { id: string; teamId: string; dailyLimit: bigint | null } }[]
  jobs: { id: string; fence: Fence; script: boolean }[]
}

/** The teams of a scenario with their limits. */
export async function makeWorld(db: Db, person: Person, plans: TeamPlan[]): Promise<World> {
  const teams: World['teams'] = []
  for (const { keyDaily, ...limits } of plans) {
    const id = await addTeam(db, person)
    await changeTeamBudget(db, id, limits)
    teams.push({ id, key: await addKey(db, person, id, keyDaily) })
  }
  return { teams, jobs: [] }
}

/** @throws Error for everything that neither succeeds nor is refused properly. */
export async function act(db: Db, person: Person, world: World, step: Submit | Step): Promise<void> {
  try {
    if (step.kind === 'submit') await submit(db, person, world, step)
    else if (world.jobs.length > 0) await take(db, world.jobs.at(-1 - (step.job % world.jobs.length))!, step)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'budget_exceeded' || code === 'spend_limit_exceeded') assertTruthful(error as ServiceError)
    else if (code !== 'conflict') throw error
  }
}

async function submit(db: Db, person: Person, world: World, plan: Submit): Promise<void> {
  const team = world.teams[plan.team % world.teams.length]!
  const id = await addJob(db, person, {
    cost: plan.cost,
    at: new Date(`${plan.day}T12:00:00Z`),
    ...(plan.byKey && { key: team.key }),
    submission: {
      teamId: team.id,
      circuitCount: plan.circuits,
      maxCost: plan.maxCost,
      mode: plan.direct ? 'direct' : 'temporal'
    }
  })
  world.jobs.push({ id, script: plan.script, fence: { generation: 1, ...(plan.direct && { lease: newLease() }) } })
}

async function take(db: Db, { id, fence, script }: World['jobs'][number], step: Step): Promise<unknown> {
  const { kind, cost, end, ask, task, price } = step
  const error = { code: 'execution_error', message: 'it broke' } as const
  switch (kind) {
    case 'begin':
      return beginJob(db, id, fence)
    case 'complete':
      return completeJob(db, id, fence, 'a'.repeat(64))
    case 'fail':
      return failJob(db, id, fence, error)
    case 'giveUp':
      return db.transaction((tx) => recordFailure(tx, id, error, { to: 'dispatch_failed' }))
    case 'cancel':
      return requestCancel(db, id)
    case 'cancelled':
      return recordCancelled(db, id, fence, 'stopped_before_provider')
    case 'lateBill':
      return settleByBill(db, id, cost)
  }
  // A job with a lease has no provider jobs.
  if (fence.lease) return
  const ref = script ? requestedRef(id, task, ask) : plainRef(id)
  switch (kind) {
    case 'send':
    case 'accept': {
      await beginJob(db, id, fence)
      if (script)
        await recordScriptRequest(
          db,
          id,
          fence,
          { task, number: ask, series: 0, parkedAs: null },
          requestedCircuit(ask)
        )
      const token = `${id}${task}${ask}`
      const taken = await takeForSubmit(db, ref, fence, { provider: 'ionq', token, ...(script && { estimate: price }) })
      const sent = taken && (await markSending(db, ref, fence, taken.number, 'v1'))
      return sent && kind === 'accept' && markAccepted(db, ref, fence, `at-${token}`)
    }
    case 'refused':
      return markWithdrawn(db, ref, fence, null)
    case 'ended': {
      const seen = { status: end, queuePosition: null, predictedWaitSeconds: null, failure: null }
      // Some get their figure, or another one, later.
      const figure = { cost: cost % 2n === 0n ? cost : null, isUsagePending: cost % 4n > 1n }
      return markSeen(db, ref, { ...seen, ...figure, state: end })
    }
    case 'lateUsage':
      return bookUsage(db, ref, { cost: cost % 5n === 0n ? null : cost, usage: null, note: null })
    case 'unknown':
      return markUnknown(db, ref, fence)
  }
}

/** As an administrator does, with a figure of its own. */
const settleByBill = (db: Db, id: string, cost: bigint) =>
  db.transaction(async (tx) => {
    await settleHeld(tx, id, cost)
    await endUsageQueries(tx, id)
  })

export const requestedCircuit = (number: number) => ({
  kind: 'circuit' as const,
  final: false as const,
  number,
  digest: 'd',
  shots: 1,
  openqasm3: '',
  facts: {},
  registers: []
})

/** A refusal names which amount does not fit into which remainder, and its figures add up. */
function assertTruthful({ message, fields }: ServiceError): void {
  const at = (name: string) => Math.round(Number(fields?.[name]) * 1e6)
  const [estimate, current, budget, rest] = ['estimated_cost', 'current_spend', 'budget', 'remaining_budget'].map(at)
  if (!(estimate! + current! > budget! && rest === budget! - current!))
    throw new Error(`a refusal whose figures do not explain it: ${message} ${JSON.stringify(fields)}`)
}

/** Ends every open job, and settles every held one. */
export async function endAll(db: Db, { jobs }: World): Promise<void> {
  await Promise.all(
    jobs.map(async ({ id }) => {
      await requestCancel(db, id)
      await recordCancelled(db, id, undefined, 'stopped_before_provider')
      await db
        .transaction((tx) => settleHeld(tx, id, 3n))
        .catch((error) => {
          if (codeOf(error) !== 'conflict') throw error
        })
    })
  )
}

/** Books every cost that is still to come, with two sweeps at once. */
export async function bookAll(db: Db): Promise<void> {
  const rows = await db.execute<{ job_id: string; task: string; attempt: number }>(
    sql`select job_id, task, attempt from provider_tasks where usage_ask_at is not null`
  )
  const book = ({ job_id: jobId, task, attempt }: (typeof rows)[number], cost: bigint) =>
    bookUsage(db, { jobId, task, attempt }, { cost, usage: null, note: null })
  await Promise.all(rows.flatMap((row) => [book(row, 1n), book(row, 20n)]))
}

/**
 * Makes the database itself refuse, at the commit, each reservation that exceeds its limit, so that none is visible at
 * any moment.
 */
export async function guardLimits(db: Db): Promise<void> {
  await db.execute(sql`
    create function watch_limits() returns trigger language plpgsql as $$
    declare most bigint;
    begin
      if tg_op = 'UPDATE' and new.reserved_micro <= old.reserved_micro then return null; end if;
      if tg_table_name = 'api_key_days' then
        select daily_limit_micro into most from api_keys where id = new.key_id;
      elsif new.period = 'day' then
        select daily_micro into most from team_budgets where team_id = new.team_id;
      else
        select monthly_micro into most from team_budgets where team_id = new.team_id;
      end if;
      if new.spent_micro + new.reserved_micro > greatest(most, 0) and new.reserved_micro > 0 then
        raise exception 'a limit was exceeded: % + % of %', new.spent_micro, new.reserved_micro, most;
      end if;
      return null;
    end $$`)
  for (const table of ['budget_counters', 'api_key_days'])
    await db.execute(
      sql.raw(`create constraint trigger watch_limits after insert or update on ${table}
        deferrable initially deferred for each row execute function watch_limits()`)
    )
}
