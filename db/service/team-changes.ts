// What changed in the teams of those who listen: the present states of jobs and runs, with the listeners who are members of their
// team now.
import { type SQL, sql } from 'drizzle-orm'
import type { CapsuleRunStatus } from '../../domain/capsules/capsule-state.js'
import { anyOf, type DbOrTx } from '../client.js'
import { recordColumns } from '../jobs/jobs.js'
import { capsuleRuns } from '../tables/capsules.js'
import { jobs } from '../tables/jobs.js'

/** Of the listening users, those who are members of the row's team. */
const listenersIn = (teamId: SQL, userIds: readonly string[]) =>
  sql<string[]>`(select coalesce(json_agg(member.user_id), '[]') from members member
    where member.team_id = ${teamId} and member.user_id = any(string_to_array(${userIds.join(',')}, ',')::uuid[]))`

/** One statement for all listeners of a process. */
export const changedJobs = (db: DbOrTx, jobIds: string[], userIds: readonly string[]) => {
  const { id, teamId, status, backend, notBefore, attempts, waiting, providerJobs, updatedAt } = recordColumns
  return db
    .select({
      ...{ id, teamId, status, backend, notBefore, attempts, waiting, providerJobs, updatedAt },
      listeners: listenersIn(sql`${jobs.teamId}`, userIds)
    })
    .from(jobs)
    .where(anyOf(jobs.id, jobIds))
}

export type ChangedJob = Awaited<ReturnType<typeof changedJobs>>[number]

export const changedRuns = (db: DbOrTx, runIds: string[], userIds: readonly string[]) =>
  db
    .select({
      id: capsuleRuns.id,
      capsuleId: capsuleRuns.capsuleId,
      teamId: capsuleRuns.teamId,
      status: sql<CapsuleRunStatus>`${capsuleRuns.status}`,
      verdict: capsuleRuns.verdict,
      listeners: listenersIn(sql`${capsuleRuns.teamId}`, userIds)
    })
    .from(capsuleRuns)
    .where(anyOf(capsuleRuns.id, runIds))

export type ChangedRun = Awaited<ReturnType<typeof changedRuns>>[number]
