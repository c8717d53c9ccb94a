// A job's tasks as GET /api/jobs/:id/tasks shows them.
import { type Static, Type } from 'typebox'
import type { TaskRow } from '../../../db/jobs/job-tasks.js'
import type { JobRow } from '../../../db/jobs/jobs.js'
import { taskStateOf, taskStates } from '../../../domain/jobs/job-status.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { count, nullable, text, time } from '../http/response.js'
import { Failure, failureView } from './failure-view.js'

export const Task = Type.Object(
  {
    id: Type.String({ description: 'In a graph, the key of the task; for a plain job, the id of the job' }),
    key: text,
    name: text,
    state: oneOf(taskStates),
    depends_on: Type.Array(text),
    attempts: count,
    started_at: nullable(time),
    completed_at: nullable(time),
    error: Failure,
    stdout: nullable(text)
  },
  { $id: 'Task' }
)

/** The key of a task; a plain job's only task is called `circuit`. */
export const taskKeyOf = (task: string): string => task || 'circuit'

/** A task of a graph, identified within its job by its key. */
export const taskView = (task: TaskRow): Static<typeof Task> => ({
  id: task.key,
  key: task.key,
  name: task.name,
  state: task.state,
  depends_on: task.dependsOn,
  attempts: task.attempts,
  started_at: task.startedAt?.toISOString() ?? null,
  completed_at: task.completedAt?.toISOString() ?? null,
  error: failureView(task),
  stdout: task.stdout
})

/** The only task of a plain job. */
export const onlyTaskView = (job: JobRow): Static<typeof Task> => ({
  id: job.id,
  key: taskKeyOf(''),
  name: job.name ?? taskKeyOf(''),
  state: taskStateOf(job.status, job.attempts > 0),
  depends_on: [],
  attempts: job.attempts,
  started_at: job.startedAt?.toISOString() ?? null,
  completed_at: job.completedAt?.toISOString() ?? null,
  error: failureView(job),
  stdout: null
})
