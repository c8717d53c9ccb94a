// The metadata of a result about its task graphs, in the shape that the public SDK defines.
import type { TaskState } from './job-status.js'

export interface TaskFacts {
  key: string
  funcName: string
  dependsOn: string[]
  level: number
  state: TaskState
  startedAt: Date | null
  completedAt: Date | null
  errorMessage: string | null
}

/**
 * `_workflow_metadata` for tasks in the order of the script.
 * @param returned the tasks whose results the workflows return.
 */
export function workflowMetadata(tasks: TaskFacts[], returned: string[]) {
  const levels: string[][] = []
  for (const { key, level } of tasks) {
    while (levels.length <= level) levels.push([])
    levels[level]!.push(key)
  }
  return {
    execution_graph: {
      nodes: Object.fromEntries(
        tasks.map(({ key, funcName, dependsOn }) => [key, { func_name: funcName, dependencies: dependsOn }])
      ),
      execution_levels: levels,
      output_nodes: [...new Set(returned)]
    },
    task_timeline: tasks.map((task) => ({
      node_id: task.key,
      func_name: task.funcName,
      level: task.level,
      started_at: task.startedAt?.toISOString() ?? null,
      completed_at: task.completedAt?.toISOString() ?? null,
      status: task.state,
      ...(task.errorMessage !== null && { error: task.errorMessage })
    })),
    total_tasks: tasks.length,
    total_levels: levels.length
  }
}
