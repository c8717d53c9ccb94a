// `qjob audit verify --database`: verifies audit trails against the database and the checkpoints stored outside it.
import { existsSync } from 'node:fs'
import type { DbOrTx } from '../../../../db/client.js'
import { teamsWithTrails } from '../../../../db/proofs/audit-verify.js'
import type { KeptCheckpoints } from '../../../../domain/audit/audit-checkpoint.js'
import { keyFaults, proveAudit } from '../../../../services/audit/audit-proof.js'
import { CONTENT_STORE_PLACE, checkpointPlace } from '../../../../services/audit/checkpoint-place.js'
import type { KeyRing } from '../../../../services/keys/key-ring.js'
import { checkpointsFile } from '../../stack/checkpoints-file.js'
import { dataFolder } from '../../stack/project.js'
import { readSecretKeys } from '../../stack/secret-keys.js'
import { CliError } from '../../terminal/cli-error.js'
import { inDatabase } from './admin-database.js'
import { readRing } from './rotate-keys.js'

export interface TrailReport {
  team_id: string
  ok: boolean
  entries: number
  head: { seq: number; hash: string }
  first_broken: { seq: number; reason: string } | null
  checkpoints: number
  signed_up_to: number
  seals: number
}

export interface DatabaseReport {
  ok: boolean
  /** The file, or `content-store`; `null` if there was neither. */
  checkpoints_file: string | null
  /** Lines of the file, or objects of the store, without a checkpoint. */
  unreadable_lines: number[]
  /** Whether the keys are proven to be this installation's: the key ring opens their private halves. */
  keys_proven: boolean
  /** Signing keys in the database that are not proven to be this installation's. */
  suspect_keys: { key_id: string; reason: string }[]
  teams: TrailReport[]
}

/**
 * @param team one team. Default: every team with a trail or an outside checkpoint.
 * @param file of checkpoints. Default: where AUDIT_CHECKPOINTS_FILE says, or the file in the stack's data folder, if it exists.
 */
export async function verifyDatabase(team: string | undefined, file: string | undefined): Promise<DatabaseReport> {
  const dataDir = dataFolder()
  const named = file ?? (process.env.AUDIT_CHECKPOINTS_FILE?.trim() || null)
  const place = named ?? defaultFile(dataDir)
  const keyRing = ringIfThere(dataDir)
  return inDatabase(async ({ db }) => {
    const outside =
      place === null ? null : await read(db, place, file === undefined ? 'AUDIT_CHECKPOINTS_FILE' : '--checkpoints')
    const known = await teamsWithTrails(db, [...(outside?.byTeam.keys() ?? [])])
    const ids = team ? [team.toLowerCase()] : known
    if (team && !known.includes(ids[0]!))
      throw new CliError('usage', `--team: no trail, checkpoint or capsule belongs to team ${team}`)
    const suspect = await keyFaults(db, keyRing)
    const teams: TrailReport[] = []
    for (const id of ids) {
      const report = await proveAudit(db, id, { keyRing, exported: outside?.byTeam.get(id) ?? [] })
      const { firstBroken, signedUpTo, ...rest } = report
      teams.push({ team_id: id, ...rest, first_broken: firstBroken, signed_up_to: signedUpTo })
    }
    return {
      ok: teams.every(({ ok }) => ok) && suspect.length === 0,
      checkpoints_file: place,
      unreadable_lines: outside?.unreadable ?? [],
      keys_proven: keyRing !== null,
      suspect_keys: suspect.map(({ keyId, reason }) => ({ key_id: keyId, reason })),
      teams
    }
  })
}

function defaultFile(dataDir: string): string | null {
  const path = checkpointsFile(dataDir)
  return existsSync(path) ? path : null
}

/** Checkpoints that were named but cannot be read are an error, never skipped. */
async function read(db: DbOrTx, place: string, name: string): Promise<KeptCheckpoints> {
  const found = await checkpointPlace(place, db)
    .read()
    .catch((error: NodeJS.ErrnoException) => {
      if (place === CONTENT_STORE_PLACE) throw error
      throw new CliError('usage', `${name}: ${place} cannot be read (${error.code})`)
    })
  if (found) return found
  throw new CliError(
    'usage',
    place === CONTENT_STORE_PLACE
      ? `${name}: the content store has no checkpoint`
      : `${name}: ${place} cannot be read (ENOENT)`
  )
}

/** With only a copy of the database, everything except the keys can be verified. */
const ringIfThere = (dataDir: string): KeyRing | null =>
  process.env.SECRETS_KEYS?.trim() || readSecretKeys(dataDir) ? readRing(dataDir) : null
