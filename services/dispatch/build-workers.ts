import type { Client } from '@temporalio/client'

/** Temporal's number for the tasks of workflows. */
const WORKFLOW_TASKS = 1

/** Whether a worker of this build of the workflow code asked for work lately. The caller sets the deadline. */
export async function hasWorkers(temporal: Client, taskQueue: string, build: string): Promise<boolean> {
  const { pollers } = await temporal.workflowService.describeTaskQueue({
    namespace: temporal.options.namespace,
    taskQueue: { name: taskQueue },
    taskQueueType: WORKFLOW_TASKS
  })
  return (pollers ?? []).some(({ deploymentOptions }) => deploymentOptions?.buildId === build)
}
