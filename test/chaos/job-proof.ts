// What has to hold for each job by itself, as the database has it.
import type { Connection } from '../../db/client.js'
import { isFinal, type JobStatus, mayFollow } from '../../domain/jobs/job-status.js'
import type { Submission } from './load.js'

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
  'capsules lost',
  'capsules nobody made',
  'capsules between states',
  'seals that do not hold',
  'runs made twice',
  'runs that end wrongly',
  'alerts told twice',
  'alerts forgotten',
  'changes without one entry',
  'audit trails broken',
  'deadlocks',
  'odd answers'
] as const

/** For each promise what broke it, in words; empty = kept. */
export type Findings = Record<(typeof promises)[number], string[]>

export interface JobLine {
  id: string
  name: string
  status: JobStatus
  mode: 'direct' | 'temporal'
  /** Run by a workflow, which goes on after a death. */
  durable: boolean
  backend: string
  /** By which its work at a provider is known there. */
  tokens: string[]
  /** Of which run of a capsule it is. */
  runId: string | null
  capsuleId: string | null
  /** It was to become a capsule when it completes, and how many were made of it. */
  createsCapsule: boolean
  capsulesOfIt: number
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

/** @param expected how it may end, and whether anybody has asked for its end. */
export function checkJob(job: JobLine, expected: Pick<Submission, 'ends' | 'cancelAsked'>, findings: Findings): void {
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

  const odd = unexplainedEnd(job, expected)
  if (odd) say('ends that nothing explains', odd)
  const rights = expected.ends.filter((end) => end !== 'execution_error').map((end) => JSON.stringify(end))
  if (status === 'completed' && rights.length > 0) {
    const counts = JSON.stringify((JSON.parse(job.result ?? 'null') as { counts?: unknown } | null)?.counts)
    if (!rights.includes(counts)) say('wrong results', `${counts} where ${rights.join(' or ')} is right`)
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

/** Why a job may end as it did: its own program, a cancel, or a process that died under it. */
function unexplainedEnd(job: JobLine, { ends, cancelAsked }: Pick<Submission, 'ends' | 'cancelAsked'>): string | null {
  const { status, errorCode, attempts } = job
  const why = `${status} ${errorCode ?? ''} ${job.errorMessage ?? ''}`
  const fails = ends.includes('execution_error')
  if (status === 'completed') return fails ? 'completed, though its program fails' : null
  if (status === 'cancelled') return cancelAsked ? null : 'cancelled, and nobody asked for it'
  if (status !== 'failed') return why
  if (errorCode === 'execution_error') return fails ? null : why
  if (!job.durable) return ['worker_lost', 'execution_service_lost'].includes(errorCode ?? '') ? null : why
  // A durable job gives up after its third lost attempt, no sooner.
  const losses = [attempts, ...job.tasks.map((task) => task.attempts)]
  const lost = Math.max(...losses.map((states) => states.filter((state) => state === 'lost').length))
  return errorCode === 'execution_service_lost' && lost >= 3 ? null : why
}

/** Every job of the load, and of the runs of its capsules. @param name begins all of their names. */
export async function jobsOf({ sql }: Connection, name: string): Promise<JobLine[]> {
  return sql<JobLine[]>`
    select j.id, j.name, j.status, j.execution_mode as mode, j.durable, j.backend,
      (select coalesce(json_agg(token), '[]') from provider_tasks t where t.job_id = j.id) as tokens,
      j.capsule_run_id as "runId", j.capsule_id as "capsuleId", j.create_capsule as "createsCapsule",
      (select count(*)::int from capsules c where c.source_job_id = j.id) as "capsulesOfIt", j.error_code as "errorCode", j.error_message as "errorMessage",
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
