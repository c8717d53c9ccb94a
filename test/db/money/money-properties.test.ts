// For jobs in any order and with any concurrency: no reservation ever exceeds a limit, ledger and counters agree, every
// end has the right cost, also when that is stated late, and nothing stays reserved once all jobs have ended.
// MONEY_PROPERTY_RUNS sets how many random histories are tried (docs/money.md).
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { sql } from 'drizzle-orm'
import fc from 'fast-check'
import type { Tx } from '../../../db/client.js'
import { newId } from '../../../db/ids.js'
import { periodCounters, reserve, reserveSuite, settle } from '../../../db/money/budget.js'
import { ledgerMismatches, proveAll, proveRecent } from '../../../db/proofs/money-proof.js'
import { jobs } from '../../../db/tables/jobs.js'
import type { BudgetRefusal } from '../../../domain/money/budget.js'
import {
  act,
  bookAll,
  days,
  endAll,
  guardLimits,
  makeWorld,
  scenarioArb,
  type TeamPlan,
  teamArb,
  type World
} from '../../support/jobs/money-scenario.js'
import { addPerson, type Person } from '../../support/jobs/rows.js'
import { everything } from '../../support/lane.js'
import { createTestDatabase } from '../../support/stack/database.js'

const RUNS = Number(process.env.MONEY_PROPERTY_RUNS ?? (everything ? 8 : 3))
/** Generous: each history takes some hundred milliseconds. */
const TIMEOUT_MS = 60_000 + RUNS * 5_000

const database = await createTestDatabase('money_properties', { max: 12 })
const { db } = database
let person: Person
beforeAll(async () => {
  person = await addPerson(db)
  await guardLimits(db)
})
afterAll(() => database.drop())

async function reservedIn({ teams }: World): Promise<unknown[]> {
  const ids = sql.join(
    teams.map(({ id }) => sql`${id}::uuid`),
    sql`, `
  )
  return [
    ...(await db.execute(sql`select * from budget_counters where reserved_micro <> 0 and team_id in (${ids})`)),
    ...(await db.execute(sql`select * from api_key_days where reserved_micro <> 0
      and key_id in (select id from api_keys where team_id in (${ids}))`))
  ]
}

const wrong = async () => {
  const found = [...(await proveRecent(db))!, ...(await proveAll(db))!]
  return found.filter((finding) => !finding.includes('more than was reserved') && !finding.includes('is held and'))
}

/** Paid work that may run at a provider, of jobs whose money was released all the same. */
const givenBack = async () => [
  ...(await db.execute(sql`select jobs.id, jobs.status, provider_tasks.state from jobs
    join provider_tasks on provider_tasks.job_id = jobs.id
    where jobs.status in ('failed', 'cancelled', 'dispatch_failed') and jobs.actual_cost_micro is not null
      and provider_tasks.state in ('intended', 'accepted', 'unknown') and last_sent_at is not null
      and not coalesce(jobs.error_code = 'provider_outcome_unknown' or jobs.cancel_outcome = 'provider_unknown', false)`))
]

/** Jobs that have more reserved than allowed, or open circuits that are not reserved. */
const beyondTheirMeans = async () => [
  ...(await db.execute(sql`
    select jobs.id, reserved, per_job_micro, max_cost_micro, under_way
    from jobs join team_budgets on team_budgets.team_id = jobs.team_id,
      lateral (select coalesce(sum(amount_micro), 0) as reserved from ledger
        where job_id = jobs.id and kind = 'reserve') books,
      lateral (select coalesce(sum(estimate_micro), 0) as under_way from provider_tasks
        where job_id = jobs.id and state in ('intended', 'accepted', 'unknown')) circuits
    where reserved > per_job_micro or reserved > max_cost_micro or under_way > reserved`))
]

test(
  'concurrent actors never break a limit, and ledger and counters agree at every moment',
  () =>
    fc.assert(
      fc.asyncProperty(scenarioArb, async ({ teams, sides }) => {
        const world = await makeWorld(db, person, teams)
        await Promise.all(
          sides.map(async (steps) => {
            for (const step of steps) await act(db, person, world, step)
          })
        )
        expect(await wrong()).toEqual([])
        expect(await givenBack()).toEqual([])
        expect(await beyondTheirMeans()).toEqual([])
        await endAll(db, world)
        expect(await wrong()).toEqual([])
        expect(await reservedIn(world)).toEqual([])
        await bookAll(db)
        expect(await wrong()).toEqual([])
      }),
      { numRuns: RUNS, endOnFailure: true }
    ),
  TIMEOUT_MS
)

/** How much of each budget is used, computed independently as a reference model. */
class Paper {
  private readonly used = new Map<string, bigint>()
  constructor(private readonly plan: TeamPlan) {}

