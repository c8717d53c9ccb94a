// Fetches the counts of a completed provider job and stores them: as the result of a plain job, or as the response to a
// requested circuit. AT-LEAST-ONCE: a second call finds what the first has stored.
import { createHash } from 'node:crypto'
import { completeOpenAttempt } from '../../db/provider-jobs/provider-attempts.js'
import type { ProviderRun } from '../../db/provider-jobs/provider-runs.js'
import { bitOrderOf } from '../../domain/backends/provider-counts.js'
import { idWithoutAccount } from '../../domain/backends/provider-job.js'
import { ProviderFault, type ProviderJobCounts } from '../../services/providers/adapter.js'
import { retryWhileDatabaseAway } from '../job/retry-while-database-away.js'
import { respondWithCircuit } from './circuit-response.js'
import { type CompiledProgram, compiledProgram, programOf } from './prepare.js'
import {
  accessOf,
  again,
  againAfter,
  fail,
  type ProviderDeps,
  runningJob,
  type StepContext,
  type StepEnd
} from './step.js'

/** A result can lag behind the status, usually by seconds. */
const LAG_MS_MIN = 1_000
const LAG_MS_MAX = 60_000

export type Collected = { next: 'complete'; resultSha256: string } | StepEnd

export async function collectResult(deps: ProviderDeps, context: StepContext): Promise<Collected> {
  const { fence, signal } = context
  const { jobId } = context.ref
  const found = await runningJob(deps, context, ['running', 'cancelling'])
  if ('end' in found) return found.end
  const { job } = found
  if (job.storedResult) return { next: 'complete', resultSha256: job.storedResult }
  const end = await fetched(deps, context, job)
  if ('next' in end) return end
  const result = resultText(job, end.compiled, end.found)
  const stored = await retryWhileDatabaseAway({ log: deps.log, jobId, signal }, () =>
    completeOpenAttempt(deps.db, jobId, fence, result)
  )
  return stored ? { next: 'complete', resultSha256: stored } : { next: 'stop' }
}

/** The same for a requested circuit: the script or task continues with its counts. */
export async function collectCounts(deps: ProviderDeps, context: StepContext): Promise<StepEnd> {
  const found = await runningJob(deps, context)
  if ('end' in found) return found.end
  const end = await fetched(deps, context, found.job)
  if ('next' in end) return end
  const { counts, source } = end.found
  return respondWithCircuit(deps, context, {
    counts,
    count_source: source,
    provider_job_id: idWithoutAccount(found.job.task!.providerJobId!)
  })
}

async function fetched(
  deps: ProviderDeps,
  { ref, signal }: StepContext,
  job: ProviderRun
): Promise<{ compiled: CompiledProgram; found: ProviderJobCounts } | StepEnd> {
  const access = await accessOf(deps, { ...job, place: job.task!.place })
  if ('missing' in access) return withoutAccess(deps, job, access.missing)
  const compiled = await compiledProgram(deps, ref)
  const task = { program: programOf(compiled), shots: job.shots }
  try {
    return { compiled, found: await access.adapter.counts(access.at, job.task!.providerJobId!, task, signal) }
  } catch (error) {
    if (error instanceof ProviderFault && error.kind === 'refused') return fail('provider_failed', error.message)
    if (error instanceof ProviderFault && error.kind === 'not_found') return notThere(deps, job)
    return againAfter(deps, error)
  }
}

/** The team can restore its credentials; the provider's charge is settled either way. */
function withoutAccess(
  { providerTimes }: ProviderDeps,
  { provider, secondsEnded }: ProviderRun,
  missing: string
): StepEnd {
  if ((secondsEnded ?? 0) <= providerTimes.outageSeconds) return again(60_000, missing)
  return fail(
    'provider_failed',
    `${provider} completed the task, and its result could not be fetched for a day: ${missing}`
  )
}

function notThere({ providerTimes }: ProviderDeps, { provider, secondsEnded }: ProviderRun): StepEnd {
  const seconds = secondsEnded ?? 0
  if (seconds > providerTimes.outageSeconds)
    return fail('provider_failed', `${provider} completed the task and has shown no result of it for a day`)
  return again(Math.min(Math.max(seconds * 100, LAG_MS_MIN), LAG_MS_MAX), 'its result is not there yet')
}

/** JSON text of a result in the form that all jobs share, with the source of the counts. */
function resultText(job: ProviderRun, compiled: CompiledProgram, found: ProviderJobCounts): string {
  const { circuit_info, warnings } = compiled
  const circuit = compiled.readout.kind === 'sites' ? compiled.program : compiled.qasm
  const observed = Object.values(found.counts).reduce((sum, count) => sum + count, 0)
  return JSON.stringify({
    counts: found.counts,
    shots: job.shots,
    backend: job.backend,
    execution_time_ms: found.executionTimeMs,
    circuit_info,
    ...(found.probabilities && { probabilities: found.probabilities }),
    metadata: {
      bit_order: bitOrderOf(compiled.readout),
      count_source: found.source,
      shots_requested: job.shots,
      shots_observed: observed,
      registers: circuit_info.registers,
      seed: null,
      engine: job.provider,
      engine_version: null,
      framework_version: null,
      optimization_level: null,
      circuit_sha256: circuit === null ? null : createHash('sha256').update(circuit).digest('hex'),
      provider_job_id: idWithoutAccount(job.task!.providerJobId!),
      ...(job.task!.emulated && { emulated: true }),
      calibration_id: found.calibrationId
    },
    warnings: [...warnings, ...(found.warnings ?? [])]
  })
}
