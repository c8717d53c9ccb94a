// Turns an imported package into a draft. The draft gets the definition in the package if this service made the package and the
// definition passes every check of a new one. Everything else that the package states about itself (state, owner, seal, costs,
// times) is only a claim.
import { DEFINITION_NAME, EXTENSION, type Manifest } from '../../../../capsule-format/manifest/manifest.js'
import type { ReadPackage } from '../../../../capsule-format/package-reader.js'
import { verifyPackage } from '../../../../capsule-format/package-verification.js'
import { findSigningKey } from '../../../../db/audit/signing-keys.js'
import { findBackend } from '../../../../db/backends/backends.js'
import { definitionDigest, type NewCapsule } from '../../../../db/capsules/capsule-changes.js'
import type { DbOrTx } from '../../../../db/client.js'
import { loadScript, loadScriptVersion } from '../../../../db/scripts/scripts.js'
import type { Caller } from '../../../../db/teams/memberships.js'
import {
  assertDefinition,
  backendsOf,
  type CapsuleDefinition,
  type CapsuleTask,
  DEFINITION_BYTES_MAX,
  emptyDefinition
} from '../../../../domain/capsules/capsule-definition.js'
import { ServiceError, validationError } from '../../../../domain/errors.js'
import { findForbiddenJson } from '../../../../domain/json/json-guard.js'
import { microFromUsd } from '../../../../domain/money/money.js'

type ImportedCapsule = Omit<NewCapsule, 'teamId' | 'ownerId' | 'state'>

const NAME_MAX = 200
const DESCRIPTION_MAX = 1_000
const TAGS_MAX = 10
const TAG_MAX = 50
const BACKENDS_MAX = 50
const TEXT_MAX = 1_000
/** Nesting of a definition: the parameters of a task can be nested as deep as a body, and are a few levels down in it. */
const DEPTH_MAX = 40

/**
 * @returns the capsule to create, and warnings about what could not be kept.
 * @throws ServiceError `validation_error` naming the entry.
 */
export async function importedCapsule(
  db: DbOrTx,
  caller: Caller,
  read: ReadPackage
): Promise<{ capsule: ImportedCapsule; warnings: string[] }> {
  const warnings = [...read.warnings]
  const { manifest } = read
  const extension = recordOf(recordOf(manifest.extensions)?.[EXTENSION])
  // These are all the fields that are stored or read. Other programs can write any other field.
  const { name, description, tags, sealed_at } = manifest
  const problem = findForbiddenJson(withoutNumbers({ name, description, tags, sealed_at, [EXTENSION]: extension }))
  if (problem) throw validationError(`capsule.yaml: ${problem}`)
  const definition = extension ? await definitionIn(db, caller, read, extension, warnings) : null
  if (!definition)
    warnings.push(
      'The package was not made by this service: it holds no definition to restore, so the draft has no tasks'
    )
  const fields = fieldsOf(manifest, extension, warnings)
  const unknown = await unknownBackends(db, [...backendsOf(definition ?? emptyDefinition), ...(fields.backends ?? [])])
  for (const slug of unknown)
    warnings.push(`No backend is called ${JSON.stringify(slug)} here: name another one before you run the capsule`)
  warnings.push(...(await attestationWarnings(db, read)))
  const sealed = isSealed(read)
  return {
    capsule: {
      ...fields,
      ...(fields.backends && { backends: fields.backends.filter((slug) => !unknown.includes(slug)) }),
      definition: definition ?? emptyDefinition,
      derivedFrom: sealed ? read.capsuleDigest : parentOf(manifest),
      imported: {
        capsule_digest: sealed ? read.capsuleDigest : null,
        name: cut(String(manifest.name), NAME_MAX),
        sealed_at: sealed && typeof manifest.sealed_at === 'string' ? cut(manifest.sealed_at, 50) : null
      }
    },
    warnings
  }
}

const isSealed = ({ manifest, checksums }: ReadPackage): boolean =>
  checksums !== null && (manifest.lifecycle_state === 'sealed' || manifest.lifecycle_state === 'archived')

