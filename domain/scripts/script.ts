// Saved scripts: their types and limits, the metadata that reading one reveals, and their slugs.
import { validationError } from '../errors.js'
import type { Framework } from '../jobs/framework.js'
import type { TemplateParameter } from './template-parameter.js'

export const scriptTypes = ['script', 'task', 'workflow'] as const
export type ScriptType = (typeof scriptTypes)[number]

/** What lists can be limited to: of the caller, of the caller's teams, published by people, of the platform. */
export const scriptKinds = ['own', 'team', 'public', 'template'] as const
export type ScriptKind = (typeof scriptKinds)[number]

/** The largest source, in bytes of UTF-8. */
export const SCRIPT_BYTES_MAX = 1_048_576
/** Code points. Two hundred requirements, the most that are read, need far less. */
export const REQUIREMENTS_MAX = 100_000
export const SCRIPT_NAME_MAX = 200
/** Per team. Deleted scripts do not count. */
export const SCRIPTS_MAX = 1_000
/** Per script. Every version is kept for the jobs that ran it. */
export const VERSIONS_MAX = 1_000
export const SLUG_MAX = 200

/** What the executor reads in a script without running it. */
export interface ScriptMetadata {
  /** `null` when the text does not show it. */
  framework: Framework | null
  imports: string[]
  functions: {
    name: string
    /** `*args` and `**kwargs` include their stars. */
    parameters: string[]
    is_task: boolean
    is_workflow: boolean
    /** Set for a task whose decorator gives it as a constant. */
    retries: number | null
    timeout: number | null
  }[]
  /** `main`, the only workflow, `circuit`, or `null` when the text does not show what to run. */
  entry_point: string | null
  qubits?: number
  /** Hex SHA-256 of the source as UTF-8. */
  source_sha256: string
  /** Set for templates. */
  parameters?: TemplateParameter[]
}

/** The category of a script for which neither a template nor its owner has set one. */
export const CATEGORY_OF_USERS = 'custom'

/** The framework of a script whose text names none: Python with all installed packages. */
export const frameworkOfScript = (detected: Framework | null): Framework => detected ?? 'marqov'

/**
 * Makes a slug from a name: its letters and digits without accents, in lower case, separated by hyphens. A name without
 * any becomes `script`.
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

/** The slugs that a script of this name can get: the plain one, then with -2, -3, ... */
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
  if (!/\S/.test(content)) throw validationError(`${field}: is blank`)
  const bytes = utf8.encode(content).length
  if (bytes > SCRIPT_BYTES_MAX)
    throw validationError(`${field}: must be at most ${SCRIPT_BYTES_MAX} bytes (got ${bytes})`)
}

/** A loop over the characters of 1 MiB would keep every other request waiting for milliseconds. */
const utf8 = new TextEncoder()

/** OpenQASM source runs as OpenQASM, and no other source does. @throws ServiceError `validation_error`. */
export function assertFramework(asked: Framework, detected: Framework | null): void {
  if ((asked === 'openqasm') === (detected === 'openqasm')) return
  throw validationError(
    detected === 'openqasm'
      ? `framework: this script is OpenQASM (got ${JSON.stringify(asked)})`
      : `framework: this script is Python; OpenQASM has an OPENQASM line or declares qubits (got "openqasm")`
  )
}
