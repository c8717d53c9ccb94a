// Formats a job for people.

import { listing, table } from '../terminal/layout.js'
import { money } from '../terminal/output.js'
import { ago, clockTime, lasted } from '../terminal/readable-time.js'
import { plain } from '../terminal/untrusted-text.js'
import type { Attempt, Choice, JobRecord, ProviderJobRecord } from './job-record.js'
import { progressText } from './job-watch.js'
import { resultText } from './result-text.js'

/** @param result the text of the job's result. */
export function jobText(job: JobRecord, result: string | null): string {
  const end = job.completed_at
  const facts = listing([
    ['job', job.id],
    ['name', job.name],
    ['labels', job.labels.join(', ')],
    ['status', job.status + (job.queue ? ` (${queueText(job.queue)})` : ''), 'status'],
    ['backend', `${job.backend}, ${job.execution_mode}${job.emulated ? ', emulated' : ''}`],
    ['chosen', job.choice ? choiceText(job.choice) : null],
    ['source', sourceText(job)],
    ['submitted', `${clockTime(job.created_at)} (${ago(job.created_at)})`],
    ['started', job.started_at && `${lasted(job.created_at, job.started_at)} later`],
    ['ended', end && `${lasted(job.created_at, end)} after the submission`],
    ['points', job.progress ? progressText(job.progress) : null],
    ['attempts', job.attempts > 1 ? String(job.attempts) : null],
    ['cost', costText(job)],
    ...job.provider_jobs.map((one): [string, string] => [`at ${one.provider}`, providerJobText(one)]),
    ['cancel', job.cancel && `requested ${clockTime(job.cancel.requested_at)}, ${job.cancel.outcome ?? 'in progress'}`],
    ['removed', removedText(job)],
    ['workflow', job.workflow && (job.workflow.url ?? job.workflow.id)]
  ])
  const reason = job.error ? `${job.error.code}: ${job.error.message}` : job.status_reason
  return [facts, ...(reason ? [plain(reason)] : []), ...(result ? [resultText(result)] : [])].join('\n\n')
}

const removedText = ({ removed = {} }: JobRecord): string =>
  Object.entries(removed)
    .map(([kind, at]) => `${kind.replaceAll('_', ' ')} ${clockTime(at)}`)
    .join(', ')

const providerJobText = ({ provider_job_id, status, cost_usd, usage, note }: ProviderJobRecord): string =>
  [
    provider_job_id ?? 'no id',
    status,
    ...(usage ? [`${usage.amount} ${usage.unit}`] : []),
    ...(cost_usd === null ? [] : [money(cost_usd)]),
    ...(note ? [note] : [])
  ].join(', ')

/** Why the first of the candidates was chosen. */
export function choiceText({ candidates }: Choice): string {
  const usable = candidates.filter((candidate) => candidate.usable).length
  return `${candidates[0]!.reason} (${usable} of ${candidates.length} backends could take it)`
}

function sourceText({ source, framework }: JobRecord): string {
  const script = source.script_id ? ` ${source.script_id} version ${source.script_version ?? '?'}` : ''
  return `${source.kind}${script}${framework ? `, ${framework}` : ''}, sha256 ${source.sha256.slice(0, 12)}`
}

/** The position in a provider's queue is part of the message. */
function queueText({ position, reason, message }: NonNullable<JobRecord['queue']>): string {
  const place = position === null || reason === 'provider_queue' ? '' : `, position ${position}`
  return `${message ?? reason}${place}`
}

function costText(job: JobRecord): string {
  const estimate = `${money(job.estimated_cost_usd)} estimated`
  return job.actual_cost_usd === null ? estimate : `${money(job.actual_cost_usd)} (${estimate})`
}

export function attemptsText(attempts: Attempt[]): string {
  if (attempts.length === 0) return 'No attempt yet: the executor has not accepted this job.'
  // All attempts of a plain job belong to its only task.
  const ofTasks = attempts.some(({ task_id }) => task_id !== null)
  return table(
    [
      ...(ofTasks ? [{ heading: 'TASK', least: 8 }] : []),
      { heading: 'ATTEMPT', right: true },
      { heading: 'STATE', status: true },
      { heading: 'STARTED', yields: 4 },
      { heading: 'LASTED', yields: 1 },
      { heading: 'NEXT AFTER', yields: 3 },
      { heading: 'AT PROVIDER', least: 12, yields: 2 },
      { heading: 'ERROR', least: 16 }
    ],
    attempts.map((attempt) => [
      ...(ofTasks ? [attempt.task] : []),
      String(attempt.number),
      attempt.state,
      clockTime(attempt.started_at),
      attempt.ended_at ? lasted(attempt.started_at, attempt.ended_at) : '',
      attempt.backoff_ms === null ? '' : `${attempt.backoff_ms / 1000} s`,
      attempt.provider_job_id ?? '',
      attempt.error ? `${attempt.error.code}: ${attempt.error.message}` : ''
    ])
  )
}
