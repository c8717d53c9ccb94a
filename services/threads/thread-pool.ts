// Work off the event loop: a few threads of one program, a queue with a bound, and a limit for each piece of work. A thread
// that takes too long is ended; another takes its place.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { ServiceError } from '../../domain/errors.js'
import type { ThreadResponse } from './thread-program.js'

export interface ThreadPool<Input, Output> {
  /**
   * @param input what a message can carry: a Buffer arrives as a Uint8Array.
   * @throws PoolBusy when too many wait, PoolTimeout after the limit; else what the program has thrown (a ServiceError as one),
   * or an Error when the pool is closed meanwhile.
   */
  run(input: Input): Promise<Output>
  /** Ends the threads; what waits is refused. */
  close(): Promise<void>
}

export interface PoolLimits {
  threads?: number
  /** Pieces of work that wait for a thread. */
  waitingMax?: number
  /** Of one piece, once it has a thread. */
  limitMs?: number
}

export class PoolBusy extends Error {}
export class PoolTimeout extends Error {}

interface Turn<Input, Output> {
  input: Input
  done(output: Output): void
  failed(error: Error): void
}

interface Thread<Input, Output> {
  worker: Worker
  turn: Turn<Input, Output> | null
  limit: NodeJS.Timeout | null
}

/** @param program bundled by tools/build.mjs, such as `services/threads/judge-thread`; `what`: the work, as messages name it. */
export function startThreadPool<Input, Output>(
  program: string,
  what: string,
  { threads: threadsMax = 2, waitingMax = 1000, limitMs = 60_000 }: PoolLimits
): ThreadPool<Input, Output> {
  const file = bundleOf(program)
  const threads = new Set<Thread<Input, Output>>()
  const waiting: Turn<Input, Output>[] = []
  let closed = false
  const ended = () => new Error(`${what} has ended`)

  function start(): Thread<Input, Output> {
    const thread: Thread<Input, Output> = { worker: new Worker(file), turn: null, limit: null }
    // A thread that waits for work keeps no process alive.
    thread.worker.unref()
    thread.worker.on('message', (answer: ThreadResponse<Output>) => {
      const turn = release(thread)
      if ('output' in answer) turn?.done(answer.output)
      else turn?.failed(answer.code ? new ServiceError(answer.code, answer.problem) : new Error(answer.problem))
      next()
    })
    thread.worker.on('error', (error) => lost(thread, error instanceof Error ? error : new Error(String(error))))
    thread.worker.on('exit', (code) => lost(thread, new Error(`the thread of ${what} ended with code ${code}`)))
    threads.add(thread)
    return thread
  }

  function release(thread: Thread<Input, Output>): Turn<Input, Output> | null {
    const { turn } = thread
    if (thread.limit) clearTimeout(thread.limit)
    thread.turn = thread.limit = null
    thread.worker.unref()
    return turn
  }

  function lost(thread: Thread<Input, Output>, error: Error): void {
    threads.delete(thread)
    release(thread)?.failed(error)
    next()
  }

  function next(): void {
    if (closed || waiting.length === 0) return
    const idle = [...threads].find(({ turn }) => turn === null)
    if (!idle && threads.size >= threadsMax) return
    const thread = idle ?? start()
    const turn = waiting.shift()!
    thread.turn = turn
    thread.worker.ref()
    thread.limit = setTimeout(() => {
      threads.delete(thread)
      release(thread)
      void thread.worker.terminate()
      turn.failed(new PoolTimeout(`${what} took longer than ${limitMs / 1000} s and was ended`))
      next()
    }, limitMs)
    thread.worker.postMessage(turn.input)
  }

  return {
    run(input) {
      if (closed) return Promise.reject(ended())
      if (waiting.length >= waitingMax)
        return Promise.reject(new PoolBusy(`${waitingMax} wait for ${what}; try again later`))
      return new Promise((done, failed) => {
        waiting.push({ input, done, failed })
        next()
      })
    },
    async close() {
      closed = true
      for (const turn of waiting.splice(0)) turn.failed(ended())
      const running = [...threads]
      for (const thread of running) release(thread)?.failed(ended())
      await Promise.all(running.map(({ worker }) => worker.terminate()))
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
