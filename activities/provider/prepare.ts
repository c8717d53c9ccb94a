// Compiles the submitted source, or a circuit that a script requested, to the provider's own form, by one request to the
// executor. AT-LEAST-ONCE: the program that was compiled first is the one submitted, so a second call uses its file.
import type { Artifact } from '../../db/jobs/artifacts.js'
import type { ProviderRef } from '../../db/provider-jobs/provider-refs.js'
import {
  compiledFileOf,
  deviceFileOf,
  fileText,
  type ProviderRun,
  requestedCircuit,
  storeFiles
} from '../../db/provider-jobs/provider-runs.js'
import type { Readout } from '../../domain/backends/provider-counts.js'
import { isMeasuredOften } from '../../domain/jobs/params/circuits.js'
import { JsonText } from '../../domain/json/json-text.js'
import { dearerThanCatalogue } from '../../domain/money/device-price.js'
import type { CompileEnd } from '../../services/executor/client.js'
import { type CompileRequest, sourceOf } from '../../services/executor/requests.js'
import { whenExecutorCan } from '../../services/executor/wait.js'
import type { DeviceFacts, ProviderFault, ProviderProgram } from '../../services/providers/adapter.js'
import { retryWhileDatabaseAway } from '../job/retry-while-database-away.js'
import {
  accessOf,
  againAfter,
  endsSubmission,
  fail,
  type ProviderDeps,
  runningJob,
  type StepContext,
  type StepEnd
} from './step.js'

/** The stored output of the compilation. `qasm` is the canonical circuit, `null` for what has no such form. */
export interface CompiledProgram {
  program: string
  media_type: string
  qubits: number
  readout: Readout
  qasm: string | null
  circuit_info: { registers: { name: string; size: number; qubits?: number[] }[] } & Record<string, unknown>
  warnings: string[]
}

/** The executor's own limit for compiling. */
const COMPILE_SECONDS_MAX = 60
/** The executor compiles no circuit of more qubits. */
const QUBITS_MAX = 256

/**
 * `script`: the source builds no circuit, or one that is measured several times; it has to be executed, and requests its
 * circuits itself.
 */
export type Prepared = { next: 'submit' } | { next: 'script' } | StepEnd

export async function prepareProgram(deps: ProviderDeps, context: StepContext): Promise<Prepared> {
  const { ref, fence, signal } = context
  const { jobId } = ref
  const found = await runningJob(deps, context)
  if ('end' in found) return found.end
  const { job } = found
  if (!ref.asked && (job.hasAsked || job.programmingModel !== null || isMeasuredOften(job.params)))
    return { next: 'script' }
  if (await fileText(deps.db, jobId, compiledFileOf(ref))) return { next: 'submit' }
  const device = await described(deps, context, job)
  if ('next' in device) return device
  // Loaded once a permit is held, so that no circuit waits in memory.
  const circuit = async () => (ref.asked ? requestedCircuit(deps.db, ref) : null)
  const end = await whenExecutorCan<CompileEnd>(deps, { team: job.teamId, job: jobId }, signal, async (executor) =>
    executor.compile(compileRequest(job, await circuit(), device.target), signal)
  )
  if (end.kind === 'script') return { next: 'script' }
  if (end.kind === 'failed') return { next: 'fail', error: end.error }
  if (end.kind === 'refused') return fail(end.code ?? 'execution_error', end.message)
  const compiled = JSON.parse(end.answer) as CompiledProgram
  const stored = await retryWhileDatabaseAway({ log: deps.log, jobId, signal }, () =>
    storeFiles(deps.db, jobId, fence, filesOf(ref, compiled, end.answer, device))
  )
  return { next: stored ? 'submit' : 'stop' }
}

/** What the provider says about the device, or why the circuit cannot be compiled for it now. */
async function described(
  deps: ProviderDeps,
  { signal }: StepContext,
  job: ProviderRun
): Promise<DeviceFacts | StepEnd> {
  const { provider, backend, target } = job
  if (!deps.providers.has(provider) || target === null)
    return fail('backend_unavailable', `this version cannot talk to ${provider}, which runs ${backend}`)
  if (job.isRetired) return retired(job)
  const access = await accessOf(deps, { ...job, place: null })
  if ('missing' in access) return fail('provider_refused', access.missing)
  const { adapter, at } = access
  try {
    const device = await adapter.describe(at.credentials, { target, width: job.maxQubits }, signal)
    if (device.status === 'retired') return retired(job)
    // Emulators charge nothing.
    const dearer = deps.emulated
      ? null
      : dearerThanCatalogue(backend, device.price, job.pricing ?? { perShot: 0n, byTime: null })
    if (dearer) return fail('backend_unavailable', dearer)
    const { min, max } = device.shots ?? { min: 1, max: Number.POSITIVE_INFINITY }
    if (job.shots >= min && job.shots <= max) return device
    return fail('provider_refused', `${backend} takes ${min} to ${max} shots (got ${job.shots})`)
  } catch (error) {
    const wait = againAfter(deps, error)
    if (endsSubmission.has((error as ProviderFault).kind)) return fail('provider_refused', wait.why)
    if ((job.ask?.seconds ?? job.secondsStarted ?? 0) < deps.providerTimes.outageSeconds) return wait
    return fail('provider_unreachable', `${provider} did not describe ${backend} for a day: ${wait.why}`)
  }
}

const retired = ({ backend }: ProviderRun): StepEnd =>
  fail('backend_retired', `${backend} was retired by its provider; nothing was sent to it`)

export async function compiledProgram({ db }: ProviderDeps, ref: ProviderRef): Promise<CompiledProgram> {
  const text = await fileText(db, ref.jobId, compiledFileOf(ref))
  if (text === null) throw new Error(`job ${ref.jobId} has no file ${compiledFileOf(ref)}`)
  return JSON.parse(text) as CompiledProgram
}

export const programOf = ({ program, qubits, readout }: CompiledProgram): ProviderProgram => ({
  text: program,
  qubits,
  readout
})

function compileRequest(job: ProviderRun, circuit: string | null, target: DeviceFacts['target']): CompileRequest {
  return {
    run_id: job.id,
    ...(job.requestId !== null && { request_id: job.requestId }),
    source: circuit === null ? sourceOf(job) : { kind: 'circuit', format: 'qasm3', payload: circuit },
    backend: job.backend,
    max_qubits: Math.min(job.maxQubits ?? target.num_qubits ?? QUBITS_MAX, QUBITS_MAX),
    params: circuit !== null ? { shots: job.shots, backend: job.backend } : new JsonText(job.params),
    target,
    limits: { wall_seconds: Math.min(job.timeoutSeconds, COMPILE_SECONDS_MAX) },
    keys: { team: job.teamId }
  }
}

/** For a requested circuit, the one file contains both forms. */
function filesOf(ref: ProviderRef, { qasm }: CompiledProgram, answer: string, device: DeviceFacts): Artifact[] {
  const json = (name: string, text: string) => ({ name, mediaType: 'application/json', content: Buffer.from(text) })
  const own = [json(compiledFileOf(ref), answer), json(deviceFileOf(ref), JSON.stringify(device))]
  if (qasm === null || ref.asked) return own
  return [...own, { name: 'circuit.qasm', mediaType: 'text/plain; charset=utf-8', content: Buffer.from(qasm) }]
}
