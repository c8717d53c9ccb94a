// The state of the platform as this process sees it: parts, queues and their workers, the backlog in the database, sweeps and
// providers. The route never fails: a part that does not respond in time is shown as failing.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import pTimeout from 'p-timeout'
import { type TSchema, Type } from 'typebox'
import { backlog } from '../../../db/admin/administration-lists.js'
import { type ProviderState, providerStates } from '../../../db/backends/provider-workers.js'
import { loadSweeps } from '../../../db/service/sweeps.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { reasonOf } from '../../../domain/operations/reason.js'
import { sweepView } from '../../../domain/operations/sweep.js'
import type { ApiDeps } from '../deps.js'
import { anything, count, json, nullable, text, time } from '../http/response.js'
import { SERVICE_VERSION } from '../version.js'
import { SweepPass } from './sweep-view.js'

const probeStates = ['ok', 'failing'] as const

/** A part that could not be read gives its reason in place of its figures. */
const probed = <Figures extends Record<string, TSchema>>(figures: Figures) =>
  Type.Object({
    state: oneOf(probeStates),
    message: Type.Optional(text),
    ...Type.Partial(Type.Object(figures)).properties
  })

const Part = probed({ latency_ms: Type.Number({ minimum: 0 }) })

const System = Type.Object(
  {
    at: time,
    version: text,
    parts: Type.Object({ database: Part, redis: Part, temporal: Part, executor: Part }),
    queues: Type.Object({
      direct: probed({ waiting: count, active: count, delayed: count }),
      temporal: probed({ workflow_tasks: count, activity_tasks: count })
    }),
    workers: Type.Object({
      direct: probed({ count }),
      temporal: probed({
        pollers: Type.Array(Type.Object({ identity: text, last_seen_at: nullable(time) }))
      })
    }),
    jobs: probed({ pending: count, running: count, cancelling: count }),
    outbox: probed({ rows: count, held: count, due: count, unreachable: count, oldest_seconds: nullable(count) }),
    providers: Type.Object(
      { state: oneOf(probeStates), message: Type.Optional(text) },
      {
        additionalProperties: Type.Object({
          worker_seen_at: nullable(time),
          asked_at: nullable(time),
          backends: count,
          online: count
        })
      }
    ),
    sweeps: Type.Object(
      { state: oneOf(probeStates), message: Type.Optional(text) },
      { additionalProperties: SweepPass }
    ),
    executor: probed({ sandbox: anything, slots: anything, engines: Type.Array(anything) })
  },
  { $id: 'System' }
)

const PROBE_MS = 2_000
const MESSAGE_MAX = 300

export const adminSystemRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  app.get(
    '/api/admin/system',
    {
      schema: {
        tags: ['administration'],
        summary: 'Parts, queues, workers, outbox, sweeps, providers and executor, as they are now',
        response: { 200: json('The state of the platform', System) }
      }
    },
    async () => {
      const { probes, engines, executor } = deps
      const [database, redis, temporal, fitness, direct, taskQueue, waiting, sweeps, providers, health] =
        await Promise.all([
          probe(probes.database),
          probe(probes.redis),
          probe(probes.temporal),
          probe(probes.executor),
          probe(engines.directQueue),
          probe(engines.taskQueue),
          probe(() => backlog(deps.db)),
          probe(() => loadSweeps(deps.db)),
          probe(() => providerStates(deps.db)),
          probe(async () => (executor ? executor.health() : Promise.reject(new Error('EXECUTOR_URL is not set'))))
        ])
      return {
        at: deps.now().toISOString(),
        version: SERVICE_VERSION,
        parts: {
          database: stateOf(database),
          redis: stateOf(redis),
          temporal: stateOf(temporal),
          executor: stateOf(fitness)
        },
        queues: {
          direct: shown(direct, ({ workers: _, ...counts }) => counts),
          temporal: shown(taskQueue, ({ workflowTasks, activityTasks }) => ({
            workflow_tasks: workflowTasks,
            activity_tasks: activityTasks
          }))
        },
        workers: {
          direct: shown(direct, ({ workers }) => ({ count: workers })),
          temporal: shown(taskQueue, ({ pollers }) => ({
            pollers: pollers.map(({ identity, lastSeenAt }) => ({
              identity,
              last_seen_at: lastSeenAt?.toISOString() ?? null
            }))
          }))
        },
        jobs: shown(waiting, ({ jobs }) => jobs),
        outbox: shown(waiting, ({ outbox: { oldestSeconds, ...counts } }) => ({
          ...counts,
          oldest_seconds: oldestSeconds
        })),
        sweeps: shown(sweeps, (all) => Object.fromEntries(all.map((sweep) => [sweep.name, sweepView(sweep)]))),
        providers: shown(providers, (all) => Object.fromEntries(all.map((one) => [one.provider, providerView(one)]))),
        executor: shown(health, ({ sandbox, slots, engines }) => ({ sandbox, slots, engines }))
      }
    }
  )
}

const providerView = ({ workerSeenAt, askedAt, backends, online }: ProviderState) => ({
  worker_seen_at: workerSeenAt?.toISOString() ?? null,
  asked_at: askedAt?.toISOString() ?? null,
  backends,
  online
})

type Probed<T> = { latency_ms: number } & ({ state: 'ok'; value: T } | { state: 'failing'; message: string })

async function probe<T>(read: () => Promise<T>): Promise<Probed<T>> {
  const started = performance.now()
  const latency = () => ({ latency_ms: Math.round((performance.now() - started) * 10) / 10 })
  try {
    const value = await pTimeout(read(), {
      milliseconds: PROBE_MS,
      message: `did not respond within ${PROBE_MS / 1000} s`
    })
    return { state: 'ok', ...latency(), value }
  } catch (error) {
    return { state: 'failing', ...latency(), message: reasonOf(error).slice(0, MESSAGE_MAX) }
  }
}

function stateOf(probed: Probed<unknown>) {
  const { state, latency_ms } = probed
  return probed.state === 'ok' ? { state, latency_ms } : { state, latency_ms, message: probed.message }
}

const shown = <T, Shown extends object>(probed: Probed<T>, view: (value: T) => Shown) =>
  probed.state === 'ok'
    ? { state: probed.state, ...view(probed.value) }
    : { state: probed.state, message: probed.message }
