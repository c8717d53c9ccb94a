// Calls to the executor while a client waits for the result: limited in time and number, and stopped when the client
// disconnects. Every failure of the executor becomes an error of the catalogue here.
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../../domain/errors.js'
import type { InteractiveExecutor } from '../../../services/executor/routed-client.js'
import type { Away, Busy } from '../../../services/executor/stream.js'

/** The specification's response time-out of a worker. */
const DEADLINE_MS = 90_000
/** With more, one user's browser tabs could delay other users. */
const playgroundRuns = { what: 'playground runs', inFlightMax: 2 }
/** Runs in progress can finish within this time at shutdown. */
const SHUTDOWN_GRACE_MS = 3_000

/** Outcomes that are not about the caller's program. */
type NoResult = Busy | Away | { kind: 'lost'; message: string }

export interface InteractiveRuns {
  /** @throws ServiceError `worker_not_configured`. */
  assertConfigured(): void
  /**
   * @param call is given the executor and a signal that ends the run.
   * @returns `null` when the client has disconnected.
   * @throws ServiceError `rate_limited` with the seconds to wait, `worker_unreachable`, `worker_not_configured`.
   */
  run<End extends { kind: string }>(
    request: FastifyRequest,
    userId: string,
    call: (executor: InteractiveExecutor, signal: AbortSignal) => Promise<End>
  ): Promise<Exclude<End, NoResult> | null>
  /** Stops runs that are still in progress after a short grace period. */
  close(): void
}

/** @param runs their name in messages, and how many of one user can be in progress. */
export function createInteractiveRuns(
  executor: InteractiveExecutor | null,
  deadlineMs = DEADLINE_MS,
  { what, inFlightMax } = playgroundRuns
): InteractiveRuns {
  /** Runs in progress, by user. */
  const underWay = new Map<string, Set<AbortController>>()

  function enter(userId: string): AbortController {
    const mine = underWay.get(userId) ?? new Set()
    if (mine.size >= inFlightMax) throw busy(`${inFlightMax} ${what} of yours are in progress, the most at a time`, 1)
    const stop = new AbortController()
    underWay.set(userId, mine.add(stop))
    return stop
  }

  function leave(userId: string, stop: AbortController): void {
    const mine = underWay.get(userId)
    mine?.delete(stop)
    if (mine?.size === 0) underWay.delete(userId)
  }

  function configured(): InteractiveExecutor {
    if (!executor)
      throw new ServiceError(
        'worker_not_configured',
        'No execution service is configured here: EXECUTOR_URL is not set'
      )
    return executor
  }

  return {
    assertConfigured: () => void configured(),

    async run(request, userId, call) {
      const service = configured()
      const { socket } = request.raw
      if (socket.destroyed) return null
      const stop = enter(userId)
      let gone = false
      const hangUp = () => {
        gone = true
        stop.abort()
      }
      const late = setTimeout(
        () => stop.abort(unreachable(`no answer within ${deadlineMs / 1000} seconds`)),
        deadlineMs
      )
      socket.once('close', hangUp)
      try {
        const end = await call(service, stop.signal)
        if (!isNoResult(end)) return end as Exclude<typeof end, NoResult>
        // The reason is an address or the state of a socket, so it goes to the log only.
        if (end.kind !== 'busy') request.log.warn({ end: end.kind, reason: end.message }, 'the executor gave no result')
        throw refusal(end)
      } catch (error) {
        if (gone) return null
        throw stop.signal.aborted ? stop.signal.reason : error
      } finally {
        clearTimeout(late)
        // The socket may stay open for more requests.
        socket.off('close', hangUp)
        leave(userId, stop)
      }
    },

    close() {
      const end = () => {
        for (const stop of [...underWay.values()].flatMap((mine) => [...mine]))
          stop.abort(unreachable('this service is shutting down'))
      }
      setTimeout(end, SHUTDOWN_GRACE_MS).unref()
    }
  }
}

const isNoResult = (end: { kind: string }): end is NoResult => ['busy', 'away', 'lost'].includes(end.kind)

function refusal(end: NoResult): ServiceError {
  if (end.kind === 'busy') return busy('The execution service has no place for another run', end.retryAfterSeconds)
  if (end.kind === 'away' && end.why === 'unfit')
    return new ServiceError(
      'worker_not_configured',
      'The execution service runs no code: it found no isolation that is good enough. Its /health says why'
    )
  return unreachable(end.kind === 'lost' ? 'it went away during the run' : 'it is down or not ready')
}

const busy = (what: string, retryAfterSeconds: number) =>
  new ServiceError(
    'rate_limited',
    `${what}. Try again in ${retryAfterSeconds} second${retryAfterSeconds === 1 ? '' : 's'}.`,
    { retryAfterSeconds }
  )

const unreachable = (why: string) =>
  new ServiceError('worker_unreachable', `The execution service could not be reached: ${why}. Try again later.`)
