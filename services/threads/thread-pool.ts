// Work outside the event loop: a few threads of one program, a bounded line in which teams take turns, and a time limit for
// each piece of work. A thread that exceeds the limit is stopped, and another takes its place.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Piscina } from 'piscina'
import { ServiceError } from '../../domain/errors.js'
import { createTurnLine } from '../../domain/teams/turns.js'
import type { ThreadMessage, ThreadResponse, ThreadTask } from './thread-program.js'

export interface ThreadPool<Input, Output> {
  /**
   * @param team whose work it is.
   * @param input what a message can carry: a Buffer arrives as a Uint8Array.
   * @throws PoolBusy when too much work of the team waits; PoolTimeout after the limit; PoolMemory beyond the limit of memory;
   * what the program has thrown (a ServiceError as one); Error when the pool is closed before the work is done.
   */
  run(team: string, input: Input): Promise<Output>
  /** Stops the threads and rejects what waits. */
  close(): Promise<void>
}

export interface PoolLimits {
  threads?: number
  /** Pieces of a team's work that wait for a thread: fewer while much work of others waits. */
  waitingMax?: number
  /** For one piece, from its start in a thread. */
  limitMs?: number
  /** What the heap of one thread can hold, in MiB; a thread that needs more is stopped. Default: that of Node. */
  heapMib?: number
}

export class PoolBusy extends Error {}
export class PoolTimeout extends Error {}
export class PoolMemory extends Error {}

/** A thread without work is stopped after this time; starting one takes about a tenth of a second. */
const IDLE_MS = 60_000

/** Of the threads: the event loops of the service come first where processors are short, as before user programs. */
const NICE = 5

/**
 * @param program bundled by tools/build.mjs, such as `services/threads/judge-thread`.
 * @param what the work, for messages.
 */
export function startThreadPool<Input, Output>(
  program: string,
  what: string,
  { threads = 2, waitingMax = 100, limitMs = 60_000, heapMib }: PoolLimits
): ThreadPool<Input, Output> {
  const pool = new Piscina<ThreadTask<Input>, ThreadResponse<Output>>({
    filename: bundleOf(program),
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_MS,
    niceIncrement: NICE,
    ...(heapMib !== undefined && { resourceLimits: { maxOldGenerationSizeMb: heapMib } })
  })
  let closed = false
  let lastId = 0
  // The pool gets no more work than it has threads, so that the line decides what is next.
  const line = createTurnLine<{ begin(): void; refuse(): void }>()
  const letIn = () => {
    while (closed || line.inUse < threads) {
      const next = line.next()
      if (!next) return
      if (closed) next.work.refuse()
      else next.work.begin()
    }
  }
  const startLimit = new Map<number, () => void>()
  // Piscina limits the time from the request on. Work must not lose its time while it waits, so each program reports its
  // start.
  pool.on('message', ({ started }: ThreadMessage) => startLimit.get(started)?.())
  const closedError = () => new Error(`${what} has stopped`)

  return {
    async run(team, input) {
      if (closed) throw closedError()
      const id = ++lastId
      const owner = { team, job: String(id) }
      await new Promise<void>((begin, reject) => {
        // One team alone fills half of the line.
        if (line.inUse >= threads && !line.hasRoom(team, 2 * waitingMax))
          throw new PoolBusy(`too many wait for ${what}; try again later`)
        line.join(owner, { begin, refuse: () => reject(closedError()) })
        letIn()
      })
      const late = new AbortController()
      let limit: NodeJS.Timeout | undefined
      startLimit.set(id, () => {
        limit = setTimeout(() => late.abort(), limitMs)
      })
      const response = await pool
        .run({ id, input }, { signal: late.signal })
        .catch((error: NodeJS.ErrnoException) => {
          if (closed) throw closedError()
          if (late.signal.aborted) throw new PoolTimeout(`${what} took longer than ${limitMs / 1000} s and was stopped`)
          if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
            throw new PoolMemory(`${what} needed more than ${heapMib} MiB of memory and was stopped`)
          throw error
        })
        .finally(() => {
          startLimit.delete(id)
          clearTimeout(limit)
          line.leave(owner)
          letIn()
        })
      if ('output' in response) return response.output
      throw response.code ? new ServiceError(response.code, response.problem) : new Error(response.problem)
    },
    async close() {
      closed = true
      letIn()
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
