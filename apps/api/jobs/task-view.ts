// A job's tasks as GET /api/jobs/:id/tasks shows them.
import type { TaskRow } from '../../../db/jobs/job-tasks.js'
import type { JobRow } from '../../../db/jobs/jobs.js'
import { taskStateOf } from '../../../domain/jobs/job-status.js'
import { taskKeyOf } from './job-view.js'

const errorView = (code: string | null, message: string | null) => (code === null ? null : { code, message })

/** A task of a graph; within its job it is known by its key. */
export const taskView = (task: TaskRow) => ({
  id: task.key,
  key: task.key,
  name: task.name,
  state: task.state,
  depends_on: task.dependsOn,
  attempts: task.attempts,
  started_at: task.startedAt?.toISOString() ?? null,
  completed_at: task.completedAt?.toISOString() ?? null,
  error: errorView(task.errorCode, task.errorMessage),
  stdout: task.stdout
})

/** The one task of a plain job. */
export const onlyTaskView = (job: JobRow) => ({
  id: job.id,
  key: taskKeyOf(''),
  name: job.name ?? taskKeyOf(''),
  state: taskStateOf(job.status, job.attempts > 0),
  depends_on: [],
  attempts: job.attempts,
  started_at: job.startedAt?.toISOString() ?? null,
  completed_at: job.completedAt?.toISOString() ?? null,
  error: errorView(job.errorCode, job.errorMessage),
  stdout: null
})
