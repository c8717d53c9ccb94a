// Work outside the event loop: a few threads of one program, a bounded queue, and a time limit for each piece of work. A
// thread that exceeds the limit is stopped, and another takes its place.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Piscina } from 'piscina'
import { ServiceError } from '../../domain/errors.js'
import type { ThreadMessage, ThreadResponse, ThreadTask } from './thread-program.js'

export interface ThreadPool<Input, Output> {
  /**
   * @param input what a message can carry: a Buffer arrives as a Uint8Array.
   * @throws PoolBusy when too many wait; PoolTimeout after the limit; what the program has thrown (a ServiceError as one);
   * Error when the pool is closed before the work is done.
   */
  run(input: Input): Promise<Output>
  /** Stops the threads and rejects what waits. */
  close(): Promise<void>
}

export interface PoolLimits {
  threads?: number
  /** Pieces of work that wait for a thread. */
  waitingMax?: number
  /** For one piece, from its start in a thread. */
  limitMs?: number
}

export class PoolBusy extends Error {}
export class PoolTimeout extends Error {}

/** A thread without work is stopped after this time; starting one takes about a tenth of a second. */
const IDLE_MS = 60_000

/**
 * @param program bundled by tools/build.mjs, such as `services/threads/judge-thread`.
 * @param what the work, for messages.
 */
export function startThreadPool<Input, Output>(
  program: string,
  what: string,
  { threads = 2, waitingMax = 1000, limitMs = 60_000 }: PoolLimits
): ThreadPool<Input, Output> {
  const pool = new Piscina<ThreadTask<Input>, ThreadResponse<Output>>({
    filename: bundleOf(program),
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_MS
  })
  let closed = false
  let lastId = 0
  const startLimit = new Map<number, () => void>()
  // Piscina limits the time from the request on. Work must not lose its time while it waits, so each program reports its
  // start.
  pool.on('message', ({ started }: ThreadMessage) => startLimit.get(started)?.())
  const closedError = () => new Error(`${what} has ended`)

  return {
    async run(input) {
      if (closed) throw closedError()
      if (startLimit.size >= threads + waitingMax) throw new PoolBusy(`${waitingMax} wait for ${what}; try again later`)
      const id = ++lastId
      const late = new AbortController()
      let limit: NodeJS.Timeout | undefined
      startLimit.set(id, () => {
        limit = setTimeout(() => late.abort(), limitMs)
      })
      const response = await pool
        .run({ id, input }, { signal: late.signal })
        .catch((error: Error) => {
          if (closed) throw closedError()
          if (late.signal.aborted) throw new PoolTimeout(`${what} took longer than ${limitMs / 1000} s and was ended`)
          throw error
        })
        .finally(() => {
          startLimit.delete(id)
          clearTimeout(limit)
        })
      if ('output' in response) return response.output
      throw response.code ? new ServiceError(response.code, response.problem) : new Error(response.problem)
    },
    async close() {
      closed = true
      await pool.destroy()
    }
  }
}

/** Whether this runs from its source or from a bundle. */
function bundleOf(program: string): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const file = join(folder, `dist/${program}.js`)
    if (existsSync(file)) return file
    if (dirname(folder) === folder) throw new Error(`dist/${program}.js is missing; run npm run build`)
  }
}
