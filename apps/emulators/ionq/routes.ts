// The routes of IonQ's API v0.4 that the platform and users' tools call; backend-routes.ts has those of its machines.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isoTime } from '../clock.js'
import { backendRoutes } from './backend-routes.js'
import { type Refusal, readJob, refuse } from './job-schema.js'
import { aggregate, artifact, decimalMap, jobView, projectId } from './job-view.js'
import { finalStates, type Job, type JobState, type JobStore, priceOf } from './jobs.js'
import type { IonqParts } from './parts.js'
import { fail, invalid } from './replies.js'

/** The most jobs in a page, whatever the request. */
const pageMax = 25
const keyId = 'c4a1d0f6-7b32-4d8e-8f15-6e9b0a2c7d41'

export function ionqRoutes(app: FastifyInstance, parts: IonqParts): void {
  backendRoutes(app, parts)
  void app.register(async (scope) => {
    scope.addHook('onRequest', async (request, reply) => {
      if (request.headers.authorization === `apiKey ${parts.apiKey}`) return
      await fail(reply, 401, 'Invalid key provided. Put "apiKey " and the key into the Authorization header.')
    })
    scope.get('/whoami', async () => ({ key_id: keyId, key_name: 'Emulated key', project_id: projectId }))
    submitRoutes(scope, parts)
    readRoutes(scope, parts)
    changeRoutes(scope, parts)
  })
}

function submitRoutes(app: FastifyInstance, { store, devices, clock, queueMs }: IonqParts): void {
  app.post('/jobs', async (request, reply) => {
    const job = readJob(request.body)
    if ('refusal' in job) return invalid(reply, job.refusal, 'payload')
    const device = devices().get(job.backend)
    if (!device || device.status === 'retired') {
      const names = [...devices().values()].filter(({ status }) => status !== 'retired').map(({ name }) => name)
      return invalid(reply, refuse('backend', `it must be one of ${names.join(', ')}`).refusal, 'payload')
    }
    const mitigation = job.settings.error_mitigation as { debiasing?: boolean } | undefined
    if (mitigation?.debiasing && job.shots < 500)
      return invalid(reply, refuse('shots', 'debiasing needs at least 500').refusal, 'payload')
    const accepted = store.submit(job, device)
    if (!accepted) return fail(reply, 429, 'This emulator is full: POST <control_url>/reset clears it.')
    return reply.code(201).send({ id: accepted.id, status: 'submitted', session_id: null })
  })

  app.get<{ Querystring: Record<string, string> }>('/jobs/estimate', async ({ query }, reply) => {
    const device = devices().get(query.backend ?? '')
    if (!device) return invalid(reply, refuse('backend', 'it names no backend').refusal, 'query')
    const number = (key: string, otherwise: number) => (query[key] === undefined ? otherwise : Number(query[key]))
    const asked = {
      qubits: number('qubits', 25),
      shots: number('shots', 1000),
      '1q_gates': number('1q_gates', 0),
      '2q_gates': number('2q_gates', 0)
    }
    const wrong = Object.entries(asked).find(([, value]) => !Number.isSafeInteger(value) || value < 0)
    if (wrong) return invalid(reply, refuse(wrong[0], 'it must be a whole number').refusal, 'query')
    const cost = priceOf(device, asked.shots)
    return {
      estimate_context: {
        backend: device.name,
        type: query.type ?? 'ionq.circuit.v1',
        ...asked,
        error_mitigation: query.error_mitigation === 'true',
        organization: null,
        project: projectId
      },
      estimated_at: isoTime(clock.now()),
      estimated_unit: 'usd',
      // The emulator charges by shots, which a rate card cannot express, so the job's minimum is its price.
      rate_card: {
        id: 'emulated',
        rates: [{ sku: device.name, unit: 'gates', cost_1q_gate: 0, cost_2q_gate: 0, job_cost_minimum: cost }]
      },
      estimated_total_cost: cost,
      estimated_execution_time: 0,
      current_predicted_queue_time: queueMs()
    }
  })
}

