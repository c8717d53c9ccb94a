// The invariants of each single job, checked in the database.
import type { Connection } from '../../db/client.js'
import { resultText } from '../../db/jobs/attempts.js'
import { isFinal, type JobStatus, mayFollow } from '../../domain/jobs/job-status.js'
import type { Submission } from './load.js'

/** The invariants in the order of the report, which counts the violations of each. */
export const invariants = [
  'jobs lost',
  'jobs stuck',
  'jobs created twice',
  'jobs executed twice',
  'work paid twice',
  'unexplained final states',
  'wrong results',
  'final states reverted',
  'broken histories',
  'jobs started too early',
  'wrong charges',
  'ledger differs from its counters',
  'leftover reservations',
  'limits exceeded',
  'leftovers',
  'capsules lost',
  'unexpected capsules',
  'inconsistent capsules',
  'invalid seals',
  'runs created twice',
  'wrong run outcomes',
  'alerts sent twice',
  'missing alerts',
  'changes without exactly one audit entry',
  'broken audit trails',
  'lost contents',
  'objects without a content',
  'deadlocks',
  'unexpected responses'
] as const

/** Descriptions of the violations of each invariant. */
export type Findings = Record<(typeof invariants)[number], string[]>

export interface JobRow {
  id: string
  name: string
  status: JobStatus
  mode: 'direct' | 'temporal'
  /** Run by a workflow, which survives the death of a process. */
  durable: boolean
  backend: string
  /** Its provider states time of the machine that it used: it is charged even when it was cancelled. */
  usedMachine: boolean
  /** The tokens of its provider jobs. */
  tokens: string[]
  /** The capsule run that it belongs to. */
  runId: string | null
  capsuleId: string | null
  /** Whether it becomes a capsule when it completes, and the number of capsules made from it. */
  createsCapsule: boolean
  capsulesOfIt: number
  errorCode: string | null
  errorMessage: string | null
  estimated: string
  actual: string | null
  early: boolean
  result: string | null
  /** The states of the job's own attempts. */
  attempts: string[]
  /** The tasks of its graphs. */
  tasks: { key: string; state: string; attempts: string[] }[]
  events: { seq: number; type: string; status: JobStatus }[]
  ledger: { kind: string; amount: string }[]
}

/** @param expected its possible results, and whether a cancel was requested. */
export function checkJob(
  job: JobRow,
  expected: Pick<Submission, 'ends' | 'cancelRequested'>,
  findings: Findings
): void {
  const report = (invariant: keyof Findings, what: string) =>
    findings[invariant].push(`${job.name} (${job.mode}) ${job.id}: ${what}`)
  const { status, attempts } = job
  // The other invariants apply to finished jobs.
  if (!isFinal(status)) {
    report('jobs stuck', status)
    return
  }

  const completed = attempts.filter((state) => state === 'completed').length
  if (completed > 1 || (!job.durable && attempts.length > 1))
    report('jobs executed twice', `attempts ${attempts.join(', ')}`)
  if (status === 'completed' ? completed !== 1 : attempts.includes('running'))
    report('broken histories', `${status} with attempts ${attempts.join(', ') || 'none'}`)
  for (const task of job.tasks) checkTask(task, status, report)

  const unexplained = unexplainedStatus(job, expected)
  if (unexplained) report('unexplained final states', unexplained)
  const rights = expected.ends.filter((end) => typeof end !== 'string').map((end) => JSON.stringify(end))
  if (status === 'completed' && rights.length > 0) {
    const counts = countsOf(job.result ?? 'null')
    if (!rights.includes(counts)) report('wrong results', `${counts} where ${rights.join(' or ')} is right`)
  }
  if (job.early) report('jobs started too early', 'started before its not_before')

  const steps = job.events.filter(({ type }) => type === 'status')
  const statuses = steps.map((step) => step.status)
  const inOrder = statuses.every((step, at) => (at === 0 ? step === 'pending' : mayFollow(statuses[at - 1]!, step)))
  const numbered = job.events.every(({ seq }, at) => seq === at + 1)
  if (!inOrder || !numbered || statuses.at(-1) !== status)
    report('broken histories', `${statuses.join(' > ')}, now ${status}`)

  const sum = (kind: string) =>
    job.ledger.filter((entry) => entry.kind === kind).reduce((total, { amount }) => total + BigInt(amount), 0n)
  const due = status === 'completed' || (status === 'cancelled' && job.usedMachine) ? BigInt(job.estimated) : 0n
  const settled = sum('settle') + sum('adjust')
  const open = sum('reserve') - sum('settle') - sum('release')
  if (sum('reserve') !== BigInt(job.estimated) || settled !== due || open !== 0n || job.actual !== String(due))
    report(
      'wrong charges',
      `${status}, estimated ${job.estimated}, shown ${job.actual}, ledger ${job.ledger.map(({ kind, amount }) => `${kind} ${amount}`).join(', ')}`
    )
}

