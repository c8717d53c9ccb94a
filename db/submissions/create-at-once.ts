// Records most jobs in one statement, and so in one commit: the lock of the team, the storage limit, the response under the
// request's Idempotency-Key, and the rows of the job. Where something refuses the job it writes nothing, and the longer way
// follows (`createJob`), which says what.
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { type Db, type DbOrTx, postgresCode } from '../client.js'
import { claimAnswered, type KeyedAnswer, waitedForKey } from '../service/idempotency-keys.js'
import { type Places, statement } from '../statement.js'
import { members, teams } from '../tables/accounts.js'
import { fairTeamLock } from '../teams/team-lock.js'
import { storageFigures } from '../teams/team-storage.js'
import { submissionBytes } from './create-job.js'
import { insertionOf, type PricedSubmission, type RowsOfJob, rowsOfJob, type SubmittedBy } from './job-rows.js'

/**
 * Records a free job of a team that its owner belongs to, as `lockTeamForWrite` and `createJob` do.
 * @param keyed the key of the request, with the response that its repetitions get.
 * @returns whether the job is recorded; otherwise nothing is written.
 */
export async function createJobAtOnce(
  db: Db,
  submission: PricedSubmission,
  by: SubmittedBy,
  keyed: KeyedAnswer | null
): Promise<boolean> {
  const job = { ...rowsOfJob(submission, by), bytes: submissionBytes(submission) }
  try {
    const recorded = keyed ? await insertKeyed(db, { ...job, ...keyed }) : await insertPlain(db, job)
    return recorded.length > 0
  } catch (error) {
    if (waitedForKey(postgresCode(error))) return false
    throw error
  }
}

type JobAtOnce = RowsOfJob & { bytes: number }

/** Common table expressions: `allowed` has a row if the team, which is locked then, can store the job. */
function allowance({ teamId, userId, bytes }: Places<JobAtOnce>, on: DbOrTx): SQL {
  const team = on
    .select({ id: teams.id })
    .from(teams)
    .innerJoin(members, and(eq(members.teamId, teams.id), eq(members.userId, userId)))
    .where(and(eq(teams.id, teamId), sql`${teams.suspendedAt} is null`, fairTeamLock('share')))
    .for('share')
  return sql`team as materialized (${team}), figures as (${storageFigures(teamId)}),
    allowed as materialized (
      select from team, figures where figures.used::bigint + ${bytes}::bigint <= figures."limit"::bigint)`
}

const insertPlain = statement<JobAtOnce, { id: string }>((given, on) => {
  const { bytes: _, ...rows } = given
  return sql`with ${allowance(given, on)}, ${insertionOf(rows, sql`allowed`)} select id from job`
})

const insertKeyed = statement<JobAtOnce & KeyedAnswer, { id: string }>((given, on) => {
  const { bytes: _, principal, key, method, path, bodySha256, status, body, patienceMs, ...rows } = given
  const answer = { principal, key, method, path, bodySha256, status, body, patienceMs }
  return sql`with ${allowance(given, on)}, ${claimAnswered(answer, given.teamId, sql`allowed`)},
    ${insertionOf(rows, sql`claimed`)} select id from job`
})
