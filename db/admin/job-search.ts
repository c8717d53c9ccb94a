// Search over the jobs of all teams for platform administrators. Its cost does not grow with the number of jobs:
// filters read an index, newest first, and text is searched only in the newest jobs.
import { desc, eq, type SQL, sql } from 'drizzle-orm'
import type { JobStatus } from '../../domain/jobs/job-status.js'
import { type Page, TOTAL_MAX } from '../../domain/json/page.js'
import { anyOf, type Db } from '../client.js'
import { estimatedRows } from '../estimated-rows.js'
import { hasStatus, SEARCHED_MAX } from '../jobs/job-list.js'
import { type ListedJob, listColumns } from '../jobs/jobs.js'
import { teams, users } from '../tables/accounts.js'
import { jobs } from '../tables/jobs.js'

export interface JobSearch extends Page {
  /** The id of a job, a team or a user; or text in the name, the backend, the team's name or the user's address. */
  q?: string | undefined
  status?: JobStatus | undefined
}

export type JobSearchRow = ListedJob & { teamName: string; userEmail: string | null }

export interface JobSearchPage {
  rows: JobSearchRow[]
  /** Counted no further than `TOTAL_MAX + 1`. */
  total: number
  /** About how many there are of a list without a text, where more than `TOTAL_MAX` match; otherwise `null`. */
  estimate: number | null
  /** Whether there may be more: text is searched only in the newest `SEARCHED_MAX` jobs. */
  unfinished: boolean
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Newest first. */
export async function searchJobs(db: Db, search: JobSearch): Promise<JobSearchPage> {
  const { limit, offset } = search
  const text = search.q?.trim() ?? ''
  const [found, [counted]] = await Promise.all([
    db.execute<{ id: string }>(sql`
      select id from (${matching(text, search.status, offset + limit)}) matching order by id desc limit ${limit} offset ${offset}`),
    db.execute<{ total: number; searched: number }>(sql`
      select (select count(*)::int from (select 1 from (${matching(text, search.status, TOTAL_MAX + 1)}) matching limit ${TOTAL_MAX + 1}) matching) as total,
        (select count(*)::int from (${newest(search.status, sql`true`, SEARCHED_MAX)}) newest) as searched`)
  ])
  const ids = found.map(({ id }) => id)
  const rows = await db
    .select({ ...listColumns, teamName: teams.name, userEmail: users.email })
    .from(jobs)
    .innerJoin(teams, eq(teams.id, jobs.teamId))
    .leftJoin(users, eq(users.id, jobs.userId))
    .where(anyOf(jobs.id, ids))
    .orderBy(desc(jobs.id))
  const { total, searched } = counted!
  const isCapped = text === '' && total > TOTAL_MAX
  const estimate = isCapped ? await estimatedRows(db, allOf(search.status, sql`true`)) : null
  return { rows, total, estimate, unfinished: text !== '' && !uuid.test(text) && searched === SEARCHED_MAX }
}

/** The ids of the newest matching jobs, at least `most` of them if there are that many. */
function matching(text: string, status: JobStatus | undefined, most: number): SQL {
  if (text === '') return newest(status, sql`true`, most)
  if (uuid.test(text))
    return sql`(${newest(status, sql`id = ${text}`, 1)}) union (${newest(status, sql`team_id = ${text}`, most)})
      union (${newest(status, sql`user_id = ${text}`, most)})`
  const holds = sql.join(
    [sql`job.name`, sql`job.backend`, sql`team.name`, sql`person.email`].map(
      (name) => sql`strpos(lower(${name}), lower(${text}::text)) > 0`
    ),
    sql` or `
  )
  return sql`select job.id from (${newest(status, sql`true`, SEARCHED_MAX, sql`id, name, backend, team_id, user_id`)}) job
    join ${teams} team on team.id = job.team_id left join ${users} person on person.id = job.user_id where ${holds}`
}

const newest = (status: JobStatus | undefined, where: SQL, most: number, columns?: SQL): SQL =>
  sql`${allOf(status, where, columns)} order by id desc limit ${most}`

const allOf = (status: JobStatus | undefined, where: SQL, columns: SQL = sql`id`): SQL =>
  sql`select ${columns} from ${jobs} where ${where} ${status ? sql`and ${hasStatus(status)}` : sql``}`