function readRoutes(app: FastifyInstance, { store, clock }: IonqParts): void {
  app.get<{ Querystring: Record<string, string | string[]> }>('/jobs', async ({ query }, reply) => {
    const listed = listJobs(store, query)
    if ('refusal' in listed) return invalid(reply, listed.refusal, 'query')
    const now = clock.now()
    return { jobs: listed.jobs.map((job) => jobView(store, job, now)), next: listed.next }
  })
  onJob(app, 'GET', '/jobs/:id', store, (job) => jobView(store, job, clock.now()))
  onJob(app, 'GET', '/jobs/:id/cost', store, (job) => {
    const cost = store.cost(job)
    return {
      dry_run: job.request.dryRun,
      estimated_cost: { value: store.estimate(job), unit: 'usd' },
      ...(cost !== null && { cost: { value: cost, unit: 'usd' } })
    }
  })
  onJob(app, 'GET', '/jobs/:id/results/probabilities', store, (job, _request, reply) => {
    const result = store.result(job)
    return result ? decimalMap(result.probabilities) : fail(reply, 404, notReady)
  })
  onJob(app, 'GET', '/jobs/:id/results/probabilities/aggregated', store, (job, _request, reply) => {
    return aggregate(store, job) ?? fail(reply, 404, notReady)
  })
  onJob(app, 'GET', '/jobs/:id/artifacts/:artifact', store, (job, request, reply) => {
    const { artifact: id } = request.params as { artifact: string }
    return artifact(store, job, id) ?? fail(reply, 404, notReady)
  })
}

const notReady = 'The job has no such results, or none yet.'

function changeRoutes(app: FastifyInstance, { store }: IonqParts): void {
  onJob(app, 'PUT', '/jobs/:id/status/cancel', store, (job, _request, reply) => {
    if (store.cancel(job)) return { id: job.id, status: 'canceled' }
    return fail(reply, 409, `The job is ${store.state(job)} and cannot be canceled.`)
  })
  onJob(app, 'DELETE', '/jobs/:id', store, (job) => {
    store.delete(job)
    return { id: job.id, status: 'deleted' }
  })
  const several = (method: 'PUT' | 'DELETE', url: string, status: string, change: (job: Job) => void) =>
    app.route<{ Body: unknown }>({
      method,
      url,
      handler: async ({ body }, reply) => {
        const ids = (body as { ids?: unknown } | null)?.ids
        if (!Array.isArray(ids) || !ids.every((id) => typeof id === 'string'))
          return invalid(reply, refuse('ids', 'it must be a list of job ids').refusal, 'payload')
        const jobs = ids.map((id) => store.get(id))
        if (jobs.includes(null)) return fail(reply, 404, 'One of the jobs is not found.')
        for (const job of jobs) change(job!)
        return { ids, status }
      }
    })
  several('PUT', '/jobs/status/cancel', 'canceled', (job) => store.cancel(job))
  several('DELETE', '/jobs', 'deleted', (job) => store.delete(job))
}

function onJob(
  app: FastifyInstance,
  method: 'GET' | 'PUT' | 'DELETE',
  url: string,
  store: JobStore,
  answer: (job: Job, request: FastifyRequest, reply: FastifyReply) => unknown
): void {
  app.route({
    method,
    url,
    handler: async (request, reply) => {
      const job = store.get((request.params as { id: string }).id)
      return job ? answer(job, request, reply) : fail(reply, 404, 'Resource not found.')
    }
  })
}

const filters = ['ids', 'parent_job_id', 'status', 'target', 'session_id', 'submitter_id', 'limit', 'next']
const states: JobState[] = ['submitted', 'ready', 'started', ...finalStates]

function listJobs(
  store: JobStore,
  query: Record<string, string | string[]>
): { jobs: Job[]; next: string | null } | { refusal: Refusal } {
  const stray = Object.keys(query).find((key) => !filters.includes(key))
  if (stray !== undefined) return refuse(stray, 'it is not a filter')
  const one = (key: string) => [query[key] ?? []].flat()[0]
  const several = (key: string) => [query[key] ?? []].flat().flatMap((text) => text.split(','))
  const limit = Number(one('limit') ?? pageMax)
  if (!Number.isSafeInteger(limit) || limit < 1) return refuse('limit', 'it must be a whole number from 1')
  const status = one('status')
  if (status !== undefined && !(states as string[]).includes(status))
    return refuse('status', `it must be one of ${states.join(', ')}`)
  const [ids, targets, parent] = [several('ids'), several('target'), one('parent_job_id')]
  const found = store
    .list()
    .filter(
      (job) =>
        (ids.length === 0 || ids.includes(job.id)) &&
        (targets.length === 0 || targets.includes(job.device.name)) &&
        (parent === undefined || job.parentId === parent) &&
        one('session_id') === undefined &&
        (status === undefined || store.state(job) === status)
    )
  const next = one('next')
  const begin = next === undefined ? 0 : found.findIndex(({ id }) => id === next)
  if (begin < 0) return refuse('next', 'it is not the beginning of a page')
  const end = begin + Math.min(limit, pageMax)
  return { jobs: found.slice(begin, end), next: found[end]?.id ?? null }
}
