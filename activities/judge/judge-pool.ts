// Verifications off the event loop: a few threads, a queue with a bound, and a limit for each. A thread that takes too long is
// ended; another takes its place.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { judge } from '../../domain/verification/judge.js'
import type { Verification } from '../../domain/verification/report.js'
import type { JudgeInput } from './verify.js'

export interface JudgePool {
  /**
   * @throws JudgeBusy when too many wait: try again later. @throws Error when a result cannot be read, or when the pool is
   * closed meanwhile. What takes longer than the limit is `not_testable`, and says so.
   */
  judgeOffLoop(input: JudgeInput): Promise<Verification>
  /** Ends the threads; what waits is refused. */
  close(): Promise<void>
}

export interface JudgeLimits {
  threads?: number
  /** Verifications that wait for a thread. */
  waitingMax?: number
  /** Of one verification, once it has a thread. */
  limitMs?: number
}

export class JudgeBusy extends Error {}

interface Turn {
  input: JudgeInput
  done(verification: Verification): void
  failed(error: Error): void
}

interface Thread {
  worker: Worker
  turn: Turn | null
  limit: NodeJS.Timeout | null
}

type Answer = { verification: Verification } | { problem: string }

/** Enough for 1,000 circuits of a few outcomes, or for some hundred of many. */
const LIMIT_MS = 60_000

export function startJudgePool({
  threads: threadsMax = 2,
  waitingMax = 1000,
  limitMs = LIMIT_MS
}: JudgeLimits = {}): JudgePool {
  const file = threadFile()
  const threads = new Set<Thread>()
  const waiting: Turn[] = []
  let closed = false

  function start(): Thread {
    const thread: Thread = { worker: new Worker(file), turn: null, limit: null }
    // A thread that waits for work keeps no process alive.
    thread.worker.unref()
    thread.worker.on('message', (answer: Answer) => {
      const turn = release(thread)
      if ('verification' in answer) turn?.done(answer.verification)
      else turn?.failed(new Error(answer.problem))
      next()
    })
    thread.worker.on('error', (error) => lost(thread, error))
    thread.worker.on('exit', (code) => lost(thread, new Error(`the judging thread ended with code ${code}`)))
    threads.add(thread)
    return thread
  }

  function release(thread: Thread): Turn | null {
    const { turn } = thread
    if (thread.limit) clearTimeout(thread.limit)
    thread.turn = thread.limit = null
    thread.worker.unref()
    return turn
  }

  function lost(thread: Thread, error: Error): void {
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
      turn.done(tooLong(turn.input, limitMs))
      next()
    }, limitMs)
    thread.worker.postMessage(turn.input)
  }

  return {
    judgeOffLoop(input) {
      if (closed) return Promise.reject(new Error('judging has ended'))
      if (waiting.length >= waitingMax)
        return Promise.reject(new JudgeBusy(`${waitingMax} verifications wait to be judged; try again later`))
      return new Promise((done, failed) => {
        waiting.push({ input, done, failed })
        next()
      })
    },
    async close() {
      closed = true
      const ended = new Error('judging has ended')
      for (const turn of waiting.splice(0)) turn.failed(ended)
      const running = [...threads]
      for (const thread of running) release(thread)?.failed(ended)
      await Promise.all(running.map(({ worker }) => worker.terminate()))
    }
  }
}

const tooLong = ({ tasks, ...settings }: JudgeInput, limitMs: number): Verification =>
  judge(
    tasks.map(({ name }) => ({
      name,
      uncounted: `the comparison took longer than ${limitMs / 1000} s and was ended`,
      same: false
    })),
    { ...settings, seedText: '' }
  )

/** The bundle of judge-thread.ts (tools/build.mjs), whether this runs from its source or from a bundle. */
function threadFile(): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const file = join(folder, 'dist/activities/judge/judge-thread.js')
    if (existsSync(file)) return file
    if (dirname(folder) === folder)
      throw new Error('dist/activities/judge/judge-thread.js is missing; run npm run build')
  }
}
