// Changes by platform administrators. Each change is one transaction with its audit entry, so neither exists without
// the other. The caller has checked the permission.

import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Backend } from '../../domain/backends/backend.js'
import { ServiceError } from '../../domain/errors.js'
import type { TeamLimits, TeamSummary } from '../../domain/operations/administration.js'
import type { TeamStorage } from '../../domain/teams/team-storage.js'
import { createAccessCode, grantPlatformAdmin } from '../accounts/accounts.js'
import { type AdminActor, recordAdminAction } from '../audit/admin-audit.js'
import { findBackend } from '../backends/backends.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { now } from '../clock.js'
import { cancelJob } from '../job-steps/job-steps.js'
import { teams } from '../tables/accounts.js'
import { backends } from '../tables/backends.js'
import { jobs } from '../tables/jobs.js'
import { fairTeamLock } from '../teams/team-lock.js'
import { setStorageLimit, storageOf } from '../teams/team-storage.js'
import { loadTeamSummary } from './administration-lists.js'

/**
 * Makes a team read-only. Waits for writes in progress, which hold the team's row: no write is recorded after this
 * returns. Suspending again changes the reason and keeps the time.
 * @throws ServiceError `not_found`.
 */
export async function suspendTeam(db: DbOrTx, actor: AdminActor, teamId: string, reason: string): Promise<TeamSummary> {
  return db.transaction(async (tx) => {
    const before = await lockTeam(tx, teamId)
    await tx
      .update(teams)
      .set({ suspendedAt: sql`coalesce(${teams.suspendedAt}, ${now})`, suspendedReason: reason })
      .where(eq(teams.id, teamId))
    await recordAdminAction(tx, actor, 'team.suspend', teamId, {
      reason,
      ...(before.suspendedAt && { previous_reason: before.suspendedReason })
    })
    return (await loadTeamSummary(tx, teamId))!
  })
}

/** Lifts a suspension. A team that is not suspended stays unchanged. @throws ServiceError `not_found`. */
export async function unsuspendTeam(db: DbOrTx, actor: AdminActor, teamId: string): Promise<TeamSummary> {
  return db.transaction(async (tx) => {
    const before = await lockTeam(tx, teamId)
    if (before.suspendedAt) {
      await tx.update(teams).set({ suspendedAt: null, suspendedReason: null }).where(eq(teams.id, teamId))
      await recordAdminAction(tx, actor, 'team.unsuspend', teamId, {
        suspended_at: before.suspendedAt.toISOString(),
        reason: before.suspendedReason
      })
    }
    return (await loadTeamSummary(tx, teamId))!
  })
}

/** Changes how much of the shared machines a team can use at once. @throws ServiceError `not_found`. */
export async function changeTeamLimits(
  db: DbOrTx,
  actor: AdminActor,
  teamId: string,
  change: TeamLimits
): Promise<TeamSummary> {
  return db.transaction(async (tx) => {
    await lockTeam(tx, teamId)
    const before = (await loadTeamSummary(tx, teamId))!
    if (Object.keys(change).length === 0) return before
    await tx.update(teams).set(change).where(eq(teams.id, teamId))
    const after = (await loadTeamSummary(tx, teamId))!
    await recordAdminAction(tx, actor, 'team.limits', teamId, differences(limitsOf(before), limitsOf(after)))
    return after
  })
}

const limitsOf = ({ runningJobsMax, slotsMax }: TeamSummary) => ({
  running_jobs_max: runningJobsMax,
  slots_max: slotsMax
})

/**
 * Sets how many bytes a team can store; `null` for the default of the installation. What it stores already stays.
 * @throws ServiceError `not_found`.
 */
export async function changeStorageLimit(
  db: DbOrTx,
  actor: AdminActor,
  teamId: string,
  bytes: number | null
): Promise<TeamStorage> {
  return db.transaction(async (tx) => {
    await lockTeam(tx, teamId)
    const before = await storageOf(tx, teamId)
    await setStorageLimit(tx, teamId, bytes)
    const after = await storageOf(tx, teamId)
    await recordAdminAction(tx, actor, 'team.storage', teamId, {
      requested: bytes,
      used_bytes: before.used,
      before: { limit_bytes: before.limit },
      after: { limit_bytes: after.limit }
    })
    return after
  })
}

/**
 * A team that is not deleted, locked against writes of its members until the transaction ends.
 * @throws ServiceError `not_found`.
 */
export async function lockTeam(
  tx: Tx,
  teamId: string
): Promise<{ suspendedAt: Date | null; suspendedReason: string | null }> {
  const [team] = await tx
    .select({ suspendedAt: teams.suspendedAt, suspendedReason: teams.suspendedReason })
    .from(teams)
    .where(and(eq(teams.id, teamId), isNull(teams.deletedAt), fairTeamLock('alone')))
    .for('no key update')
  if (!team) throw new ServiceError('not_found', 'no such team')
  return team
}

/** A backend, locked until the transaction ends; `null` when none has that slug. */
export async function lockBackend(tx: Tx, slug: string): Promise<Backend | null> {
  await tx.select({ id: backends.id }).from(backends).where(eq(backends.slug, slug)).for('no key update')
  return findBackend(tx, slug)
}

/** Like `createAccessCode`. @throws the database's 23505 for an existing code. */
export async function makeAccessCode(
  db: DbOrTx,
  actor: AdminActor,
  options: { code?: string; uses: number; expiresAt: Date | null }
): Promise<string> {
  const { expiresAt, ...rest } = options
  return db.transaction(async (tx) => {
    const code = await createAccessCode(tx, { ...rest, ...(expiresAt && { expiresAt }) })
    await recordAdminAction(tx, actor, 'access_code.create', code, {
      uses: options.uses,
      expires_at: expiresAt?.toISOString() ?? null
    })
    return code
  })
}

/** `false` when no account has that address. */
export async function makePlatformAdmin(db: Db, actor: AdminActor, email: string): Promise<boolean> {
  return db.transaction(async (tx) => {
    const granted = await grantPlatformAdmin(tx, email)
    if (granted) await recordAdminAction(tx, actor, 'user.grant', email, { is_platform_admin: true })
    return granted
  })
}

/**
 * Cancels a job of any team, including suspended ones. A job that is being cancelled stays unchanged.
 * @throws ServiceError `not_found`, `conflict` when it is final.
 */
export async function cancelAnyJob(db: DbOrTx, actor: AdminActor, jobId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const [job] = await tx
      .select({ status: jobs.status, teamId: jobs.teamId })
      .from(jobs)
      .where(eq(jobs.id, jobId))
      .for('no key update')
    if (!job) throw new ServiceError('not_found', 'no such job')
    await cancelJob(tx, jobId)
    if (job.status === 'cancelling') return
    await recordAdminAction(tx, actor, 'job.cancel', jobId, { status: job.status, team_id: job.teamId })
  })
}

/** The fields of `after` that differ from `before`, for an audit entry. */
export function differences(before: Record<string, unknown>, after: Record<string, unknown>) {
  const keys = Object.keys(after).filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  const only = (values: Record<string, unknown>) => Object.fromEntries(keys.map((key) => [key, values[key]]))
  return { before: only(before), after: only(after) }
}
