// CreateQuantumTask: the checks that Braket makes before it accepts a task, and its idempotency.
import { Ajv } from 'ajv'
import { type Static, Type } from 'typebox'
import { sha256 } from './aws/canonical-request.js'
import { AwsError } from './aws/replies.js'
import type { Caller } from './aws/signature.js'
import type { Device } from './devices.js'
import type { BraketParts } from './parts.js'
import { readAction } from './programs.js'
import type { Task } from './task.js'

const body = Type.Object(
  {
    deviceArn: Type.String({ minLength: 1, maxLength: 256 }),
    shots: Type.Integer({ minimum: 0 }),
    outputS3Bucket: Type.String({ minLength: 3, maxLength: 63 }),
    outputS3KeyPrefix: Type.String({ minLength: 1, maxLength: 1024 }),
    action: Type.String({ minLength: 1 }),
    clientToken: Type.String({ minLength: 1, maxLength: 64 }),
    deviceParameters: Type.Optional(Type.String({ minLength: 1, maxLength: 48_000 })),
    tags: Type.Optional(Type.Record(Type.String(), Type.String())),
    experimentalCapabilities: Type.Optional(
      Type.Object({ enabled: Type.Union([Type.Literal('ALL'), Type.Literal('NONE')]) }, { additionalProperties: false })
    )
  },
  { additionalProperties: false }
)

const valid = new Ajv().compile<Static<typeof body>>(body)

const invalid = (message: string): AwsError => new AwsError('ValidationException', message)

/** @throws AwsError if Braket would refuse it. */
export function createTask(sent: unknown, caller: Caller, parts: BraketParts): Task {
  if (!valid(sent)) {
    const [error] = valid.errors!
    const field =
      error!.instancePath.slice(1) || String(error!.params.missingProperty ?? error!.params.additionalProperty)
    throw invalid(`${field}: ${error!.message}`)
  }
  const { tasks } = parts
  const hash = sha256(canonical(sent))
  const known = tasks.withToken(caller, sent.clientToken)
  if (known) {
    if (known.sent === hash) return known
    throw invalid('The clientToken was used before with other parameters.')
  }
  const device = parts.devices.get(sent.deviceArn)
  if (!device) throw new AwsError('ResourceNotFoundException', `The device ${sent.deviceArn} does not exist.`)
  assertTakesTasks(device, caller, parts)
  const [min, max] = device.shots
  if (sent.shots < min || sent.shots > max)
    throw invalid(`The number of shots must be from ${min} to ${max} for device ${device.arn} (got ${sent.shots}).`)
  if (sent.shots === 0) throw invalid('A task of 0 shots needs result types, which this emulator does not have.')
  assertBucket(sent.outputS3Bucket, caller, parts)
  const program = readAction(sent.action, device)
  const { experimentalCapabilities: _experimental, tags = {}, ...request } = sent
  const task = tasks.create(caller, { ...request, tags }, hash, device, program)
  if (!task)
    throw new AwsError('ServiceQuotaExceededException', 'This emulator is full: POST <control_url>/reset clears it.')
  return task
}

function assertTakesTasks(device: Device, { region }: Caller, { devices }: BraketParts): void {
  if (device.region !== null && device.region !== region)
    throw invalid(`The device ${device.arn} is not available in region ${region}.`)
  const status = devices.status(device)
  if (status === 'RETIRED') throw new AwsError('DeviceRetiredException', `The device ${device.arn} is retired.`)
  if (status === 'OFFLINE') throw new AwsError('DeviceOfflineException', `The device ${device.arn} is offline.`)
}

function assertBucket(bucket: string, caller: Caller, { objects }: BraketParts): void {
  try {
    objects.assertUsable(bucket, caller)
  } catch (error) {
    if (!(error instanceof AwsError)) throw error
    if (error.code === 'AccessDenied')
      throw new AwsError('AccessDeniedException', `The caller does not have access to the bucket ${bucket}.`)
    const region = error.headers['x-amz-bucket-region']
    throw invalid(
      region
        ? `The bucket ${bucket} is in region ${region}, not in ${caller.region}.`
        : `The bucket ${bucket} does not exist.`
    )
  }
}

/** The same text for the same content, whatever the order of its keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, one) =>
    one !== null && typeof one === 'object' && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)))
      : one
  )
