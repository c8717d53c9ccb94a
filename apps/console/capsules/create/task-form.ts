// The form of a capsule with its tasks, and the body that it sends. Parameters are JSON as it was typed, so every digit is kept.
import { LosslessNumber, parse, stringify } from 'lossless-json'
import { numberOf } from '../../text/number-of.js'
import type { CapsuleTask, ReadCapsule } from '../record/capsule-record.js'

export interface TaskForm {
  /** Of this form alone: React tells the tasks apart by it. */
  key: number
  name: string
  kind: 'code' | 'script'
  code: string
  script: string
  /** Of the saved script, when the draft was read. A save takes the newest. */
  scriptVersion: number | null
  framework: string
  backend: string
  shots: string
  /** Empty: as the service has it by default. */
  mode: CapsuleTask['execution_mode'] | ''
  timeoutSeconds: string
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
  scriptVersion: null,
  framework: '',
  backend: '',
  shots: '1000',
  mode: '',
  timeoutSeconds: '',
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

/** @returns `null` where a request cannot say what the task holds, as for a circuit. */
export function formOfTask(task: CapsuleTask): TaskForm | null {
  if (!task.authorable) return null
  const { shots, ...others } = parse(task.parameters) as Record<string, unknown>
  return {
    ...emptyTask(task.name),
    kind: task.script_id === null ? 'code' : 'script',
    code: task.inline_code ?? '',
    script: task.script_id ?? '',
    scriptVersion: task.script_version,
    framework: task.framework === 'auto' ? '' : task.framework,
    backend: task.backend,
    shots: shots === undefined ? '' : String(shots),
    mode: task.execution_mode,
    timeoutSeconds: String(task.timeout_seconds),
    parameters: Object.keys(others).length === 0 ? '' : (stringify(others, undefined, 2) ?? '')
  }
}

/** @returns `withTasks` is false where the form has no place for one of the tasks: then none of them is sent. */
export function formOfDraft({ record, tasks }: ReadCapsule): { form: CapsuleForm; withTasks: boolean } {
  const { name, description, tags, max_budget_usd, retention_years } = record
  const known = tasks.map(formOfTask).filter((task) => task !== null)
  return {
    form: {
      name,
      description,
      tags: tags.join(', '),
      maxBudget: max_budget_usd === null ? '' : String(max_budget_usd),
      retentionYears: retention_years === null ? '' : String(retention_years),
      tasks: known.length > 0 ? known : [emptyTask('main')]
    },
    withTasks: known.length === tasks.length
  }
}

/** @throws Error that names the task whose parameters are not JSON. */
export function capsuleBody(form: CapsuleForm, withTasks: boolean): Record<string, unknown> {
  return {
    name: form.name,
    description: form.description,
    tags: form.tags
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ''),
    max_budget_usd: numberOrNull(form.maxBudget),
    retention_years: numberOrNull(form.retentionYears),
    ...(withTasks && { workflow: workflowOf(form) })
  }
}

/** What was changed of a draft. The name goes along, since a change of nothing is refused. */
export function changedBody(form: CapsuleForm, start: CapsuleForm, withTasks: boolean): Record<string, unknown> {
  const [now, before] = [capsuleBody(form, false), capsuleBody(start, false)]
  const changed = Object.keys(now).filter((field) => stringify(now[field]) !== stringify(before[field]))
  return {
    name: form.name,
    ...Object.fromEntries(changed.map((field) => [field, now[field]])),
    ...(withTasks && form.tasks !== start.tasks && { workflow: workflowOf(form) })
  }
}

const workflowOf = ({ tasks }: CapsuleForm) => ({ tasks: tasks.map(taskBody) })

/** Shots as they were typed: `1000.0` is another text than `1000`. */
function exactNumberOf(text: string): LosslessNumber | string {
  const value: unknown = numberOf(text)
  return typeof value === 'number' ? new LosslessNumber(text.trim()) : text
}

const numberOrNull = (text: string) => (text.trim() === '' ? null : numberOf(text))

function taskBody(task: TaskForm, place: number): Record<string, unknown> {
  return {
    name: task.name,
    ...(task.kind === 'code' ? { inline_code: task.code } : { script_id: task.script.trim() }),
    ...(task.framework !== '' && { framework: task.framework }),
    backend: task.backend,
    parameters: { ...parametersOf(task, place), ...(task.shots.trim() !== '' && { shots: exactNumberOf(task.shots) }) },
    ...(task.mode !== '' && { execution_mode: task.mode }),
    ...(task.timeoutSeconds.trim() !== '' && { timeout_seconds: numberOf(task.timeoutSeconds) })
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
    /^(?:workflow\.tasks\[(\d+)\](?:\.(?:parameters\.(?=shots:))?(\w+))?\S*|(name|description|tags|max_budget_usd|retention_years)\S*): ([\s\S]*)$/.exec(
      message
    ) ?? []
  if (text === undefined) return null
  return task === undefined ? { task: null, field: own!, text } : { task: Number(task), field: inTask ?? 'name', text }
}
