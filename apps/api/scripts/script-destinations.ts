// Where a script could run, and for each backend why a submission would be refused.

import { assertCredentials } from '../../../db/backends/provider-workers.js'
import type { DbOrTx } from '../../../db/client.js'
import { periodCounters, teamBudget } from '../../../db/money/budget.js'
import type { ApiKey } from '../../../db/teams/api-keys.js'
import { assertUsable, type Backend } from '../../../domain/backends/backend.js'
import { codeOf } from '../../../domain/errors.js'
import { isTooWide } from '../../../domain/jobs/declared-width.js'
import { budgetRefusalBody, checkPeriod, checkPerJob } from '../../../domain/money/budget.js'
import type { MicroUsd } from '../../../domain/money/money.js'
import type { AnalysisCheck } from '../../../domain/scripts/script-analysis.js'
import { assertKeyMayPay } from '../http/limits/key-limits.js'

/** The submission to check. */
export interface PlannedRun {
  /** `null` for a caller without a team. */
  teamId: string | null
  key: ApiKey | null
  shots: number
  /** The number of qubits, if the source determines it. */
  qubits: number | undefined
}

/** Why a job would be refused there; empty when it would be accepted. */
export async function obstacles(db: DbOrTx, backend: Backend, planned: PlannedRun): Promise<AnalysisCheck[]> {
  const found = await Promise.all([
    refusal('backend', () => assertUsable(backend, backend.slug, { shots: planned.shots, program: 'circuit' })),
    refusal('credentials', async () => planned.teamId && assertCredentials(db, planned.teamId, backend)),
    refusal('key', () => assertKeyMayPay(planned.key, backend.pricing))
  ])
  const { qubits } = planned
  const tooWide = qubits !== undefined && isTooWide(qubits, backend)
  return [
    ...found.flat(),
    ...(tooWide
      ? [error('qubits', `the circuit has ${qubits} qubits, ${backend.slug} takes at most ${backend.maxQubits}`)]
      : [])
  ]
}

/** Which of the team's limits a cost would exceed now, in the order in which a submission checks them. */
export async function budgetObstacles(db: DbOrTx, teamId: string, cost: MicroUsd, at: Date): Promise<AnalysisCheck[]> {
  if (cost === 0n) return []
  const [{ limits }, { day, month }] = await Promise.all([teamBudget(db, teamId), periodCounters(db, teamId, at)])
  const broken =
    checkPerJob(cost, limits) ?? checkPeriod('daily', cost, limits, day) ?? checkPeriod('monthly', cost, limits, month)
  return broken ? [error('budget', budgetRefusalBody(broken).message)] : []
}

/** A refusal of the check, as an error of an analysis. Faults of the service are rethrown. */
async function refusal(id: string, check: () => unknown): Promise<AnalysisCheck[]> {
  try {
    await check()
    return []
  } catch (fault) {
    if (codeOf(fault) === null) throw fault
    return [error(id, (fault as Error).message)]
  }
}

const error = (id: string, message: string): AnalysisCheck => ({ id, level: 'error', message })
