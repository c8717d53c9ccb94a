// The form of a capsule with its tasks, and the body that it sends. Parameters are JSON as it was typed, so every digit is kept.
import { parse, stringify } from 'lossless-json'
import type { CapsuleTask } from '../record/capsule-record.js'

export interface TaskForm {
  /** Of this form alone: React tells the tasks apart by it. */
  key: number
  name: string
  kind: 'code' | 'script'
  code: string
  script: string
  framework: string
  backend: string
  shots: string
  /** JSON of the parameters besides the shots. */
  parameters: string
}

export interface CapsuleForm {
  name: string
  description: string
  tags: string
  maxBudget: string
  retentionYears: string
  tasks: readonly TaskForm[]
}

let last = 0
export const emptyTask = (name: string): TaskForm => ({
  key: ++last,
  name,
  kind: 'code',
  code: '',
  script: '',
  framework: '',
  backend: '',
  shots: '1000',
  parameters: ''
})

export const emptyForm = (): CapsuleForm => ({
  name: '',
  description: '',
  tags: '',
  maxBudget: '',
  retentionYears: '',
  tasks: [emptyTask('main')]
})

/** @returns `null` where the form has no place for what a task holds, as for a circuit. */
export function formOfTask({
  name,
  script_id,
  inline_code,
  framework,
  backend,
  parameters
}: CapsuleTask): TaskForm | null {
  if (script_id === null && inline_code === undefined) return null
  const { shots, ...others } = parse(parameters) as Record<string, unknown>
  return {
    ...emptyTask(name),
    kind: script_id === null ? 'code' : 'script',
    code: inline_code ?? '',
    script: script_id ?? '',
    framework: framework === 'auto' ? '' : framework,
    backend,
    shots: shots === undefined ? '' : String(shots),
    parameters: Object.keys(others).length === 0 ? '' : (stringify(others, undefined, 2) ?? '')
  }
}

/** @throws Error that names the task whose parameters are not JSON. */
export function capsuleBody(form: CapsuleForm, withTasks: boolean): Record<string, unknown> {
  const optional = (text: string) => (text.trim() === '' ? null : numberOf(text))
  return {
    name: form.name,
    description: form.description,
    tags: form.tags
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    max_budget_usd: optional(form.maxBudget),
    retention_years: optional(form.retentionYears),
    ...(withTasks && { workflow: { tasks: form.tasks.map(taskBody) } })
  }
}

/** What is not a number is sent as it was typed, for the service to refuse. */
function numberOf(text: string): number | string {
  const value = Number(text)
  return Number.isFinite(value) ? value : text
}

function taskBody(task: TaskForm, place: number): Record<string, unknown> {
  return {
    name: task.name,
    ...(task.kind === 'code' ? { inline_code: task.code } : { script_id: task.script.trim() }),
    ...(task.framework !== '' && { framework: task.framework }),
    backend: task.backend,
    parameters: { ...parametersOf(task, place), ...(task.shots.trim() !== '' && { shots: numberOf(task.shots) }) }
  }
}

function parametersOf({ parameters }: TaskForm, place: number): object {
  if (parameters.trim() === '') return {}
  try {
    const value = parse(parameters)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {}
  throw new Error(`workflow.tasks[${place}].parameters: must be a JSON object, such as { "theta": 0.5 }`)
}

/** Where a refusal belongs: `tasks[1].parameters` with what is wrong; `null` for one about no field of the form. */
export function faultPlace(message: string): { task: number | null; field: string; text: string } | null {
  const [, task, inTask, own, text] =
    /^(?:workflow\.tasks\[(\d+)\](?:\.(\w+))?\S*|(name|description|tags|max_budget_usd|retention_years)\S*): ([\s\S]*)$/.exec(
      message
    ) ?? []
  if (text === undefined) return null
  return task === undefined ? { task: null, field: own!, text } : { task: Number(task), field: inTask ?? 'name', text }
}
