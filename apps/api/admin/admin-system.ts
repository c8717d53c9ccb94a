// How the platform fares, from what this process can see: its parts, the queues and who takes from them, what waits in the
// database, what the sweeps of the workers did last, how the providers are. Never an error: a part that does not answer in time says so in its own place.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import pTimeout from 'p-timeout'
import { backlog } from '../../../db/admin/administration-lists.js'
import { type ProviderState, providerStates } from '../../../db/backends/provider-workers.js'
import { loadSweeps } from '../../../db/service/sweeps.js'
import { reasonOf } from '../../../domain/operations/reason.js'
import { sweepView } from '../../../domain/operations/sweep.js'
import type { ApiDeps } from '../deps.js'
import { SERVICE_VERSION } from '../version.js'

const PROBE_MS = 2_000
const MESSAGE_MAX = 300

export const adminSystemRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  app.get(
    '/api/admin/system',
    {
      schema: {
        tags: ['administration'],
        summary: 'Parts, queues, workers, outbox, sweeps, providers and executor, as they are now'
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

async function probe<T>(ask: () => Promise<T>): Promise<Probed<T>> {
  const started = performance.now()
  const latency = () => ({ latency_ms: Math.round((performance.now() - started) * 10) / 10 })
  try {
    const value = await pTimeout(ask(), {
      milliseconds: PROBE_MS,
      message: `did not answer within ${PROBE_MS / 1000} s`
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
