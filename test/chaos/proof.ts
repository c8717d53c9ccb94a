// What has to hold when the dust has settled, each promise asked of the database itself.

import type { Connection } from '../../db/client.js'
import { ledgerMismatches } from '../../db/money-proof.js'
import { isFinal, type JobStatus, mayFollow } from '../../domain/job-status.js'
import type { PaidTask } from './ionq.js'
import type { LoadResult, Submission } from './load.js'
import { hardware } from './plan.js'

/** What is counted, in the order of the report; each counts what broke it. */
export const promises = [
  'jobs lost',
  'jobs stuck',
  'jobs made twice',
  'jobs executed twice',
  'work paid twice',
  'ends that nothing explains',
  'wrong results',
  'ends taken back',
  'broken histories',
  'jobs before their time',
  'jobs charged wrongly',
  'ledger beside its counters',
  'reservations left',
  'limits exceeded',
  'leftovers',
  'odd answers'
] as const

/** For each promise what broke it, in words; empty = kept. */
export type Findings = Record<(typeof promises)[number], string[]>

interface JobLine {
  id: string
  name: string
  status: JobStatus
  mode: 'direct' | 'temporal'
  /** Run by a workflow, which goes on after a death. */
  durable: boolean
  backend: string
  /** By which its work at a provider is known there. */
  tokens: string[]
  errorCode: string | null
  errorMessage: string | null
  estimated: string
  actual: string | null
  early: boolean
  result: string | null
  /** Of the job itself. */
  attempts: string[]
  /** Of each task of its graphs. */
  tasks: { key: string; state: string; attempts: string[] }[]
  events: { seq: number; type: string; status: JobStatus }[]
  ledger: { kind: string; amount: string }[]
}

/** @param facts.name begins the name of every job of the load. @param facts.paid what the provider has accepted. */
export async function prove(
  connection: Connection,
  load: LoadResult,
  { name, paid }: { name: string; paid: PaidTask[] }
): Promise<Findings> {
  const findings = Object.fromEntries(promises.map((promise) => [promise, []])) as unknown as Findings
  const jobs = await jobsOf(connection, name)
  const byId = new Map(jobs.map((job) => [job.id, job]))
  const byName = new Map<string, JobLine[]>()
  for (const job of jobs) byName.set(job.name, [...(byName.get(job.name) ?? []), job])

  for (const submission of load.submissions) {
    for (const id of submission.ids)
      if (!byId.has(id)) findings['jobs lost'].push(`${submission.name}: ${id} was answered and is not there`)
    const made = byName.get(submission.name) ?? []
    // Each answered id is one, each lost answer at most one.
    if (made.length > submission.mostJobs || new Set(submission.ids).size !== submission.ids.length)
      findings['jobs made twice'].push(`${submission.name}: ${made.length} jobs for ${submission.mostJobs} submissions`)
    if (submission.key !== null && made.length === 0 && !submission.refused)
      findings['jobs lost'].push(`${submission.name}: sent again and again with its key, and never answered`)
    for (const job of made) checkJob(job, submission, findings)
  }
  for (const [id, told] of load.told) {
    const now = byId.get(id)?.status
    if (now !== told) findings['ends taken back'].push(`${id}: ${told} was told, it is ${now ?? 'gone'}`)
  }
  checkPaidWork(jobs, paid, findings)
  findings['odd answers'].push(...load.oddities)
  await checkMoney(connection, findings)
  await checkLeftovers(connection, findings)
  return findings
}

function checkJob(job: JobLine, submission: Submission, findings: Findings): void {
  const say = (promise: keyof Findings, what: string) =>
    findings[promise].push(`${job.name} (${job.mode}) ${job.id}: ${what}`)
  const { status, attempts } = job
  // The rest is said of jobs that have ended.
  if (!isFinal(status)) {
    say('jobs stuck', status)
    return
  }

  const completed = attempts.filter((state) => state === 'completed').length
  if (completed > 1 || (!job.durable && attempts.length > 1))
    say('jobs executed twice', `attempts ${attempts.join(', ')}`)
  if (status === 'completed' ? completed !== 1 : attempts.includes('running'))
    say('broken histories', `${status} with attempts ${attempts.join(', ') || 'none'}`)
  for (const task of job.tasks) checkTask(task, status, say)

  const odd = unexplainedEnd(job, submission)
  if (odd) say('ends that nothing explains', odd)
  if (status === 'completed' && submission.end !== 'execution_error') {
    const counts = JSON.stringify((JSON.parse(job.result ?? 'null') as { counts?: unknown } | null)?.counts)
    if (counts !== JSON.stringify(submission.end))
      say('wrong results', `${counts} where ${JSON.stringify(submission.end)} is right`)
  }
  if (job.early) say('jobs before their time', 'started before its not_before')

  const steps = job.events.filter(({ type }) => type === 'status')
  const told = steps.map((step) => step.status)
  const inOrder = told.every((step, at) => (at === 0 ? step === 'pending' : mayFollow(told[at - 1]!, step)))
  const numbered = job.events.every(({ seq }, at) => seq === at + 1)
  if (!inOrder || !numbered || told.at(-1) !== status) say('broken histories', `${told.join(' > ')}, now ${status}`)

  const sum = (kind: string) =>
    job.ledger.filter((entry) => entry.kind === kind).reduce((total, { amount }) => total + BigInt(amount), 0n)
  const due = status === 'completed' ? BigInt(job.estimated) : 0n
  const settled = sum('settle') + sum('adjust')
  const open = sum('reserve') - sum('settle') - sum('release')
  if (sum('reserve') !== BigInt(job.estimated) || settled !== due || open !== 0n || job.actual !== String(due))
    say(
      'jobs charged wrongly',
      `${status}, estimated ${job.estimated}, shown ${job.actual}, ledger ${job.ledger.map(({ kind, amount }) => `${kind} ${amount}`).join(', ')}`
    )
}

