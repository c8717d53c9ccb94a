// The states of the service's parts, for probes of balancers. A part that hangs delays no probe: its last known state is
// reported, while the check continues.
import pTimeout from 'p-timeout'
import { type Static, Type } from 'typebox'
import { oneOf } from '../../../domain/json/one-of.js'
import { TargetRefusal } from '../../../services/dispatch/target-probe.js'
import type { ApiDeps } from '../deps.js'

export const serviceStates = ['ok', 'degraded', 'down'] as const
export type ServiceState = (typeof serviceStates)[number]

export const Part = Type.Object({
  state: oneOf(serviceStates),
  latency_ms: Type.Number({ minimum: 0 }),
  message: Type.Optional(
    Type.String({ description: 'What the part refuses, in its own words, or that its disk is full' })
  )
})
type Part = Static<typeof Part>

export const Parts = Type.Object({ database: Part, redis: Part, temporal: Part, executor: Part })
type Parts = Static<typeof Parts>

/** How long a part may take to answer. */
const PROBE_MS = 2_000
/** Probes need no credential: each part is asked at most this often, and requests in between share the answer. */
const PROBE_EVERY_MS = 1_000
/** How long a request waits for parts that are being asked. Probes of balancers wait for one second. */
const WAIT_MS = 400

/** @returns reads the states within half a second. */
export function createPartProbes(deps: Pick<ApiDeps, 'probes' | 'disk'>): () => Promise<Parts> {
  const [database, redis, temporal, executor] = [
    partProbe(() => deps.probes.database(), 'down'),
    partProbe(() => deps.probes.redis(), 'degraded'),
    partProbe(() => deps.probes.temporal(), 'degraded'),
    partProbe(() => deps.probes.executor(), 'degraded')
  ]
  return async () => {
    const [one, two, three, four] = await Promise.all([database(), redis(), temporal(), executor()])
    return { database: withDisk(one, deps.disk.problem()), redis: two, temporal: three, executor: four }
  }
}

function partProbe(ask: () => Promise<unknown>, failed: ServiceState): () => Promise<Part> {
  let known: Part | null = null
  let asking: Promise<void> | null = null
  let nextAt = 0
  return async () => {
    if (!asking && performance.now() >= nextAt) {
      nextAt = performance.now() + PROBE_EVERY_MS
      asking = answerOf(ask, failed).then((part) => {
        known = part
        asking = null
      })
    }
    if (asking) await pTimeout(asking, { milliseconds: WAIT_MS, fallback: () => {} })
    // Not known: it has not responded since the start of this process.
    return known ?? { state: failed, latency_ms: WAIT_MS }
  }
}

async function answerOf(ask: () => Promise<unknown>, failed: ServiceState): Promise<Part> {
  const started = performance.now()
  const failure: unknown = await pTimeout(
    ask().then(
      () => null,
      (error: unknown) => error ?? true
    ),
    { milliseconds: PROBE_MS, fallback: () => true }
  )
  return {
    state: failure === null ? 'ok' : failed,
    latency_ms: Math.round((performance.now() - started) * 10) / 10,
    // Other errors can name addresses, and probes are public.
    ...(failure instanceof TargetRefusal && { message: failure.message })
  }
}

/** On a full disk the database still answers reads, or has stopped; in both cases the disk is what to look at. */
const withDisk = (database: Part, problem: string | null): Part =>
  problem === null
    ? database
    : { ...database, state: database.state === 'ok' ? 'degraded' : database.state, message: problem }
