// A file as the body of a request: the body itself, or the part `file` of a multipart form. It is read whole, up to the limit
// of its route. A form can also name the team.
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError, validationError } from '../../../../domain/errors.js'
import { digestOf } from '../../http/idempotency.js'

export interface FileBody {
  bytes: Buffer
  /** The team that a form names; `null` otherwise. */
  teamId: string | null
}

export interface FileRoute {
  /** Media types of the file as the body itself. */
  types: readonly string[]
  bytesMax: number
  /** Names the file in messages: `a package (.capsule or RO-Crate zip)`. */
  what: string
}

/** Allowance for the form around the file. */
const FORM_BYTES_MAX = 64 * 1024

/** Makes the routes of one scope read bodies of these kinds only. */
export async function takeFiles(scope: FastifyInstance, { types, bytesMax, what }: FileRoute): Promise<void> {
  scope.removeContentTypeParser('application/json')
  scope.addContentTypeParser(
    [...types],
    { parseAs: 'buffer', bodyLimit: bytesMax },
    async (request: FastifyRequest, body: Buffer) => {
      if (request.keyed) request.keyed.bodySha256 = digestOf(body)
      return body
    }
  )
  scope.addContentTypeParser('*', (_request, _body, done) =>
    done(
      new ServiceError(
        'unsupported_media_type',
        `Content-Type: must be ${types.join(', ')}, or multipart/form-data with ${what} as its part "file"`
      )
    )
  )
  await scope.register(multipart, {
    limits: { files: 1, fields: 1, parts: 2, fileSize: bytesMax, fieldSize: 100, fieldNameSize: 100, headerPairs: 20 }
  })
}

/** @throws ServiceError `validation_error`, `payload_too_large`. */
export async function readFile(request: FastifyRequest, route: FileRoute): Promise<FileBody> {
  const body = request.isMultipart() ? await readForm(request, route) : wholeBody(request.body)
  if (body && body.bytes.length > 0) return body
  throw validationError(`body: is empty; send ${route.what}`)
}

const wholeBody = (body: unknown): FileBody | null => (Buffer.isBuffer(body) ? { bytes: body, teamId: null } : null)

async function readForm(request: FastifyRequest, { bytesMax, what }: FileRoute): Promise<FileBody | null> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax + FORM_BYTES_MAX) throw tooLarge(bytesMax)
  let file: Buffer | null = null
  let teamId: string | null = null
  const parts: string[] = []
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') {
        // Read even if it is refused, because the rest of the form follows it.
        const bytes = await part.toBuffer()
        if (part.fieldname !== 'file') throw notTaken(part.fieldname, what)
        file = bytes
        parts.push(JSON.stringify(['file', part.filename, digestOf(bytes)]))
      } else {
        const value = String(part.value)
        if (part.fieldname === 'file')
          throw validationError(`file: has no filename, so it is text; send ${what} as a file`)
        if (part.fieldname !== 'team_id') throw notTaken(part.fieldname, what)
        if (!uuid.test(value)) throw validationError('team_id: must be a valid uuid')
        teamId = value
        parts.push(JSON.stringify(['team_id', digestOf(value)]))
      }
    }
  } catch (error) {
    throw faultOf(error, bytesMax)
  }
  // The digest is of the parts, since their boundary differs each time.
  if (request.keyed) request.keyed.bodySha256 = digestOf(parts.join('\n'))
  if (!file) throw validationError(`file: is required: the part that is ${what}`)
  return { bytes: file, teamId }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

const notTaken = (name: string, what: string) =>
  validationError(
    `${JSON.stringify(name.slice(0, 100))}: is not a part of this form; send ${what} as "file", and optionally "team_id"`
  )

const tooLarge = (bytesMax: number) =>
  new ServiceError('payload_too_large', `file: must have at most ${bytesMax / 1024} KiB`)

/** Translates what the reader of forms throws, mostly without a status. */
function faultOf(error: unknown, bytesMax: number): unknown {
  if (error instanceof ServiceError) return error
  const { code } = error as { code?: string }
  if (code === 'FST_REQ_FILE_TOO_LARGE') return tooLarge(bytesMax)
  if (code === 'FST_FILES_LIMIT' || code === 'FST_FIELDS_LIMIT' || code === 'FST_PARTS_LIMIT')
    return validationError('body: a form can hold one "file" and one "team_id"; this one holds more')
  return validationError(`body: is not a readable form (${(error as Error).message})`, error)
}
