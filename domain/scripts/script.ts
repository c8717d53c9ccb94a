// Saved scripts: their kinds and limits, what is known of one by reading it, and the short name that one gets.
import { validationError } from '../errors.js'
import type { Framework } from '../jobs/framework.js'

export const scriptTypes = ['script', 'task', 'workflow'] as const
export type ScriptType = (typeof scriptTypes)[number]

/** Of the source, as UTF-8. */
export const SCRIPT_BYTES_MAX = 1_048_576
/** Code points. Two hundred requirements, the most that are read, take far less. */
export const REQUIREMENTS_MAX = 100_000
export const SCRIPT_NAME_MAX = 200
/** Of one team, those that are deleted not counted. */
export const SCRIPTS_MAX = 1_000
/** Of one script: each is kept for the jobs that ran it. */
export const VERSIONS_MAX = 1_000
export const SLUG_MAX = 200

/** What the execution service reads in a script without running it. */
export interface ScriptMetadata {
  /** `null` where the text does not say. */
  framework: Framework | null
  imports: string[]
  functions: {
    name: string
    /** `*args` and `**kwargs` with their stars. */
    parameters: string[]
    is_task: boolean
    is_workflow: boolean
    /** Of a task, where its decorator says so by a constant. */
    retries: number | null
    timeout: number | null
  }[]
  /** `main`, the one workflow, `circuit`, or `null`: nothing says what is run. */
  entry_point: string | null
  qubits?: number
  /** Hex SHA-256 of the source as UTF-8. */
  source_sha256: string
}

/** Where a script comes from that neither a template nor its owner has put into a category. */
export const CATEGORY_OF_USERS = 'custom'

/** The framework under which a script runs whose text names none: Python, with all that the service has. */
export const frameworkOfScript = (detected: Framework | null): Framework => detected ?? 'marqov'

/**
 * A slug made of a name: its letters and digits without their accents, in lower case, hyphens between them. A name without
 * any gives `script`.
 */
export function slugOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_MAX)
    .replaceAll(/^-+|-+$/g, '')
  return plain || 'script'
}

/** The slugs that a script of this name may get, the plain one first, then with -2, -3, ... */
export function* slugChoices(name: string): Generator<string> {
  const base = slugOf(name)
  yield base
  for (let number = 2; ; number++) {
    const end = `-${number}`
    yield `${base.slice(0, SLUG_MAX - end.length).replace(/-+$/, '')}${end}`
  }
}

/** @throws ServiceError `validation_error` for a source that is too long or blank. */
export function assertSource(field: string, content: string): void {
  if (content.trim() === '') throw validationError(`${field}: is blank`)
  const bytes = utf8Length(content)
  if (bytes > SCRIPT_BYTES_MAX)
    throw validationError(`${field}: must be at most ${SCRIPT_BYTES_MAX} bytes (got ${bytes})`)
}

/** OpenQASM runs as OpenQASM and nothing else does. @throws ServiceError `validation_error`. */
export function assertFramework(asked: Framework, detected: Framework | null): void {
  if ((asked === 'openqasm') === (detected === 'openqasm')) return
  throw validationError(
    detected === 'openqasm'
      ? `framework: this script is OpenQASM (got ${JSON.stringify(asked)})`
      : `framework: this script is Python; OpenQASM begins with its OPENQASM line (got "openqasm")`
  )
}

function utf8Length(text: string): number {
  let bytes = 0
  for (const character of text) {
    const point = character.codePointAt(0)!
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
  }
  return bytes
}
