// How much a team and a key can still spend, read without a lock: for figures and warnings before a submission.
import { and, eq } from 'drizzle-orm'
import { type BudgetLimits, nothingSpent, type PeriodCounter, periodsOf } from '../../domain/money/budget.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { DbOrTx } from '../client.js'
import { apiKeyDays } from '../tables/teams.js'
import { periodCounters, teamBudget } from './budget.js'

export interface BudgetStanding {
  limits: BudgetLimits
  ceilings: BudgetLimits
  day: PeriodCounter
  month: PeriodCounter
  /** The key's own limit; `null` for a session, and for a key without one. */
  keyDay: { limit: MicroUsd; counter: PeriodCounter } | null
}

/** No team has this id, so its limits are the defaults. */
const NO_TEAM = '00000000-0000-0000-0000-000000000000'

/** @param teamId `null` for a caller without a team: the limits that their personal team will have. */
export async function budgetStanding(
  db: DbOrTx,
  teamId: string | null,
  key: { id: string; dailyLimit: MicroUsd | null } | null,
  at: Date
): Promise<BudgetStanding> {
  const [{ limits, ceilings }, { day, month }, keyDay] = await Promise.all([
    teamBudget(db, teamId ?? NO_TEAM),
    periodCounters(db, teamId ?? NO_TEAM, at),
    key && key.dailyLimit !== null ? keyDayOf(db, { id: key.id, dailyLimit: key.dailyLimit }, at) : null
  ])
  return { limits, ceilings, day, month, keyDay }
}

async function keyDayOf(db: DbOrTx, { id, dailyLimit }: { id: string; dailyLimit: MicroUsd }, at: Date) {
  const [row] = await db
    .select({ spent: apiKeyDays.spent, reserved: apiKeyDays.reserved })
    .from(apiKeyDays)
    .where(and(eq(apiKeyDays.keyId, id), eq(apiKeyDays.day, periodsOf(at).day)))
  return { limit: dailyLimit, counter: row ?? nothingSpent }
}
