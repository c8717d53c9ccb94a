// A capsule as people write one down in a file: the fields of `POST /api/capsules/create`, or the shorter form, whose tasks
// stand at the top and may leave their parameters out.
import { validationError } from '../errors.js'

export interface AuthoredFields {
  /** The fields of `POST /api/capsules/create`, which nobody has checked yet. */
  fields: unknown
  /** What stands for a place in them in the file: `workflow.tasks[0]` is `tasks[0]` of the shorter form. */
  placeInFile(message: string): string
}

/** @throws ServiceError `validation_error` for a file that is in both forms. */
export function readAuthored(file: object): AuthoredFields {
  if (!Object.hasOwn(file, 'tasks')) return { fields: file, placeInFile: (message) => message }
  const { tasks, ...rest } = file as { tasks: unknown }
  if (Object.hasOwn(rest, 'workflow'))
    throw validationError('workflow: the tasks stand under "tasks" already; keep one of both')
  return {
    fields: { ...rest, workflow: { tasks: Array.isArray(tasks) ? tasks.map(withParameters) : tasks } },
    placeInFile: (message) => message.replace(/^workflow\.tasks/, 'tasks')
  }
}

const withParameters = (task: unknown): unknown =>
  typeof task === 'object' && task !== null && !Array.isArray(task) ? { parameters: {}, ...task } : task
