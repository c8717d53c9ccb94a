// Native programs as the public client submits them (domain/jobs/native/native-submission.ts): a source, the function to call with its
// arguments, and a spending cap. Such a job is always durable, and its result is a `managedResult`.
import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { findBackend } from '../../../db/backends/backends.js'
import type { DbOrTx } from '../../../db/client.js'
import { sha256Of } from '../../../db/jobs/artifacts.js'
import { loadScript } from '../../../db/scripts/scripts.js'
import { assertUsable } from '../../../domain/backends/backend.js'
import { ServiceError, validationError } from '../../../domain/errors.js'
import {
  assertUuid,
  type NativeSubmission,
  type NativeSubmitBody,
  nativeShots,
  readNativeSubmission,
  receiptProtocol
} from '../../../domain/jobs/native/native-submission.js'
import { paramsFromValue } from '../../../domain/jobs/params/params.js'
import { type JobSource, type Submission, TIMEOUT_SECONDS_DEFAULT } from '../../../domain/jobs/submission.js'
import { oneOf } from '../../../domain/json/one-of.js'
import type { ApiDeps } from '../deps.js'
import { callerOf } from '../http/access.js'
import { type JsonContent, type ResponseOf, type RouteReply, type Sent, text, uuid } from '../http/response.js'
import type { Write, WriteOnce } from '../http/write-once.js'
import type { Nudge } from './nudge.js'
import { submitAtOnce, submitJob } from './submit-job.js'

export const AdmissionReceipt = Type.Object(
  {
    protocol_version: oneOf([receiptProtocol]),
    job_id: uuid,
    submission_id: uuid,
    source_sha256: text,
    input_sha256: text
  },
  { $id: 'AdmissionReceipt' }
)

/** A route that responds with 201 and a receipt. */
interface ReceiptSchema {
  response: { 201: ResponseOf<JsonContent<typeof AdmissionReceipt>> }
}

/**
 * Records a native submission and responds with its receipt, which has exactly five fields.
 * @throws ServiceError as any submission does; `conflict` for a saved script that no longer matches its hash.
 */
export async function submitNative(
  { deps, nudge, writeOnce }: { deps: ApiDeps; nudge: Nudge; writeOnce: WriteOnce },
  request: FastifyRequest,
  reply: unknown,
  body: NativeSubmitBody
): Promise<Sent> {
  assertKey(request)
  const native = readNativeSubmission(body)
  const backend = await findBackend(deps.db, native.backend)
  request.submission = backend && { mode: 'temporal', backend: backend.slug }
  assertUsable(backend, native.backend, { shots: 1, program: 'circuit' })
  const shots = nativeShots(backend)
  const submissionWith = (source: Source) => {
    const sourceSha256 = sha256Of(Buffer.from(source.text, 'utf8'))
    assertHash(native, sourceSha256)
    const receiptIn = (write: Pick<Write, 'afterCommit'>) => (jobId: string) => {
      write.afterCommit(() => nudge(jobId, 'temporal'))
      return {
        status: 201,
        body: {
          protocol_version: receiptProtocol,
          job_id: jobId,
          submission_id: jobId,
          source_sha256: sourceSha256,
          input_sha256: sha256Of(Buffer.from(native.call.input, 'utf8'))
        }
      } as const
    }
    return { submission: submissionOf(native, source, shots), receiptIn }
  }
  const { source } = native
  return writeOnce(
    request,
    reply as RouteReply<ReceiptSchema>,
    async (write) => {
      const { submission, receiptIn } = submissionWith(await sourceOf(write.tx, request, native))
      return receiptIn(write)(await submitJob(deps, request, write, submission, backend))
    },
    async (write) => {
      if (source.kind !== 'inline') return null
      const { submission, receiptIn } = submissionWith(inlineSource(source))
      return submitAtOnce(deps, request, write, submission, backend, receiptIn(write))
    }
  )
}

function assertKey({ headers }: FastifyRequest): void {
  const key = headers['idempotency-key']
  if (key === undefined) throw validationError('Idempotency-Key: a native submission needs this header, a UUID')
  assertUuid('Idempotency-Key', String(key))
}

type Source = Exclude<JobSource, { kind: 'circuit' }>

const inlineSource = (source: NativeSubmission['source'] & { kind: 'inline' }): Source => ({
  ...source,
  framework: 'marqov'
})

async function sourceOf(tx: DbOrTx, request: FastifyRequest, { source }: NativeSubmission): Promise<Source> {
  if (source.kind === 'inline') return inlineSource(source)
  const script = await loadScript(tx, callerOf(request), source.scriptId)
  if (!script) throw new ServiceError('not_found', 'source.script_id: no such script')
  return {
    kind: 'script',
    framework: 'marqov',
    text: script.content,
    scriptId: script.id,
    version: script.version
  }
}

function assertHash({ source, sourceSha256 }: NativeSubmission, found: string): void {
  if (sourceSha256 === null || sourceSha256 === found) return
  if (source.kind === 'inline')
    throw validationError(`source_sha256: the source hashes to ${found} (got ${sourceSha256})`)
  throw new ServiceError(
    'conflict',
    `source_sha256: the saved script has changed; it hashes to ${found} now (got ${sourceSha256})`
  )
}

const submissionOf = (native: NativeSubmission, source: Source, shots: number): Submission => ({
  source,
  backend: native.backend,
  params: paramsFromValue({ shots }),
  mode: 'temporal',
  teamId: native.teamId,
  name: native.call.entrypoint,
  labels: [],
  timeoutSeconds: TIMEOUT_SECONDS_DEFAULT,
  maxCost: native.maxCost,
  notBefore: null,
  circuitCount: 1,
  notify: null,
  native: native.call
})
