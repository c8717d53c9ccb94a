// The side of a thread (thread-pool.ts): one piece of work at a time.
import { parentPort } from 'node:worker_threads'
import { codeOf, type ErrorCode } from '../../domain/errors.js'

/** `code`: of a fault that callers are told about. */
export type ThreadResponse<Output> = { output: Output } | { problem: string; code: ErrorCode | null }

/** To be called once, by the program that a thread begins with. */
export function answerInThread<Input, Output>(work: (input: Input) => Output | Promise<Output>): void {
  const port = parentPort!
  port.on('message', async (input: Input) => {
    let answer: ThreadResponse<Output>
    try {
      answer = { output: await work(input) }
    } catch (error) {
      answer = { problem: error instanceof Error ? error.message : String(error), code: codeOf(error) }
    }
    port.postMessage(answer)
  })
}
