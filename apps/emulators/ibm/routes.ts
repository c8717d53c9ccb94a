// The routes of the emulated IBM Quantum API, all behind an access token and the CRN of an instance.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isoTime } from '../clock.js'
import { respond } from '../provider-server.js'
import { configurationView, defaultsView, deviceSummary, propertiesView, statusView } from './device-views.js'
import type { Device } from './devices.js'
import { codes, IbmError, refusalOf, unauthenticated } from './errors.js'
import { type Caller, owns } from './iam/accounts.js'
import { iamRoutes } from './iam/iam.js'
import type { Job } from './job.js'
import { flagOf, listJobs, type Query } from './job-list.js'
import { checkTags } from './job-schema.js'
import { jobView, metricsView } from './job-views.js'
import type { IbmParts } from './parts.js'
import { backendNotFound, createJob } from './submit.js'

interface Call {
  caller: Caller
  instance: string
  query: Query
  body: unknown
  id: string
  /** Whether the request names a version of the API. Without one, IBM answers some routes in an older form. */
  isVersioned: boolean
  reply: FastifyReply
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
type AddRoute = (method: Method, url: string, answer: (call: Call) => unknown) => void

export function ibmRoutes(app: FastifyInstance, parts: IbmParts): void {
  iamRoutes(app, parts)
  void app.register(async (scope) => {
    scope.setErrorHandler((error: Error, _request, reply) => {
      if (!(error instanceof IbmError)) throw error
      void respond(reply, refusalOf(error))
    })
    const add: AddRoute = (method, url, answer) =>
      scope.route({ method, url, handler: async (request, reply) => answer(callOf(request, reply, parts)) })
    jobRoutes(add, parts)
    deviceRoutes(add, parts)
    add('GET', '/instances/usage', ({ instance }) => usageOf(instance, parts))
  })
}

function callOf(request: FastifyRequest, reply: FastifyReply, parts: IbmParts): Call {
  const { headers } = request
  const caller = callerOf(headers.authorization ?? '', parts)
  const instance = headers['service-crn']
  if (typeof instance !== 'string' || instance === '')
    throw unauthenticated('The header Service-CRN must name an instance.')
  if (!owns(caller, instance))
    throw new IbmError(404, codes.notAuthorized, `Instance not found: ${instance.slice(0, 200)}.`, 'Verify the CRN.')
  return {
    caller,
    instance,
    query: request.query as Query,
    body: request.body,
    id: (request.params as { id?: string }).id ?? '',
    isVersioned: /^\d{4}-\d\d-\d\d$/.test(String(headers['ibm-api-version'] ?? '')),
    reply
  }
}

function callerOf(authorization: string, { keys, tokens }: IbmParts): Caller {
  const [scheme = '', secret = ''] = authorization.split(' ', 2)
  const caller = /^bearer$/i.test(scheme) ? tokens.read(secret) : /^apikey$/i.test(scheme) ? keys.active(secret) : null
  if (!caller) throw unauthenticated()
  return caller
}

function jobRoutes(add: AddRoute, parts: IbmParts): void {
  const { jobs } = parts
  add('POST', '/jobs', ({ body, caller, instance }) => {
    const { id, device, calibrationId } = createJob(body, caller, instance, parts)
    return { id, backend: device, calibration_id: calibrationId }
  })
  add('GET', '/jobs', ({ query, instance }) => listJobs(query, instance, parts))
  const onJob = (method: Method, url: string, answer: (job: Job, call: Call) => unknown) =>
    add(method, url, (call) => {
      const job = jobs.get(call.id, call.instance)
      if (!job)
        throw new IbmError(404, codes.jobNotFound, `Job not found. Job ID: ${call.id}`, 'Verify the job ID is correct.')
      return answer(job, call)
    })
  onJob('GET', '/jobs/:id', (job, { query }) => jobView(job, jobs, !flagOf(query, 'exclude_params')))
  onJob('GET', '/jobs/:id/results', (job, { reply }) => {
    const result = jobs.result(job)
    if (result === null) return reply.code(204).send()
    return reply.type('application/json; charset=utf-8').send(result)
  })
  onJob('GET', '/jobs/:id/metrics', (job) => metricsView(job, jobs))
  onJob('GET', '/jobs/:id/logs', (job, { reply }) =>
    reply.type('text/plain; charset=utf-8').send(jobs.isFinal(job) ? `${jobs.failure(job)?.reason ?? 'Done.'}\n` : '')
  )
  onJob('POST', '/jobs/:id/cancel', (job, { reply }) => {
    if (jobs.cancel(job)) return reply.code(204).send()
    throw new IbmError(409, codes.jobNotCancelled, `The job is ${jobs.course(job).state} and cannot be cancelled.`)
  })
  onJob('DELETE', '/jobs/:id', (job, { reply }) => {
    if (!jobs.isFinal(job))
      throw new IbmError(400, codes.jobStatusNotValid, 'Only a job that has ended can be deleted.', 'Cancel it first.')
    jobs.delete(job)
    return reply.code(204).send()
  })
  onJob('PUT', '/jobs/:id/tags', (job, { body, reply }) => {
    const { tags } = (body ?? {}) as { tags?: unknown }
    checkTags(tags)
    job.tags = tags
    return reply.code(204).send()
  })
}

function deviceRoutes(add: AddRoute, parts: IbmParts): void {
  const { devices, jobs } = parts
  add('GET', '/backends', ({ query, isVersioned }) => {
    const withWait = [query.fields ?? []].flat().some((text) => text.split(',').includes('wait_time_seconds'))
    const listed = devices.listed()
    return { devices: listed.map((device) => (isVersioned ? deviceSummary(device, parts, withWait) : device.name)) }
  })
  const onDevice = (view: string, answer: (device: Device) => unknown) =>
    add('GET', `/backends/:id/${view}`, ({ id, query }) => {
      const device = devices.get(id)
      if (!device || devices.status(device) === 'retired') throw backendNotFound(id)
      const { calibration_id: calibration = jobs.calibrationId(id) } = query
      if (calibration !== jobs.calibrationId(id))
        throw new IbmError(404, codes.backendNotFound, `This emulator has no data of calibration ${calibration}.`)
      return answer(device)
    })
  onDevice('configuration', configurationView)
  onDevice('properties', propertiesView)
  onDevice('status', (device) => statusView(device, parts))
  onDevice('defaults', () => defaultsView)
}

const usagePeriodMs = 28 * 24 * 3_600_000

function usageOf(instance: string, { clock, jobs, settings }: IbmParts): Record<string, unknown> {
  const now = clock.now()
  const used = jobs.usedSeconds(instance)
  const limit = settings.usageLimitSeconds
  return {
    instance_id: instance,
    plan_id: 'emulated',
    usage_period: { start_time: isoTime(now - usagePeriodMs), end_time: isoTime(now) },
    usage_consumed_seconds: used,
    ...(limit !== null && { usage_limit_seconds: limit, usage_remaining_seconds: Math.max(0, limit - used) }),
    usage_limit_reached: limit !== null && used >= limit
  }
}
