// Where a script could run: each backend with what keeps a job from it, told as a submission would be refused.

import { assertCredentials } from '../../../db/backends/provider-workers.js'
import type { DbOrTx } from '../../../db/client.js'
import { periodCounters, teamBudget } from '../../../db/money/budget.js'
import type { ApiKey } from '../../../db/teams/api-keys.js'
import { assertUsable, type Backend } from '../../../domain/backends/backend.js'
import { codeOf } from '../../../domain/errors.js'
import { budgetRefusalBody, checkPeriod, checkPerJob } from '../../../domain/money/budget.js'
import type { MicroUsd } from '../../../domain/money/money.js'
import type { AnalysisCheck } from '../../../domain/scripts/script-analysis.js'
import { assertKeyMayPay } from '../http/limits/key-limits.js'

/** What would run there. */
export interface Asked {
  /** `null`: a caller without any team yet. */
  teamId: string | null
  key: ApiKey | null
  shots: number
  /** Width of the circuit, where the source says so with certainty. */
  qubits: number | undefined
}

/** Why a job would be refused there: nothing, when it would not. */
export async function obstacles(db: DbOrTx, backend: Backend, asked: Asked): Promise<AnalysisCheck[]> {
  const found = await Promise.all([
    refusal('backend', () => assertUsable(backend, backend.slug, asked.shots)),
    refusal('credentials', async () => asked.teamId && assertCredentials(db, asked.teamId, backend)),
    refusal('key', () => assertKeyMayPay(asked.key, backend.pricing))
  ])
  const { qubits } = asked
  const tooWide = qubits !== undefined && backend.maxQubits !== null && qubits > backend.maxQubits
  return [
    ...found.flat(),
    ...(tooWide
      ? [error('qubits', `the circuit has ${qubits} qubits, ${backend.slug} takes at most ${backend.maxQubits}`)]
      : [])
  ]
}

/** Which of the team's limits a cost would break now, in the order in which a submission meets them. */
export async function budgetObstacles(db: DbOrTx, teamId: string, cost: MicroUsd, at: Date): Promise<AnalysisCheck[]> {
  if (cost === 0n) return []
  const [{ limits }, { day, month }] = await Promise.all([teamBudget(db, teamId), periodCounters(db, teamId, at)])
  const broken =
    checkPerJob(cost, limits) ?? checkPeriod('daily', cost, limits, day) ?? checkPeriod('monthly', cost, limits, month)
  return broken ? [error('budget', budgetRefusalBody(broken).message)] : []
}

/** What the check throws, as an error of an analysis. Faults of ours stay faults. */
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
