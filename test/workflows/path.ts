// A path through a workflow: what its activities answer, what happens from outside, and what must come of it.
import { ApplicationFailure, Context } from '@temporalio/activity'
import type { WorkflowHandle } from '@temporalio/client'

export interface Path {
  name: string
  /** Its type. */
  workflow: string
  /** Its input, where it is no job's. */
  args?: unknown[]
  /** Builds the activities anew for each run; `calls` notes what was called. */
  activities(calls: string[]): object
  /** What happens from outside while the workflow runs. */
  meanwhile?(handle: WorkflowHandle, calls: string[]): Promise<void>
  /** The workflow's answer, and the calls that must have been made, in order. */
  expected: { answer: string; calls: string[] }
}

/** The same activities, each call noted but for those of `unnoted`. */
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

/** Runs until the workflow is cancelled, as a real execution does. */
export const untilCancelled = async (): Promise<never> => {
  const context = Context.current()
  const beating = setInterval(() => context.heartbeat(), 100)
  try {
    return await context.cancelled
  } finally {
    clearInterval(beating)
  }
}

/** Runs until the workflow is cancelled, and ends then by a failure that would be tried again. */
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
