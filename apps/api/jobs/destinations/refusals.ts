// Why a submission would be refused now. Each check is the function that refuses the submission itself; what they compare with is
// read once for all backends, and nothing is locked.
import type { FastifyRequest } from 'fastify'
import { listBackends } from '../../../../db/backends/backends.js'
import { assertStored, credentialNames } from '../../../../db/backends/provider-workers.js'
import type { DbOrTx } from '../../../../db/client.js'
import { type BudgetStanding, budgetStanding } from '../../../../db/money/budget-standing.js'
import type { Membership } from '../../../../db/teams/memberships.js'
import {
  assertParams,
  assertUsable,
  type Backend,
  type BackendParams,
  isAtProvider
} from '../../../../domain/backends/backend.js'
import { codeOf } from '../../../../domain/errors.js'
import { assertNotTooWide, isTooWide } from '../../../../domain/jobs/declared-width.js'
import type { ProgramKind } from '../../../../domain/jobs/source.js'
import { brokenLimits, budgetRefusalBody } from '../../../../domain/money/budget.js'
import { isFree } from '../../../../domain/money/cost.js'
import type { MicroUsd } from '../../../../domain/money/money.js'
import { actorOf, assertMayCall } from '../../http/access.js'
import { accessTable } from '../../http/access-table.js'
import { assertKeyMayPay } from '../../http/limits/key-limits.js'
import { assertActive } from '../../http/team-access.js'

export const refusalChecks = ['key', 'backend', 'params', 'team', 'credentials', 'qubits', 'budget'] as const

export interface Refusal {
  check: (typeof refusalChecks)[number]
  message: string
}

/** The submission to check. */
export interface PlannedRun {
  program: ProgramKind
  /** Of the run that has most. */
  shots: number
  /** `null` where nothing says how wide its circuit is. */
  qubits: number | null
  params: BackendParams
  cost: MicroUsd
  /** The submission's own cap. */
  maxCost: MicroUsd | null
}

/** The team of a submission; `null` for a caller who has none yet. */
export type SubmittingTeam = Pick<Membership, 'id' | 'suspended' | 'suspended_reason'> | null

export interface Standing {
  request: FastifyRequest
  team: SubmittingTeam
  /** Every backend, in the order of the catalogue. */
  backends: readonly Backend[]
  /** The names of the values that the team has stored for each provider. */
  credentials: ReadonlyMap<string, readonly string[]>
  /** `null` where nothing is paid. */
  budget: BudgetStanding | null
}

/** Everything, for any backend. */
export async function standingOf(
  db: DbOrTx,
  request: FastifyRequest,
  team: SubmittingTeam,
  at: Date
): Promise<Standing & { budget: BudgetStanding }> {
  const [backends, credentials, budget] = await Promise.all([
    listBackends(db),
    team === null ? new Map<string, string[]>() : credentialNames(db, team.id),
    budgetStanding(db, team?.id ?? null, actorOf(request).key, at)
  ])
  return { request, team, backends, credentials, budget }
}

/** Only what decides about one backend and a circuit of this width: a record is read often, and most jobs are free. */
export async function standingAt(
  db: DbOrTx,
  request: FastifyRequest,
  team: SubmittingTeam,
  { backend, qubits, at }: { backend: Backend; qubits: number | null; at: Date }
): Promise<Standing> {
  const [backends, credentials, budget] = await Promise.all([
    // Others are named instead of one that is too narrow.
    qubits !== null && isTooWide(qubits, backend) ? listBackends(db) : [backend],
    team !== null && isAtProvider(backend) ? credentialNames(db, team.id) : new Map<string, string[]>(),
    isFree(backend.pricing) ? null : budgetStanding(db, team?.id ?? null, actorOf(request).key, at)
  ])
  return { request, team, backends, credentials, budget }
}

/** Why the submission would be refused, in the order in which it would be; empty when it would be accepted. */
export function refusalsOf(standing: Standing, backend: Backend, run: PlannedRun): Refusal[] {
  const { request, team, backends, credentials, budget } = standing
  const { program, shots, qubits, params, cost, maxCost } = run
  return [
    ...refusal('key', () => assertMayCall(request, accessTable['POST /api/jobs/submit']!)),
    ...refusal('backend', () => assertUsable(backend, backend.slug, { shots, program })),
    ...refusal('params', () => assertParams(backend, params)),
    ...refusal('key', () => assertKeyMayPay(actorOf(request).key, backend.pricing)),
    ...refusal('team', () => assertActive(team)),
    ...refusal('credentials', () => assertStored(credentials, backend)),
    ...refusal('qubits', () => qubits !== null && assertNotTooWide(qubits, backend, backends, program)),
    ...(budget ? brokenLimits(cost, budget, maxCost) : []).map(
      (broken): Refusal => ({ check: 'budget', message: budgetRefusalBody(broken).message })
    )
  ]
}

/** A fault of the service is rethrown. */
function refusal(check: Refusal['check'], assert: () => unknown): Refusal[] {
  try {
    assert()
    return []
  } catch (error) {
    if (codeOf(error) === null) throw error
    return [{ check, message: (error as Error).message }]
  }
}
