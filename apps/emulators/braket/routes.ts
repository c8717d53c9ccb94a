// The routes of the emulated AWS: one port for Braket, S3 and STS, all behind the check of the signature.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { jsonReply, type ProviderReply } from '../provider.js'
import { AwsError, refusalOf, serviceOf, signatureError } from './aws/replies.js'
import { type Caller, checkSignature } from './aws/signature.js'
import { answerSts } from './aws/sts.js'
import { createTask } from './create-task.js'
import type { BraketParts } from './parts.js'
import { searchDevices, searchTasks } from './search.js'
import type { Task } from './task.js'
import { deviceView, taskView } from './task-views.js'

export function braketRoutes(app: FastifyInstance, parts: BraketParts): void {
  // The signature is over the bytes of a body, whatever its type.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.all('/*', async (request, reply) => {
    const { status, headers, body } = answer(request, parts)
    return reply.code(status).headers(headers).send(body)
  })
}

interface Sent {
  method: string
  path: string
  query: string
  body: Buffer
}

function answer(request: FastifyRequest, parts: BraketParts): ProviderReply {
  const { method, headers } = request
  const url = request.raw.url ?? '/'
  const [path = '/', query = ''] = url.split('?', 2)
  const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
  const line = { method, path }
  try {
    const service = serviceOf(line)
    const verdict = checkSignature({ method, url, headers, body }, service, parts.keys)
    if ('fault' in verdict) throw signatureError(verdict.fault, verdict.message, service)
    const { caller } = verdict
    if (service === 'sts') return answerSts(method, body, caller)
    if (service === 's3') return parts.objects.answer(method, path, headers, body, caller)
    return answerBraket({ method, path, query, body }, caller, parts)
  } catch (error) {
    if (error instanceof AwsError) return refusalOf(error, line)
    throw error
  }
}

function answerBraket({ method, path, query, body }: Sent, caller: Caller, parts: BraketParts): ProviderReply {
  const [, first = '', escapedArn, action, ...rest] = path.split('/')
  const route =
    rest.length > 0 ? '' : [method, first, ...(escapedArn ? ['{arn}'] : []), ...(action ? [action] : [])].join(' ')
  const arn = decoded(escapedArn ?? '')
  switch (route) {
    case 'POST quantum-task':
      return jsonReply(201, { quantumTaskArn: createTask(objectOf(body), caller, parts).arn })
    case 'POST quantum-tasks':
      return jsonReply(200, searchTasks(objectOf(body), caller, parts))
    case 'GET quantum-task {arn}': {
      const withQueue = new URLSearchParams(query).getAll('additionalAttributeNames').includes('QueueInfo')
      return jsonReply(200, taskView(taskOf(arn, caller, parts), parts, withQueue))
    }
    case 'PUT quantum-task {arn} cancel':
      return jsonReply(200, cancel(taskOf(arn, caller, parts), objectOf(body), parts))
    case 'POST devices':
      return jsonReply(200, searchDevices(objectOf(body), caller, parts))
    case 'GET device {arn}': {
      const device = parts.devices.get(arn)
      if (!device || (device.region !== null && device.region !== caller.region))
        throw new AwsError('ResourceNotFoundException', `The device ${arn} does not exist in ${caller.region}.`)
      return jsonReply(200, deviceView(device, parts))
    }
    default:
      throw new AwsError('UnknownOperationException', `This emulator does not know ${method} ${path}.`)
  }
}

function taskOf(arn: string, { account, region }: Caller, { tasks }: BraketParts): Task {
  const [, , service, arnRegion, arnAccount] = arn.split(':')
  if (service !== 'braket') throw new AwsError('ValidationException', `${arn} is not the ARN of a task.`)
  if (arnAccount !== account)
    throw new AwsError('AccessDeniedException', `The caller of account ${account} does not have access to ${arn}.`)
  const task = arnRegion === region ? tasks.get(arn) : null
  if (!task) throw new AwsError('ResourceNotFoundException', `The task ${arn} does not exist in ${region}.`)
  return task
}

function cancel(task: Task, { clientToken }: Record<string, unknown>, { tasks }: BraketParts): Record<string, unknown> {
  if (typeof clientToken !== 'string' || clientToken.length < 1 || clientToken.length > 64)
    throw new AwsError('ValidationException', 'clientToken: must be a text of 1 to 64 characters')
  if (!tasks.cancel(task))
    throw new AwsError('ConflictException', `The task is ${tasks.course(task).state} and cannot be cancelled.`)
  const { state } = tasks.course(task)
  return { quantumTaskArn: task.arn, cancellationStatus: state === 'CANCELLED' ? 'CANCELLED' : 'CANCELLING' }
}

function objectOf(body: Buffer): Record<string, unknown> {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString('utf8'))
  } catch {
    throw new AwsError('ValidationException', 'The body is not valid JSON.')
  }
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed))
    throw new AwsError('ValidationException', 'The body is not a JSON object.')
  return parsed as Record<string, unknown>
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new AwsError('ValidationException', 'The path cannot be decoded.')
  }
}
