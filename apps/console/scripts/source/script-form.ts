// What the editor of a script holds, what of it is new, and where the faults and warnings of a save belong. The service reads
// and checks all of it.
import { ApiError, type PlacedFault } from '../../api/api-error.js'
import type { components } from '../../api/schema.js'
import type { Fault } from '../../circuit/circuit.js'

type Script = components['schemas']['Script']
type ScriptWarning = components['schemas']['ScriptWarning']

export interface ScriptForm {
  name: string
  description: string
  source: string
  requirements: string
  /** Of a script that exists. The service reads it from the source of a new one. */
  framework: string
  /** Of a new script; empty where the service is to detect it. */
  type: string
}

/** The part of a record that can be changed, and when it was last. */
export type SavedForm = ScriptForm & { updatedAt: string }

export const savedForm = (script: Script): SavedForm => ({
  name: script.name,
  description: script.description,
  source: script.script_content,
  requirements: script.requirements ?? '',
  framework: script.framework,
  type: script.script_type,
  updatedAt: script.updated_at
})

export const emptyForm: ScriptForm = {
  name: '',
  description: '',
  source: '',
  requirements: '',
  framework: '',
  type: ''
}

const fields = ['name', 'description', 'source', 'requirements', 'framework', 'type'] as const
/** The fields that show a fault of their own, which is one line. */
const faulty: readonly (keyof ScriptForm)[] = ['name', 'description', 'requirements']

const names = {
  name: 'name',
  description: 'description',
  source: 'script_content',
  requirements: 'requirements',
  framework: 'framework',
  type: 'script_type'
} as const satisfies Record<keyof ScriptForm, string>

export const isSame = (one: ScriptForm, other: ScriptForm): boolean =>
  fields.every((field) => one[field] === other[field])

const lineEnds = /\r\n?/g

/** The editor writes every line end as one character: a source that differs in these alone was not typed. */
export const typed = (form: ScriptForm, base: ScriptForm): ScriptForm =>
  form.source !== base.source && form.source === base.source.replace(lineEnds, '\n')
    ? { ...form, source: base.source }
    : form

/** Only what was changed is sent, and refused where the script has changed since it was read. */
export const changeBody = (form: ScriptForm, base: SavedForm): Record<string, string> => ({
  ...Object.fromEntries(
    fields.filter((field) => form[field] !== base[field]).map((field) => [names[field], form[field]])
  ),
  unchanged_since: base.updatedAt
})

/** What was typed, on top of what someone else has saved meanwhile: fields that were not touched take theirs. */
export function rebased(form: ScriptForm, base: SavedForm, saved: SavedForm): ScriptForm {
  const field = (name: keyof ScriptForm) => (form[name] === base[name] ? saved[name] : form[name])
  return {
    name: field('name'),
    description: field('description'),
    source: field('source'),
    requirements: field('requirements'),
    framework: field('framework'),
    type: field('type')
  }
}

export interface PlacedFaults {
  /** Of the source, with their lines. */
  source: Fault[]
  /** Messages at the other fields. */
  at: Partial<Record<keyof ScriptForm, string>>
  /** Whether the message of the refusal stands nowhere else. */
  isElsewhere: boolean
}

const fieldOf = (name: string): keyof ScriptForm | undefined => fields.find((field) => names[field] === name)

export function placedFaults(error: unknown): PlacedFaults {
  if (!(error instanceof ApiError) || error.status !== 400) return { source: [], at: {}, isElsewhere: error !== null }
  if (error.faults.length > 0) return placed(error.faults)
  const [, name, message] = /^(\w+): (.*)$/s.exec(error.message) ?? []
  const field = name === undefined ? undefined : fieldOf(name)
  return field !== undefined && faulty.includes(field)
    ? { source: [], at: { [field]: message }, isElsewhere: false }
    : { source: [], at: {}, isElsewhere: true }
}

function placed(faults: readonly PlacedFault[]): PlacedFaults {
  const source = faults.flatMap(({ field, message, line, column }) =>
    field === 'script_content' && line !== null ? [{ line, column: column ?? 1, message }] : []
  )
  const requirements = faults.filter(({ field }) => field === 'requirements').map(({ message }) => message)
  return {
    source,
    at: requirements.length > 0 ? { requirements: requirements.join('; ') } : {},
    isElsewhere: source.length + requirements.length < faults.length
  }
}

/** The warnings of the source that have a line, as places in it. */
export const placedWarnings = (warnings: readonly ScriptWarning[]): Fault[] =>
  warnings.flatMap(({ field, message, line }) =>
    field === 'script_content' && line !== null ? [{ line, column: 1, message }] : []
  )

export const otherWarnings = (warnings: readonly ScriptWarning[]): string[] =>
  warnings.filter(({ field, line }) => field !== 'script_content' || line === null).map(({ message }) => message)
