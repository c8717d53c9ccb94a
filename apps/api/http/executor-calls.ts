// Calls of the executor for somebody who waits for the answer: bounded in time and in number, and ended when the caller
// hangs up. Whatever keeps the executor from answering becomes an error of the catalogue here.
import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../../domain/errors.js'
import type { ExecutorClient } from '../../../services/executor/client.js'
import type { Away } from '../../../services/executor/stream.js'

/** The specification's response timeout of a worker. */
const DEADLINE_MS = 90_000
/** More would let one user's browser tabs keep others from an answer. */
const playgroundRuns = { what: 'playground runs', inFlightMax: 2 }
/** What runs at the shutdown may end within this time. */
const SHUTDOWN_GRACE_MS = 3_000

/** Ends that say nothing about the caller's program. */
type NoAnswer = { kind: 'busy'; retryAfterSeconds: number } | Away | { kind: 'lost'; message: string }

export interface InteractiveRuns {
  /** @throws ServiceError `worker_not_configured`. */
  assertConfigured(): void
  /**
   * @param call is given the executor and a signal that ends the run.
   * @returns `null` when the caller has hung up: there is nobody to answer.
   * @throws ServiceError `rate_limited` with the seconds to wait, `worker_unreachable`, `worker_not_configured`.
   */
  ask<End extends { kind: string }>(
    request: FastifyRequest,
    userId: string,
    call: (executor: ExecutorClient, signal: AbortSignal) => Promise<End>
  ): Promise<Exclude<End, NoAnswer> | null>
  /** Ends what is still running after a short grace. */
  close(): void
}

/** @param runs what they are, and how many of one user may be under way. */
export function createInteractiveRuns(
  executor: ExecutorClient | null,
  deadlineMs = DEADLINE_MS,
  { what, inFlightMax } = playgroundRuns
): InteractiveRuns {
  /** What is under way, by user. */
  const underWay = new Map<string, Set<AbortController>>()

  function enter(userId: string): AbortController {
    const mine = underWay.get(userId) ?? new Set()
    if (mine.size >= inFlightMax) throw busy(`${inFlightMax} ${what} of yours are under way, the most at a time`, 1)
    const stop = new AbortController()
    underWay.set(userId, mine.add(stop))
    return stop
  }

  function leave(userId: string, stop: AbortController): void {
    const mine = underWay.get(userId)
    mine?.delete(stop)
    if (mine?.size === 0) underWay.delete(userId)
  }

  function configured(): ExecutorClient {
    if (!executor)
      throw new ServiceError(
        'worker_not_configured',
        'No execution service is configured here: EXECUTOR_URL is not set'
      )
    return executor
  }

  return {
    assertConfigured: () => void configured(),

    async ask(request, userId, call) {
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
        if (!isNoAnswer(end)) return end as Exclude<typeof end, NoAnswer>
        // The reason is an address or the state of a socket: for the log alone.
        if (end.kind !== 'busy') request.log.warn({ end: end.kind, reason: end.message }, 'no answer of the executor')
        throw refusal(end)
      } catch (error) {
        if (gone) return null
        throw stop.signal.aborted ? stop.signal.reason : error
      } finally {
        clearTimeout(late)
        // The socket may live on and carry more requests.
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

const isNoAnswer = (end: { kind: string }): end is NoAnswer => ['busy', 'away', 'lost'].includes(end.kind)

function refusal(end: NoAnswer): ServiceError {
  if (end.kind === 'busy') return busy('The execution service has no place for another run', end.retryAfterSeconds)
  if (end.kind === 'away' && end.unfit)
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
