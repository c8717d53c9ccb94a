// The activities of a graph of tasks: its open tasks, and the execution of one task.
import { ApplicationFailure } from '@temporalio/activity'
import { type OpenTasks, openTasks } from '../../db/jobs/script-requests.js'
import type { JobHandOver } from '../../domain/jobs/dispatch.js'
import { failureOf } from './failure.js'
import { withHeartbeat } from './heartbeat.js'
import type { ExecuteDeps } from './job-attempt.js'
import { runTask } from './run-task.js'
import { asStep } from './step.js'

/** `circuit`: the task waits for the response to its request of this number. */
export type TaskOutcome = { next: 'done' } | { next: 'circuit'; ask: number } | { next: 'cancel' } | { next: 'stop' }

export type TaskActivities = ReturnType<typeof createTaskActivities>

export function createTaskActivities(deps: ExecuteDeps) {
  return {
    openTasks: ({ jobId, ask }: JobHandOver & { ask: number }): Promise<OpenTasks> =>
      asStep(deps, { jobId }, () => openTasks(deps.db, jobId, ask)),

    runTask: ({ jobId, generation, task }: JobHandOver & { task: string }): Promise<TaskOutcome> =>
      asStep(deps, { jobId, task }, async (context) => {
        const end = await withHeartbeat(context, () =>
          runTask(deps, jobId, task, { generation }, context.cancellationSignal)
        )
        switch (end.outcome) {
          case 'completed':
            return { next: 'done' }
          case 'circuit':
            return { next: 'circuit', ask: end.ask }
          case 'cancelling':
            return { next: 'cancel' }
          case 'stopped':
            return { next: 'stop' }
          case 'failed':
            throw failureOf(end.error, 'final')
          case 'retry':
            throw ApplicationFailure.create({
              type: end.error.code,
              message: end.error.message,
              nextRetryDelay: end.afterMs
            })
        }
      })
  }
}
