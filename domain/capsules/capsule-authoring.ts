// A capsule as an author writes it in a file: the fields of `POST /api/capsules/create`, or a shorter form with the
// tasks at the top level and optional parameters.
import { validationError } from '../errors.js'
import { jsonAt, jsonItems } from '../json/json-text.js'

export interface AuthoredFields {
  /** The fields of `POST /api/capsules/create`, not validated yet. */
  fields: unknown
  /**
   * Translates a place in the fields to the place in the file: `workflow.tasks[0]` is `tasks[0]` in the shorter form.
   */
  placeInFile(message: string): string
}

/** @throws ServiceError `validation_error` for a file that mixes both forms. */
export function readAuthored(file: object): AuthoredFields {
  if (!Object.hasOwn(file, 'tasks')) return { fields: file, placeInFile: (message) => message }
  const { tasks, ...rest } = file as { tasks: unknown }
  if (Object.hasOwn(rest, 'workflow'))
    throw validationError('workflow: "tasks" holds the tasks already; send only one of the two')
  return {
    fields: { ...rest, workflow: { tasks: Array.isArray(tasks) ? tasks.map(withParameters) : tasks } },
    placeInFile: (message) => message.replace(/^workflow\.tasks/, 'tasks')
  }
}

const withParameters = (task: unknown): unknown =>
  typeof task === 'object' && task !== null && !Array.isArray(task) ? { parameters: {}, ...task } : task

/** The parameters of each task in a JSON text of either form, as they are written; `null` where a task has none. */
export function parameterTexts(text: string): (string | null)[] {
  const tasks = jsonAt(text, '/workflow/tasks') ?? jsonAt(text, '/tasks')
  return tasks?.startsWith('[') ? jsonItems(tasks).map((task) => jsonAt(task, '/parameters')) : []
}
