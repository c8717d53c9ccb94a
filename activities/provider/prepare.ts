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
import type { CompileEnd } from '../../services/executor/client.js'
import { type CompileRequest, sourceOf } from '../../services/executor/requests.js'
import { whenExecutorCan } from '../../services/executor/wait.js'
import type { DeviceFacts, ProviderProgram } from '../../services/providers/adapter.js'
import { retryWhileDatabaseAway } from '../job/retry-while-database-away.js'
import { described } from './describe.js'
import { fail, type ProviderDeps, runningJob, type StepContext, type StepEnd } from './step.js'

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
  // The description of the device takes a place among the calls to providers, the wait for the executor does not.
  const { place: _, ...own } = context
  const found = await runningJob(deps, own)
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
