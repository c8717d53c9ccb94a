// The thread's side of a pool (thread-pool.ts).
import { parentPort } from 'node:worker_threads'
import { codeOf, type ErrorCode } from '../../domain/errors.js'

export interface ThreadTask<Input> {
  id: number
  input: Input
}

/** Sent when a thread begins a task: its time limit starts now. */
export interface ThreadMessage {
  started: number
}

/** A structured clone keeps no class of an error, so an error travels as its text, and its code if a caller may see it. */
export type ThreadResponse<Output> = { output: Output } | { problem: string; code: ErrorCode | null }

/** The default export of a program that a thread runs. */
export const threadProgram =
  <Input, Output>(work: (input: Input) => Output | Promise<Output>) =>
  async ({ id, input }: ThreadTask<Input>): Promise<ThreadResponse<Output>> => {
    parentPort!.postMessage({ started: id } satisfies ThreadMessage)
    try {
      return { output: await work(input) }
    } catch (error) {
      return { problem: error instanceof Error ? error.message : String(error), code: codeOf(error) }
    }
  }