const parentOf = ({ derived_from: parent }: Manifest): string | null =>
  typeof parent === 'string' && /^mqc:1:[0-9a-f]{64}$/.test(parent) ? parent : null

/** Names and texts are held to the limits of a new capsule; what exceeds them is cut, with a warning. */
function fieldsOf(manifest: Manifest, extension: Record<string, unknown> | null, warnings: string[]) {
  const kept = (what: string, text: string, most: number): string => {
    if ([...text].length > most) warnings.push(`${what}: was cut to ${most} characters`)
    return cut(text, most)
  }
  const name = kept('name', textOf(manifest.name).trim(), NAME_MAX)
  const tags = textsOf(manifest.tags).filter((tag) => tag !== '')
  const fitting = tags.filter((tag) => [...tag].length <= TAG_MAX).slice(0, TAGS_MAX)
  if (fitting.length < tags.length)
    warnings.push(`tags: ${tags.length - fitting.length} were left out; ten of ${TAG_MAX} characters are possible`)
  const backends = extension
    ? textsOf(extension.backends)
        .filter((slug) => slug !== '' && slug.length <= 100)
        .slice(0, BACKENDS_MAX)
    : undefined
  return {
    name: name === '' ? 'imported capsule' : name,
    description: kept('description', textOf(manifest.description), DESCRIPTION_MAX),
    tags: fitting,
    ...(backends && { backends }),
    maxBudget: budgetOf(manifest.max_budget_usd, warnings),
    retentionYears: yearsOf(extension?.retention_years, warnings),
    regulatoryFramework:
      typeof extension?.regulatory_framework === 'string'
        ? kept('regulatory_framework', extension.regulatory_framework, TEXT_MAX)
        : null
  }
}

function budgetOf(usd: unknown, warnings: string[]) {
  if (usd === undefined || usd === null) return null
  const micro = typeof usd === 'number' && usd >= 0 && usd <= 500 ? microFromUsd(usd) : null
  if (micro === null) warnings.push('max_budget_usd: was left out; it must be an amount from 0 to 500 USD')
  return micro
}

function yearsOf(years: unknown, warnings: string[]): number | null {
  if (years === undefined || years === null) return null
  if (Number.isInteger(years) && (years as number) >= 1 && (years as number) <= 100) return years as number
  warnings.push('retention_years: was left out; it must be a whole number from 1 to 100')
  return null
}

/** The definition, byte for byte, of a package that this service made; it is checked like any input from outside. */
async function definitionIn(
  db: DbOrTx,
  caller: Caller,
  { files }: ReadPackage,
  extension: Record<string, unknown>,
  warnings: string[]
): Promise<CapsuleDefinition> {
  const file = files.find(({ name }) => name === DEFINITION_NAME)
  if (!file) throw validationError(`${DEFINITION_NAME}: is missing, and capsule.yaml names it`)
  const text = file.content.toString('utf8')
  if (extension.definition_sha256 !== definitionDigest(text))
    throw validationError(`${DEFINITION_NAME}: does not match its SHA-256 in capsule.yaml (definition_sha256)`)
  const value = parsed(text, DEFINITION_NAME)
  const problem = findForbiddenJson(withoutParameters(value))
  if (problem) throw validationError(`${DEFINITION_NAME}: ${problem}`)
  const definition = within(() => assertDefinition(value))
  for (const [place, task] of definition.tasks.entries()) assertParameters(task, place)
  const tasks: CapsuleTask[] = []
  for (const task of definition.tasks) tasks.push(await withKnownScript(db, caller, task, warnings))
  return { tasks }
}

/** @throws ServiceError for text that is not JSON, and for text that is nested too deep, before any recursive code reads it. */
function parsed(text: string, where: string): unknown {
  if (text.length > DEFINITION_BYTES_MAX)
    throw validationError(`${where}: is larger than ${DEFINITION_BYTES_MAX} bytes`)
  if (jsonDepth(text) > DEPTH_MAX) throw validationError(`${where}: is nested deeper than ${DEPTH_MAX} levels`)
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw validationError(`${where}: is not JSON`, error)
  }
}