  /** The limit that refuses jobs of these costs, or `null` when they are accepted. */
  submit({ costs, day, byKey, maxCost }: Plan): string | null {
    const total = costs.reduce((sum, cost) => sum + cost, 0n)
    if (total === 0n) return null
    const { perJob, perSuite, daily, monthly, keyDaily } = this.plan
    if (maxCost !== null && total > maxCost) return 'max_cost'
    if (byKey && keyDaily !== null && this.usedOf(`key ${day}`) + total > keyDaily) return 'key'
    if (costs.some((cost) => cost > perJob)) return 'per_job'
    if (costs.length > 1 && total > perSuite) return 'per_suite'
    if (this.usedOf(day) + total > daily) return 'daily'
    if (this.usedOf(day.slice(0, 7)) + total > monthly) return 'monthly'
    this.add(day, byKey, total)
    return null
  }

  settle(day: string, byKey: boolean, reserved: bigint, spent: bigint): void {
    this.add(day, byKey, spent - reserved)
  }

  usedOf = (period: string): bigint => this.used.get(period) ?? 0n

  private add(day: string, byKey: boolean, amount: bigint): void {
    const periods = [day, day.slice(0, 7), ...(byKey && this.plan.keyDaily !== null ? [`key ${day}`] : [])]
    for (const period of periods) this.used.set(period, this.usedOf(period) + amount)
  }
}

const planArb = fc.record({
  kind: fc.constant('submit' as const),
  suite: fc.boolean(),
  costs: fc.array(fc.bigInt(0n, 14n), { minLength: 1, maxLength: 4 }),
  day: fc.constantFrom(...days),
  byKey: fc.boolean(),
  maxCost: fc.option(fc.bigInt(0n, 40n), { freq: 5 })
})
type Plan = typeof planArb extends fc.Arbitrary<infer T> ? T : never
const settleArb = fc.record({ kind: fc.constant('settle' as const), at: fc.nat(99), spent: fc.bigInt(0n, 18n) })

test(
  'sequential jobs and suites are accepted or refused as in the reference model, naming the first exceeded limit',
  () =>
    fc.assert(
      fc.asyncProperty(
        teamArb,
        fc.array(fc.oneof({ weight: 3, arbitrary: planArb }, settleArb), { minLength: 5, maxLength: 30 }),
        async (plan, steps) => {
          const world = await makeWorld(db, person, [plan])
          const { id: teamId, key } = world.teams[0]!
          const paper = new Paper(plan)
          const open: { id: string; day: string; byKey: boolean; cost: bigint }[] = []
          for (const step of steps) {
            if (step.kind === 'settle') {
              const [job] = open.splice(step.at % Math.max(open.length, 1), 1)
              if (!job) continue
              await db.transaction((tx) => settle(tx, job.id, step.spent))
              paper.settle(job.day, job.byKey, job.cost, step.spent)
              continue
            }
            const { suite, day, byKey, maxCost } = step
            const costs = suite ? step.costs : step.costs.slice(0, 1)
            const members = costs.map((estimate) => ({ id: newId(), estimate }))
            const startsAt = new Date(`${day}T23:59:59.999Z`)
            const limited = byKey && key.dailyLimit !== null ? { id: key.id, dailyLimit: key.dailyLimit } : null
            const terms = { teamId, startsAt, maxCost, key: limited }
            let refusal: BudgetRefusal | null = null
            await db
              .transaction(async (tx) => {
                refusal = suite
                  ? await reserveSuite(tx, { ...terms, jobs: members })
                  : await reserve(tx, { ...terms, ...members[0]! })
                if (refusal) tx.rollback()
                for (const { id, estimate } of members)
                  await insertJob(tx, { id, teamId, estimate, keyId: byKey ? key.id : null, startsAt })
              })
              .catch((error) => {
                if (!refusal) throw error
              })
            expect((refusal as BudgetRefusal | null)?.limit ?? null).toBe(paper.submit({ ...step, costs }))
            if (!refusal) open.push(...members.map(({ id, estimate: cost }) => ({ id, day, byKey, cost })))
          }
          for (const day of days) {
            const { day: of, month } = await periodCounters(db, teamId, new Date(day))
            expect([of.spent + of.reserved, month.spent + month.reserved]).toEqual([
              paper.usedOf(day),
              paper.usedOf(day.slice(0, 7))
            ])
          }
          expect(await ledgerMismatches(db)).toEqual([])
        }
      ),
      { numRuns: RUNS, endOnFailure: true }
    ),
  TIMEOUT_MS
)

/** The least of a job that the ledger needs. */
const insertJob = (
  tx: Tx,
  job: { id: string; teamId: string; estimate: bigint; keyId: string | null; startsAt: Date }
) =>
  tx.insert(jobs).values({
    id: job.id,
    teamId: job.teamId,
    apiKeyId: job.keyId,
    estimatedCost: job.estimate,
    notBefore: job.startsAt,
    status: 'pending',
    mode: 'temporal',
    durable: true,
    labels: [],
    backend: 'local',
    provider: 'Local',
    framework: 'openqasm',
    sourceKind: 'inline',
    sourceText: '',
    sourceSha256: '',
    params: '{}',
    shots: 1,
    timeoutSeconds: 1
  })
