// A path through a workflow: what its activities return, what happens from outside, and the expected outcome.
import { ApplicationFailure, Context } from '@temporalio/activity'
import type { WorkflowHandle } from '@temporalio/client'

export interface Path {
  name: string
  /** The workflow type. */
  workflow: string
  /** The input, unless it is that of a job. */
  args?: unknown[]
  /** Builds the activities for each run; `calls` records their calls. */
  activities(calls: string[]): object
  /** What happens from outside while the workflow runs. */
  meanwhile?(handle: WorkflowHandle, calls: string[]): Promise<void>
  /**
   * How the workflow closes, and the calls that must have been made, in order. The answer is what it returns, `cancelled`, or
   * `failed: CODE`; `completed: STATUS` where it returns the status of a job that is not completed.
   */
  expected: { answer: string; calls: string[] }
}

/** The same activities with each call recorded, except those of `unnoted`. */
export function noted(calls: string[], activities: object, unnoted: string[] = []): object {
  return Object.fromEntries(
    Object.entries(activities).map(([name, run]) => [
      name,
      (...args: unknown[]) => {
        if (!unnoted.includes(name)) calls.push(name)
        return (run as (...args: unknown[]) => Promise<unknown>)(...args)
      }
    ])
  )
}

/** Runs until the workflow is cancelled, like a real execution. */
export const untilCancelled = async (): Promise<never> => {
  const context = Context.current()
  const beating = setInterval(() => context.heartbeat(), 100)
  try {
    return await context.cancelled
  } finally {
    clearInterval(beating)
  }
}

/** Runs until the workflow is cancelled, and then fails with a retryable failure. */
export const lostUnderCancel = (): Promise<never> =>
  untilCancelled().catch(() => {
    throw ApplicationFailure.retryable('lost', 'execution_service_lost')
  })

export const cancelWhenCalled =
  (activity: string) =>
  async (handle: WorkflowHandle, calls: string[]): Promise<void> => {
    while (!calls.includes(activity)) await new Promise((resolve) => setTimeout(resolve, 20))
    await handle.cancel()
  }
