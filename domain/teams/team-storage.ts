// How much a team can store, and what counts. The figures are bytes of content, before compression and without indexes.
import { ServiceError } from '../errors.js'

/** What a team's bytes are counted under, each with what it contains. */
export const storageKinds = {
  jobs: 'sources, parameters, requests and output of jobs',
  results: 'results, files and task values of jobs',
  capsules: 'definitions, evidence, seals and runs of capsules',
  scripts: 'scripts with all their versions',
  idempotency: 'responses kept for repeated requests',
  telemetry: 'reports of simulations in the browser',
  audit: 'entries of the audit trail'
} as const
export type StorageKind = keyof typeof storageKinds
export const storageKindNames = Object.keys(storageKinds) as StorageKind[]

const MIB = 1024 ** 2

/** For installations that do not set TEAM_STORAGE_MAX_MIB. */
export const STORAGE_DEFAULT_BYTES = 2_048 * MIB
/** The largest limit that can be set: a figure that JavaScript holds exactly. */
export const STORAGE_LIMIT_MAX = Number.MAX_SAFE_INTEGER

/** @throws Error naming TEAM_STORAGE_MAX_MIB. */
export function readStorageDefault(text: string | undefined): number {
  if (!text) return STORAGE_DEFAULT_BYTES
  const mib = Number(text)
  if (!/^\d{1,9}$/.test(text) || mib < 1)
    throw new Error(`TEAM_STORAGE_MAX_MIB must be a whole number of MiB from 1 upwards (got ${text})`)
  return mib * MIB
}

export interface TeamStorage {
  used: number
  limit: number
  byKind: Record<StorageKind, number>
}

/** The refusal of a write that would exceed the team's limit; `null` when it fits. @param adding bytes. */
export function storageRefusal(
  { used, limit }: Pick<TeamStorage, 'used' | 'limit'>,
  adding: number
): ServiceError | null {
  if (used + adding <= limit) return null
  return new ServiceError(
    'storage_limit_exceeded',
    `This team stores ${sizeText(used)} of the ${sizeText(limit)} that it can, and this needs ${sizeText(adding)} more. ` +
      'Delete capsules or scripts, keep results for a limited time (qjob retention), or ask a platform administrator for a higher limit; ' +
      'the usage of the team shows what is stored (qjob usage).',
    { used_bytes: used, limit_bytes: limit, requested_bytes: adding }
  )
}

/** Rounded up to a unit in which it has at most four digits. */
export function sizeText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1]
  return `${unit === 0 ? value : Math.ceil(value * 10) / 10} ${units[unit]}`
}