/** How deep brackets are nested in text that may not be JSON. */
function jsonDepth(text: string): number {
  let [depth, deepest, quoted] = [0, 0, false]
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (quoted && character === '\\') at++
    else if (character === '"') quoted = !quoted
    else if (quoted) continue
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth)
    else if (character === '}' || character === ']') depth--
  }
  return deepest
}

function within<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (error instanceof ServiceError) throw validationError(`${DEFINITION_NAME}: ${error.message}`)
    throw error
  }
}

/** Leaves out the parameters, which are checked task by task: each job can have as many values as one body. */
function withoutParameters(value: unknown): unknown {
  const tasks = recordOf(value)?.tasks
  if (!Array.isArray(tasks)) return value
  return {
    ...(value as object),
    tasks: tasks.map((task) =>
      recordOf(task) ? { ...(task as object), parameters: null, parameters_text: null } : task
    )
  }
}

function assertParameters({ parameters, parameters_text: text }: CapsuleTask, place: number): void {
  const where = `${DEFINITION_NAME}: definition.tasks[${place}].parameters`
  const problem = findForbiddenJson(text === undefined ? parameters : withoutNumbers(parameters))
  if (problem) throw validationError(`${where}.${problem}`)
}

/** Replaces numbers, because a package can hold numbers that a body cannot. Its input is never deeply nested. */
const withoutNumbers = (value: unknown): unknown =>
  typeof value === 'number'
    ? 0
    : Array.isArray(value)
      ? value.map(withoutNumbers)
      : typeof value === 'object' && value !== null
        ? Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withoutNumbers(child)]))
        : value

/**
 * Keeps the reference to a script if the caller can read it and that version has exactly this source; otherwise keeps only the
 * source.
 */
async function withKnownScript(
  db: DbOrTx,
  caller: Caller,
  task: CapsuleTask,
  warnings: string[]
): Promise<CapsuleTask> {
  const { source } = task
  if (source.kind !== 'script') return task
  const version = (await loadScript(db, caller, source.script_id))
    ? await loadScriptVersion(db, source.script_id, source.script_version)
    : null
  if (version?.content === source.text) return task
  warnings.push(
    `${task.name}: its script is not one that you can read here in this version; the source in the package is kept instead`
  )
  return { ...task, source: { kind: 'inline', framework: source.framework, text: source.text } }
}

async function unknownBackends(db: DbOrTx, slugs: readonly string[]): Promise<string[]> {
  const unknown: string[] = []
  for (const slug of new Set(slugs)) if (!(await findBackend(db, slug))) unknown.push(slug)
  return unknown
}

/** A draft needs no attestation, so one that does not hold gives only a warning. */
async function attestationWarnings(db: DbOrTx, read: ReadPackage): Promise<string[]> {
  if (read.envelope === null) return []
  const keys: string[] = []
  for (const keyId of keyIdsIn(read.envelope)) {
    const key = await findSigningKey(db, keyId)
    if (key) keys.push(key.publicKeyPem)
  }
  if (keys.length === 0)
    return [
      'The attestation in the package was not checked: it is signed with a key that does not belong to this service'
    ]
  const { checks } = verifyPackage(read, { publicKeyPem: keys.join('\n') })
  const attestation = checks.find(({ check }) => check === 'attestation')
  return attestation?.ok === true
    ? []
    : [`The attestation in the package does not hold: ${attestation?.detail ?? 'it could not be checked'}`]
}

/** The key ids that an envelope's first eight signatures name; further signatures are not checked. */
function keyIdsIn(envelope: string): string[] {
  try {
    const { signatures } = JSON.parse(envelope) as { signatures: { keyid?: unknown }[] }
    return textsOf(signatures.slice(0, 8).map(({ keyid }) => keyid)).filter((id) => /^[0-9a-f]{16}$/.test(id))
  } catch {
    // The envelope does not have the expected form.
    return []
  }
}

const recordOf = (value: unknown): Record<string, unknown> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : []

/** Cuts by characters, which the limits count. */
const cut = (text: string, most: number): string => [...text].slice(0, most).join('')