function checkTask(
  { key, state, attempts }: JobLine['tasks'][number],
  job: JobStatus,
  say: (promise: keyof Findings, what: string) => void
): void {
  const completed = attempts.filter((end) => end === 'completed').length
  if (completed > 1 || (completed === 1 && attempts.at(-1) !== 'completed'))
    say('jobs executed twice', `task ${key}: attempts ${attempts.join(', ')}`)
  const over = ['completed', 'failed', 'cancelled', 'skipped'].includes(state) && !attempts.includes('running')
  if (!over || (state === 'completed') !== (completed === 1) || (job === 'completed' && state !== 'completed'))
    say('broken histories', `${job} with task ${key} ${state}, attempts ${attempts.join(', ') || 'none'}`)
}

/** One paid task for each job that its provider has accepted, and none that belongs to no job. */
function checkPaidWork(jobs: JobLine[], paid: PaidTask[], findings: Findings): void {
  const owners = new Map(jobs.flatMap((job) => job.tokens.map((token) => [token, job] as const)))
  const tasksOf = new Map<JobLine, PaidTask[]>()
  for (const task of paid) {
    const job = task.token === null ? undefined : owners.get(task.token)
    if (job) tasksOf.set(job, [...(tasksOf.get(job) ?? []), task])
    else findings['work paid twice'].push(`task ${task.id} (${task.state}) belongs to no job`)
  }
  for (const job of jobs) {
    const tasks = tasksOf.get(job) ?? []
    const due = job.backend === hardware && job.status === 'completed' ? 1 : 0
    if (tasks.length > 1 || tasks.length < due)
      findings['work paid twice'].push(`${job.name} ${job.id}: ${job.status} with ${tasks.length} tasks`)
  }
}

/** Why a job may end as it did: its own program, a cancel, or a process that died under it. */
function unexplainedEnd(job: JobLine, { end, cancelAsked }: Submission): string | null {
  const { status, errorCode, attempts } = job
  const why = `${status} ${errorCode ?? ''} ${job.errorMessage ?? ''}`
  if (status === 'completed') return end === 'execution_error' ? 'completed, though its program fails' : null
  if (status === 'cancelled') return cancelAsked ? null : 'cancelled, and nobody asked for it'
  if (status !== 'failed') return why
  if (errorCode === 'execution_error') return end === 'execution_error' ? null : why
  if (!job.durable) return ['worker_lost', 'execution_service_lost'].includes(errorCode ?? '') ? null : why
  // A durable job gives up after its third lost attempt, no sooner.
  const losses = [attempts, ...job.tasks.map((task) => task.attempts)]
  const lost = Math.max(...losses.map((states) => states.filter((state) => state === 'lost').length))
  return errorCode === 'execution_service_lost' && lost >= 3 ? null : why
}

async function jobsOf({ sql }: Connection, name: string): Promise<JobLine[]> {
  return sql<JobLine[]>`
    select j.id, j.name, j.status, j.execution_mode as mode, j.durable, j.backend,
      (select coalesce(json_agg(token), '[]') from provider_tasks t where t.job_id = j.id) as tokens, j.error_code as "errorCode", j.error_message as "errorMessage",
      j.estimated_cost_micro::text as estimated, j.actual_cost_micro::text as actual,
      coalesce(j.started_at < j.not_before, false) as early,
      (select convert_from(a.content, 'UTF8') from artifacts a
        where a.job_id = j.id and a.name = 'result.json' and a.sha256 = j.result_sha256) as result,
      (select coalesce(json_agg(state order by number), '[]') from attempts a where a.job_id = j.id and a.task = '') as attempts,
      (select coalesce(json_agg(json_build_object('key', t.key, 'state', t.state, 'attempts',
          (select coalesce(json_agg(a.state order by a.number), '[]') from attempts a
            where a.job_id = t.job_id and a.task = t.key))), '[]')
        from job_tasks t where t.job_id = j.id) as tasks,
      (select coalesce(json_agg(json_build_object('seq', seq, 'type', type, 'status', status) order by seq), '[]')
        from job_events e where e.job_id = j.id) as events,
      (select coalesce(json_agg(json_build_object('kind', kind, 'amount', amount_micro::text)), '[]')
        from ledger l where l.job_id = j.id) as ledger
    from jobs j where j.name like ${`${name}-%`} order by j.id`
}

async function checkMoney({ db, sql }: Connection, findings: Findings): Promise<void> {
  findings['ledger beside its counters'].push(...(await ledgerMismatches(db)).map((row) => JSON.stringify(row)))
  const left =
    await sql`select team_id, period, starts_on::text, reserved_micro::text from budget_counters where reserved_micro <> 0`
  findings['reservations left'].push(...left.map((row) => JSON.stringify(row)))
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
      where a.state = 'running' and j.status not in ('pending', 'running', 'cancelling')`
  findings.leftovers.push(...rows.map((row) => JSON.stringify(row)))
}

/** Jobs that are not final yet, and what an engine still has to be told. */
export async function openWork({ sql }: Connection): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    select ((select count(*) from jobs where status in ('pending', 'running', 'cancelling')) + (select count(*) from outbox))::int as open`
  return row!.open
}

/** How many jobs ended how, by mode. */
export async function endsByMode({
  sql
}: Connection): Promise<{ mode: string; backend: string; status: string; error: string; count: number }[]> {
  return sql`
    select execution_mode as mode, backend, status, coalesce(error_code, '') as error, count(*)::int as count
    from jobs group by 1, 2, 3, 4 order by 1, 2, 3, 4`
}