/** As JSON text; a list with those of each point for a sweep. */
function countsOf(result: string): string {
  type Counted = { counts?: unknown }
  const read = JSON.parse(result) as (Counted & { points?: Counted[] }) | null
  return JSON.stringify(read?.points ? read.points.map(({ counts }) => counts) : read?.counts) ?? 'none'
}

function checkTask(
  { key, state, attempts }: JobRow['tasks'][number],
  job: JobStatus,
  report: (invariant: keyof Findings, what: string) => void
): void {
  const completed = attempts.filter((end) => end === 'completed').length
  if (completed > 1 || (completed === 1 && attempts.at(-1) !== 'completed'))
    report('jobs executed twice', `task ${key}: attempts ${attempts.join(', ')}`)
  const over = ['completed', 'failed', 'cancelled', 'skipped'].includes(state) && !attempts.includes('running')
  if (!over || (state === 'completed') !== (completed === 1) || (job === 'completed' && state !== 'completed'))
    report('broken histories', `${job} with task ${key} ${state}, attempts ${attempts.join(', ') || 'none'}`)
}

/** Returns the final status unless it is explained by the job's program, a cancel, or the death of a process. */
function unexplainedStatus(
  job: JobRow,
  { ends, cancelRequested }: Pick<Submission, 'ends' | 'cancelRequested'>
): string | null {
  const { status, errorCode, attempts } = job
  const why = `${status} ${errorCode ?? ''} ${job.errorMessage ?? ''}`
  const fails: (string | null)[] = ends.filter((end) => typeof end === 'string')
  if (status === 'completed') return fails.length > 0 ? `completed, but must fail with ${fails.join(' or ')}` : null
  if (status === 'cancelled') return cancelRequested ? null : 'cancelled without a request'
  if (status !== 'failed') return why
  if (fails.includes(errorCode)) return null
  if (errorCode === 'execution_error' || errorCode === 'internal_error') return why
  if (!job.durable)
    return ['worker_lost', 'execution_service_lost', 'executor_shut_down'].includes(errorCode ?? '') ? null : why
  // A durable job fails after its third lost attempt, not earlier.
  const losses = [attempts, ...job.tasks.map((task) => task.attempts)]
  const lost = Math.max(...losses.map((states) => states.filter((state) => state === 'lost').length))
  return errorCode === 'execution_service_lost' && lost >= 3 ? null : why
}

/** Every job of the load, including those of capsule runs. @param name the prefix of their names. */
export async function jobsOf(connection: Connection, name: string): Promise<JobRow[]> {
  const { db, sql } = connection
  const jobs = await sql<(JobRow & { moved: string | null })[]>`
    select j.id, j.name, j.status, j.execution_mode as mode, j.durable, j.backend,
      exists (select from provider_tasks t where t.job_id = j.id and t.usage_amount > 0) as "usedMachine",
      (select coalesce(json_agg(token), '[]') from provider_tasks t where t.job_id = j.id) as tokens,
      j.capsule_run_id as "runId", j.capsule_id as "capsuleId", j.create_capsule as "createsCapsule",
      (select count(*)::int from capsules c where c.source_job_id = j.id) as "capsulesOfIt", j.error_code as "errorCode", j.error_message as "errorMessage",
      j.estimated_cost_micro::text as estimated, j.actual_cost_micro::text as actual,
      coalesce(j.started_at < j.not_before, false) as early,
      (select convert_from(a.content, 'UTF8') from artifacts a
        where a.job_id = j.id and a.name = 'result.json' and a.sha256 = j.result_sha256) as result,
      (select a.sha256 from artifacts a where a.job_id = j.id and a.name = 'result.json' and a.sha256 = j.result_sha256
        and a.content is null) as moved,
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
  for (const job of jobs) if (job.moved !== null) job.result = await resultText(db, job.id, job.moved)
  return jobs
}
