// The format of a backup, and which backups can be restored. A backup is a tar, compressed with gzip:
//
//   head.json                  what follows, before anything of it
//   keys/secrets               the key ring, unless it was left out
//   audit-checkpoints/<piece>  the audit checkpoint file
//   database/<table>/<piece>   the rows, as Postgres' own COPY writes them
//   manifest.json              the head again, with rows and digests of everything before
//   seal.json                  the manifest's digest, sealed with a key of the key ring
//
// A table is cut into pieces because tar needs the size of each entry before its content.
import { type Static, type TSchema, Type } from 'typebox'
import { Check, Errors } from 'typebox/value'
import { validationError } from '../errors.js'

export const BACKUP_FORMAT = 'quantum-job-service backup'
/** Rises when an older version could not read what a newer one writes. */
export const BACKUP_FORMAT_VERSION = 1

export const HEAD_NAME = 'head.json'
export const KEYS_NAME = 'keys/secrets'
export const CHECKPOINTS_FOLDER = 'audit-checkpoints'
export const DATABASE_FOLDER = 'database'
export const MANIFEST_NAME = 'manifest.json'
export const SEAL_NAME = 'seal.json'

const Name = Type.String({ pattern: '^[a-z_][a-z0-9_]{0,62}$' })
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Time = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' })
const Count = Type.Integer({ minimum: 0 })

const facts = {
  format: Type.Literal(BACKUP_FORMAT),
  format_version: Type.Integer({ minimum: 1 }),
  id: Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' }),
  /** The time of the snapshot, by the database's clock. */
  created_at: Time,
  service_version: Type.String({ pattern: '^\\d{1,5}\\.\\d{1,5}\\.\\d{1,5}$' }),
  /** The name of the last migration. */
  schema: Type.String({ pattern: '^\\d{4}_[a-z0-9_]{1,60}$' }),
  postgres_version: Type.String({ maxLength: 100 }),
  /** The keys of the key ring that stored credentials and signing keys need. */
  key_ids: Type.Array(Type.String({ pattern: '^[A-Za-z0-9_-]{1,32}$' })),
  includes_keys: Type.Boolean(),
  /** When the audit checkpoint file was read, by the database's clock; `null` if there was none. */
  checkpoints_read_at: Type.Union([Time, Type.Null()]),
  /** What the backup lacks, since it is in the content store alone. Absent in a backup of a version without one. */
  contents_elsewhere: Type.Optional(Type.Object({ contents: Count, bytes: Count }))
}

const Head = Type.Object({ ...facts, tables: Type.Array(Type.Object({ name: Name, columns: Type.Array(Name) })) })
export type BackupHead = Static<typeof Head>

const Manifest = Type.Object({
  ...facts,
  tables: Type.Array(Type.Object({ name: Name, columns: Type.Array(Name), rows: Count })),
  files: Type.Array(Type.Object({ name: Type.String({ maxLength: 200 }), size_bytes: Count, sha256: Sha256 }))
})
export type BackupManifest = Static<typeof Manifest>
export type BackupFile = BackupManifest['files'][number]

const Base64 = Type.String({ pattern: '^[A-Za-z0-9+/]{1,400}={0,2}$' })
const Seal = Type.Object({ ring_key_id: Type.String(), wrapped_key: Base64, sealed_value: Base64 })
export type BackupSeal = Static<typeof Seal>

/** @throws ServiceError `validation_error` */
export const readHead = (text: string): BackupHead => read(Head, HEAD_NAME, text)
/** @throws ServiceError `validation_error` */
export const readManifest = (text: string): BackupManifest => read(Manifest, MANIFEST_NAME, text)
/** @throws ServiceError `validation_error` */
export const readSeal = (text: string): BackupSeal => read(Seal, SEAL_NAME, text)

function read<T extends TSchema>(schema: T, name: string, text: string): Static<T> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw validationError(`${name}: not valid JSON; this is not a backup of this service, or it was changed`)
  }
  if (Check(schema, value)) return value as Static<T>
  const [first] = Errors(schema, value)
  throw validationError(
    `${name}${first?.instancePath ?? ''}: ${first?.message ?? 'malformed'}; this is not a backup of this service`
  )
}

/**
 * Why this version cannot restore the backup; `null` if it can.
 * @param schemas the migrations that this version knows.
 */
export function restoreProblem(
  head: BackupHead,
  { version, schemas }: { version: string; schemas: readonly string[] }
): string | null {
  const newer = `was made by version ${head.service_version}, and this is version ${version}: restore it with version ${head.service_version} or later`
  if (head.format_version > BACKUP_FORMAT_VERSION) return `the backup ${newer}`
  if (compareVersions(head.service_version, version) > 0) return `the backup ${newer}`
  if (!schemas.includes(head.schema))
    return `the backup has the schema ${head.schema}, which this version does not know; it ${newer}`
  return null
}

/** Negative if `one` is older than `other`. */
function compareVersions(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number))
  for (const [at, part] of left!.entries()) if (part !== right![at]) return part - (right![at] ?? 0)
  return 0
}

/** Why the manifest does not describe what was read; `null` if it does. */
export function manifestProblem(
  manifest: BackupManifest,
  head: BackupHead,
  files: readonly BackupFile[]
): string | null {
  const { files: stated, tables, ...rest } = manifest
  const described = { ...rest, tables: tables.map(({ name, columns }) => ({ name, columns })) }
  const { tables: given, ...own } = head
  if (JSON.stringify(sorted(described)) !== JSON.stringify(sorted({ ...own, tables: given })))
    return `${MANIFEST_NAME} and ${HEAD_NAME} disagree`
  for (const [at, file] of files.entries()) {
    const expected = stated[at]
    if (expected?.name !== file.name) return `${file.name} is not in ${MANIFEST_NAME}`
    if (expected.size_bytes !== file.size_bytes || expected.sha256 !== file.sha256)
      return `${file.name} was changed: its digest is not the one in ${MANIFEST_NAME}`
  }
  const missing = stated[files.length]
  return missing ? `${missing.name} is missing` : null
}

const sorted = (value: object): [string, unknown][] =>
  Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))

/**
 * Tables whose rows are not backed up: a restore would bring back sessions that have been signed out since, and links to
 * a new password. Everyone signs in again instead.
 */
export const tablesLeftOut: readonly string[] = ['password_resets', 'sessions']
