// Reads the record of a capsule. Parameters stay text, since a JavaScript number cannot hold each of their numbers.
import { jsonFields, jsonItems } from '../../../../domain/json/json-text.js'
import type { components } from '../../api/schema.js'

type Schemas = components['schemas']

type CapsuleRecord = Omit<Schemas['Capsule'], 'workflow' | 'script' | 'parameters'>
type WorkflowTask = NonNullable<Schemas['Capsule']['workflow']>['tasks'][number]

export interface CapsuleTask extends Omit<WorkflowTask, 'parameters' | 'parameters_text'> {
  /** JSON text, with every digit that is stored. */
  parameters: string
}

export interface ReadCapsule {
  record: CapsuleRecord
  tasks: readonly CapsuleTask[]
}

/** @param text the record as the service sends it. @throws Error when it is not a record. */
export function readCapsuleRecord(text: string): ReadCapsule {
  const fields = jsonFields(text)
  const workflow = fields.get('workflow') ?? 'null'
  for (const name of ['workflow', 'script', 'parameters']) fields.delete(name)
  const record = Object.fromEntries([...fields].map(([name, value]) => [name, JSON.parse(value)])) as CapsuleRecord
  const tasks = workflow === 'null' ? '[]' : (jsonFields(workflow).get('tasks') ?? '[]')
  return { record, tasks: readTasks(tasks) }
}

/** @param text JSON text of a workflow's tasks. */
export const readTasks = (text: string): CapsuleTask[] =>
  jsonItems(text).map((item) => {
    const fields = jsonFields(item)
    const shown = fields.get('parameters') ?? '{}'
    fields.delete('parameters')
    const { parameters_text: exact, ...task } = Object.fromEntries(
      [...fields].map(([name, value]) => [name, JSON.parse(value)])
    ) as Omit<WorkflowTask, 'parameters'>
    return { ...task, parameters: exact ?? shown }
  })
