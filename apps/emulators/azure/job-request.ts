// PUT of a job: the checks that the service makes before it accepts one.
import { Ajv } from 'ajv'
import { Type } from 'typebox'
import type { Identity, Workspace } from './identity/identities.js'
import type { Job, JobRequest } from './job.js'
import type { AzureParts } from './parts.js'
import { readProgram } from './programs/read-program.js'
import { AzureError } from './replies.js'
import { assertSigned, fieldsOf, type Place } from './storage/sas.js'

const body = Type.Object(
  {
    id: Type.Optional(Type.String()),
    name: Type.String({ minLength: 1, maxLength: 256 }),
    providerId: Type.String({ minLength: 1 }),
    target: Type.String({ minLength: 1 }),
    itemType: Type.Optional(Type.Literal('Job')),
    jobType: Type.Optional(Type.Literal('QuantumComputing')),
    containerUri: Type.String({ minLength: 1, maxLength: 4096 }),
    inputDataUri: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    inputDataFormat: Type.String({ minLength: 1 }),
    outputDataFormat: Type.String({ minLength: 1 }),
    inputParams: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    metadata: Type.Optional(Type.Union([Type.Null(), Type.Record(Type.String(), Type.String())])),
    priority: Type.Optional(Type.Enum(['Standard', 'High'])),
    tags: Type.Optional(Type.Array(Type.String(), { maxItems: 100 }))
  },
  { additionalProperties: false }
)

const valid = new Ajv().compile<JobRequest>(body)

const invalid = (message: string): AzureError => new AzureError(400, 'InvalidJobDefinition', message)

export interface PutRequest {
  id: string
  workspace: Workspace
  caller: Identity
  sent: unknown
  /** http or https */
  protocol: string
}

/**
 * Accepts a job.
 * @returns whether it is new.
 * @throws AzureError if Azure would refuse it.
 */
export function putJob(request: PutRequest, parts: AzureParts): { job: Job; created: boolean } {
  const { id, workspace, sent } = request
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) throw invalid(`jobId: must be a GUID (got ${id})`)
  const known = parts.jobs.get(workspace, id)
  if (known) {
    if (parts.settings.repeatedPut === 'same') return { job: known, created: false }
    throw new AzureError(409, 'JobAlreadyExists', `A job with the id ${id} already exists.`)
  }
  if (!valid(sent)) {
    const [error] = valid.errors!
    const field =
      error!.instancePath.slice(1) || String(error!.params.missingProperty ?? error!.params.additionalProperty)
    throw invalid(`${field}: ${error!.message}`)
  }
  if (sent.id !== undefined && sent.id !== id) throw invalid(`id: must be that of the path (got ${sent.id})`)
  return { job: accept(sent, request, parts), created: true }
}

function accept(sent: JobRequest, { id, workspace, caller, protocol }: PutRequest, parts: AzureParts): Job {
  const { blobs, targets } = parts
  const target = targets.get(sent.target)
  if (!target || target.provider !== sent.providerId.toLowerCase() || targets.availability(target) === 'Retired')
    throw new AzureError(400, 'InvalidTarget', `The target ${sent.target} of ${sent.providerId} does not exist.`)
  const container = containerOf(sent.containerUri, workspace, protocol, parts)
  const input = inputOf(sent.inputDataUri, container)
  const program = readProgram(sent, target, input && blobs.get(input))
  const job = parts.jobs.create({
    id,
    workspace,
    caller,
    request: sent,
    target,
    program,
    input,
    output: { ...container, blob: container.container === `job-${id}` ? 'outputData' : `${id}/outputData` }
  })
  if (!job) throw new AzureError(429, 'TooManyRequests', 'This emulator is full: POST <control_url>/reset clears it.')
  return job
}

/** @throws AzureError unless the address is that of a container of the workspace's storage, with a signature to write. */
function containerOf(
  address: string,
  { storageAccount }: Workspace,
  protocol: string,
  { blobs, clock }: AzureParts
): Place & { blob: null } {
  const [place, query] = placeOf(address)
  if (!place || place.blob !== null || place.account !== storageAccount)
    throw invalid("containerUri: must be the address of a container in the workspace's storage")
  try {
    assertSigned(fieldsOf(query), place, 'w', { now: clock.now(), protocol })
  } catch (error) {
    if (!(error instanceof AzureError)) throw error
    const { message, details } = error
    throw invalid(`containerUri: its signature is not valid: ${details.AuthenticationErrorDetail ?? message}`)
  }
  if (!blobs.hasContainer(place.account, place.container)) throw invalid('containerUri: the container does not exist')
  return { ...place, blob: null }
}

/** Null for an address outside of the container: nothing is there for the job. */
function inputOf(address: string | undefined, container: Place): Place | null {
  if (address === undefined) return { ...container, blob: 'inputData' }
  const [place] = placeOf(address)
  return place?.account === container.account && place.container === container.container ? place : null
}

function placeOf(address: string): [place: Place | null, query: string] {
  if (!URL.canParse(address)) return [null, '']
  const { pathname, search } = new URL(address)
  const [, account = '', container = '', ...blob] = pathname.split('/').map(decodeURIComponent)
  const place = container === '' ? null : { account, container, blob: blob.join('/') || null }
  return [place, search.slice(1)]
}
