// The protocol with which the public client submits native programs: a source, the name of one of its functions, and
// the arguments. `POST /api/jobs/submit` accepts such a body when it names the protocol. The service repeats every
// check that the client makes.
import { type Static, Type } from 'typebox'
import { validationError } from '../../errors.js'
import { oneOf } from '../../json/one-of.js'
import type { MicroUsd } from '../../money/money.js'
import { readNativeInput } from './native-input.js'

export const submissionProtocol = 'marqov.public-submission/v1'
export const receiptProtocol = 'marqov.funded-admission-receipt/v1'
export const resultProtocol = 'marqov.managed-result/v1'
export const displayProtocol = 'marqov.task-display/v1'

export const programmingModels = ['native_workflow', 'single_task'] as const
export type ProgrammingModel = (typeof programmingModels)[number]

export const CAP_CENTS_MAX = 10_000
const MICRO_PER_CENT = 10_000n
/** The largest source or input, in bytes of UTF-8. */
const TEXT_BYTES_MAX = 1_048_576
/** The shots of a circuit in a native program that sets none, and of the one circuit that its estimate assumes. */
const SHOTS = 1_000

export const nativeShots = ({ maxShots }: { maxShots: number | null }): number => Math.min(SHOTS, maxShots ?? SHOTS)

const Uuid = Type.String({ format: 'uuid' })

export const NativeSubmitBody = Type.Object(
  {
    protocol_version: oneOf([submissionProtocol]),
    team_id: Uuid,
    backend: Type.String({ minLength: 1, maxLength: 100 }),
    programming_model: oneOf(programmingModels),
    cap_cents: Type.Integer({
      minimum: 1,
      maximum: CAP_CENTS_MAX,
      description: 'The most that the job can cost, including its tasks'
    }),
    analysis_id: Type.Optional(Type.Null()),
    source: Type.Object(
      {
        kind: oneOf(['inline', 'script']),
        content: Type.Optional(
          Type.String({ minLength: 1, maxLength: TEXT_BYTES_MAX, description: 'Of kind inline: Python, at most 1 MiB' })
        ),
        script_id: Type.Optional(Type.String({ format: 'uuid', description: 'Of kind script: a saved one' }))
      },
      { additionalProperties: false }
    ),
    input: Type.String({
      minLength: 1,
      maxLength: TEXT_BYTES_MAX,
      description:
        'JSON text of { "entrypoint", "args", "kwargs" }: the name of a function of the source, a list and an object'
    }),
    source_sha256: Type.Optional(
      Type.String({
        pattern: '^[0-9a-f]{64}$',
        description: 'The SHA-256 that the source must have; otherwise nothing is submitted'
      })
    )
  },
  { $id: 'NativeSubmission', additionalProperties: false, description: `A native program (${submissionProtocol})` }
)
export type NativeSubmitBody = Static<typeof NativeSubmitBody>

/** A body that names any protocol is a native submission; every other body is a plain one. */
export const isNative = <T extends object>(body: T | NativeSubmitBody): body is NativeSubmitBody =>
  Object.hasOwn(body, 'protocol_version')

/** The function that a native submission calls, and its arguments. */
export interface NativeCall {
  model: ProgrammingModel
  entrypoint: string
  /** The exact JSON text of the submission. Only the function that is called parses it. */
  input: string
}

export interface NativeSubmission {
  teamId: string
  backend: string
  call: NativeCall
  maxCost: MicroUsd
  source: { kind: 'inline'; text: string } | { kind: 'script'; scriptId: string }
  sourceSha256: string | null
}

/** The caps, in cents, that a job costing at least `least` can have. `null` when `least` is above the highest cap. */
export function capsFrom(least: MicroUsd): { min: number; max: number } | null {
  const min = Number((least + MICRO_PER_CENT - 1n) / MICRO_PER_CENT)
  return min > CAP_CENTS_MAX ? null : { min: Math.max(min, 1), max: CAP_CENTS_MAX }
}

/** Reads a schema-valid body. @throws ServiceError `validation_error` naming the field. */
export function readNativeSubmission(body: NativeSubmitBody): NativeSubmission {
  assertUuid('team_id', body.team_id)
  assertBytes('input', body.input)
  return {
    teamId: body.team_id.toLowerCase(),
    backend: body.backend,
    call: {
      model: body.programming_model,
      entrypoint: readNativeInput(body.input),
      input: body.input
    },
    maxCost: BigInt(body.cap_cents) * MICRO_PER_CENT,
    source: readSource(body.source),
    sourceSha256: body.source_sha256 ?? null
  }
}

function readSource({ kind, content, script_id }: NativeSubmitBody['source']): NativeSubmission['source'] {
  const [needed, other] = kind === 'inline' ? (['content', 'script_id'] as const) : (['script_id', 'content'] as const)
  if ({ content, script_id }[other] !== undefined)
    throw validationError(`source.${other}: is not a field of a source of kind ${kind}`)
  if ({ content, script_id }[needed] === undefined) throw validationError(`source.${needed}: is required`)
  if (kind === 'script') {
    assertUuid('source.script_id', script_id!)
    return { kind, scriptId: script_id!.toLowerCase() }
  }
  assertBytes('source.content', content!)
  return { kind, text: content! }
}

/** With dashes; a version and variant of RFC 9562, or the nil or max UUID. */
const uuid =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}(?:-0{4}){3}-0{12}|f{8}(?:-f{4}){3}-f{12})$/i

/** @throws ServiceError `validation_error` naming the field, when the text is not a UUID of the protocol. */
export function assertUuid(field: string, text: string): void {
  if (!uuid.test(text))
    throw validationError(
      `${field}: must be a UUID with dashes, of version 1 to 8, or all zeros, or all f (got ${JSON.stringify(text.slice(0, 60))})`
    )
}

function assertBytes(field: string, text: string): void {
  const bytes = Buffer.byteLength(text, 'utf8')
  if (bytes > TEXT_BYTES_MAX)
    throw validationError(`${field}: must be at most ${TEXT_BYTES_MAX} bytes of UTF-8 (got ${bytes})`)
}
