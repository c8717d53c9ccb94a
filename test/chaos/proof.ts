// Checks the invariants after a chaos run in the database.

import type { Connection } from '../../db/client.js'
import { proveAll } from '../../db/proofs/money-proof.js'
import { jobIdOf } from '../../services/providers/azure/jobs.js'
import type { S3Server } from '../support/content-store/s3-server.js'
import { eventually } from '../support/eventually.js'
import { type CapsuleFacts, proveCapsules } from './capsule-proof.js'
import { proveContents } from './content-proof.js'
import { checkJob, type Findings, invariants, type JobRow, jobsOf } from './job-proof.js'
import type { LoadResult } from './load.js'
import type { PaidTask } from './providers.js'

/**
 * @param facts.name the prefix of every job's name. @param facts.paid the tasks that the providers accepted.
 * @param facts.paidBackends those whose completed jobs have a paid task.
 */
export async function prove(
  connection: Connection,
  load: LoadResult,
  {
    name,
    paid,
    paidBackends,
    store,
    ...capsules
  }: PaidFacts & { name: string; store: S3Server | null } & Omit<CapsuleFacts, 'jobs'>
): Promise<Findings> {
  const { findings, jobs } = await proveJobs(connection, load, { name, paid, paidBackends })
  await proveCapsules(connection, { ...capsules, jobs }, findings)
  await proveContents(connection, store, findings)
  return findings
}

/** The same for a load without capsules. */
export async function proveJobs(
  connection: Connection,
  load: LoadResult,
  { name, paid, paidBackends }: PaidFacts & { name: string }
): Promise<{ findings: Findings; jobs: JobRow[] }> {
  const findings = Object.fromEntries(invariants.map((invariant) => [invariant, []])) as unknown as Findings
  const jobs = await jobsOf(connection, name)
  const byId = new Map(jobs.map((job) => [job.id, job]))
  const byName = new Map<string, JobRow[]>()
  for (const job of jobs) byName.set(job.name, [...(byName.get(job.name) ?? []), job])

  for (const submission of load.submissions) {
    for (const id of submission.ids)
      if (!byId.has(id)) findings['jobs lost'].push(`${submission.name}: ${id} was confirmed and does not exist`)
    const made = byName.get(submission.name) ?? []
    // Each confirmed id is one job, each lost response at most one.
    if (made.length > submission.mostJobs || new Set(submission.ids).size !== submission.ids.length)
      findings['jobs created twice'].push(
        `${submission.name}: ${made.length} jobs for ${submission.mostJobs} submissions`
      )
    if (submission.key !== null && made.length === 0 && !submission.refused)
      findings['jobs lost'].push(`${submission.name}: sent repeatedly with its key, without a response`)
    for (const job of made) checkJob(job, submission, findings)
  }
  for (const [id, reported] of load.reported) {
    const now = byId.get(id)?.status
    if (now !== reported) findings['final states reverted'].push(`${id}: reported as ${reported}, is ${now ?? 'gone'}`)
  }
  checkPaidWork(jobs, { paid, paidBackends }, findings)
  findings['unexpected responses'].push(...load.unexpectedResponses)
  await checkMoney(connection, findings)
  await checkLeftovers(connection, findings)
  return { findings, jobs }
}

interface PaidFacts {
  paid: readonly PaidTask[]
  paidBackends: readonly string[]
}

/** Each completed job at a provider has exactly one paid task there, and each paid task has a job. */
function checkPaidWork(jobs: JobRow[], { paid, paidBackends }: PaidFacts, findings: Findings): void {
  // A job at Azure has an id that is made from the token.
  const owners = new Map(
    jobs.flatMap((job) => job.tokens.flatMap((token) => [token, jobIdOf(token)].map((known) => [known, job] as const)))
  )
  const tasksOf = new Map<JobRow, PaidTask[]>()
  for (const task of paid) {
    const job = task.token === null ? undefined : owners.get(task.token)
    if (job?.backend === task.backend) tasksOf.set(job, [...(tasksOf.get(job) ?? []), task])
    else findings['work paid twice'].push(`task ${task.id} (${task.state}) belongs to no job on ${task.backend}`)
  }
  for (const job of jobs) {
    const tasks = tasksOf.get(job) ?? []
    const due = paidBackends.includes(job.backend) && job.status === 'completed' ? 1 : 0
    if (tasks.length > 1 || tasks.length < due)
      findings['work paid twice'].push(`${job.name} ${job.id}: ${job.status} with ${tasks.length} tasks`)
  }
}

async function checkMoney({ db, sql }: Connection, findings: Findings): Promise<void> {
  // The worker runs the same checks, one at a time.
  findings['ledger differs from its counters'].push(...(await eventually(() => proveAll(db), { timeoutMs: 300_000 })))
  const left =
    await sql`select team_id, period, starts_on::text, reserved_micro::text from budget_counters where reserved_micro <> 0`
  findings['leftover reservations'].push(...left.map((row) => JSON.stringify(row)))
  const beyond = await sql`
    select c.team_id, c.spent_micro::text as spent, b.daily_micro::text as "limit" from budget_counters c
    join team_budgets b on b.team_id = c.team_id where c.period = 'day' and c.spent_micro > b.daily_micro`
  findings['limits exceeded'].push(...beyond.map((row) => JSON.stringify(row)))
}

async function checkLeftovers({ sql }: Connection, findings: Findings): Promise<void> {
  const rows = await sql`
    select 'outbox ' || kind as what, job_id from outbox
    union all select 'lease', id from jobs where lease_token is not null and status not in ('pending', 'running', 'cancelling')
    union all select 'attempt', a.job_id from attempts a join jobs j on j.id = a.job_id
      where a.state = 'running' and j.status not in ('pending', 'running', 'cancelling')
    union all select distinct 'point', p.job_id from job_points p join jobs j on j.id = p.job_id
      where j.status not in ('pending', 'running', 'cancelling')`
  findings.leftovers.push(...rows.map((row) => JSON.stringify(row)))
}

/** The number of jobs and runs that are not final, and of undelivered outbox rows. */
export async function openWork({ sql }: Connection): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    select ((select count(*) from jobs where status in ('pending', 'running', 'cancelling')) + (select count(*) from outbox)
      + (select count(*) from capsule_runs where status in ('pending', 'running', 'judging'))
      + (select count(*) from capsule_schedules where ended_at is not null)
      + (select count(*) from provider_tasks where usage_ask_at is not null))::int as open`
  return row!.open
}

/** The number of jobs by mode, backend and final status. */
export async function endsByMode({
  sql
}: Connection): Promise<{ mode: string; backend: string; status: string; error: string; count: number }[]> {
  return sql`
    select execution_mode as mode, backend, status, coalesce(error_code, '') as error, count(*)::int as count
    from jobs group by 1, 2, 3, 4 order by 1, 2, 3, 4`
}

/** The numbers of capsules by state, of their runs by outcome, and of alerts. */
export async function endsOfCapsules({ sql }: Connection): Promise<{ what: string; count: number }[]> {
  return sql`
    select 'capsule ' || state as what, count(*)::int as count from capsules group by 1
    union all select 'run ' || mode || ', ' || trigger || ': ' || coalesce(verdict, status), count(*)::int from capsule_runs group by 1
    union all select 'alert', count(*)::int from capsule_runs where alerted_at is not null
    order by 1`
}
