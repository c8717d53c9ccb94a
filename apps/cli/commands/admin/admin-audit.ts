// `qjob audit verify --database`: verifies audit trails against the database and the checkpoints stored outside it.
import { existsSync } from 'node:fs'
import { teamsWithTrails } from '../../../../db/proofs/audit-verify.js'
import { type CheckpointFile, readCheckpoints } from '../../../../services/audit/audit-checkpoint-file.js'
import { keyFaults, proveAudit } from '../../../../services/audit/audit-proof.js'
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
  /** `null` if there was no file. */
  checkpoints_file: string | null
  /** Lines of the file without a checkpoint. */
  unreadable_lines: number[]
  /** Whether the keys are proven to be this installation's: the key ring opens their private halves. */
  keys_proven: boolean
  /** Signing keys in the database that are not proven to be this installation's. */
  suspect_keys: { key_id: string; reason: string }[]
  teams: TrailReport[]
}

/**
 * @param team one team. Default: every team with a trail or an outside checkpoint.
 * @param file of checkpoints. Default: the file in the stack's data folder, if it exists.
 */
export async function verifyDatabase(team: string | undefined, file: string | undefined): Promise<DatabaseReport> {
  const dataDir = dataFolder()
  const named = file ?? (process.env.AUDIT_CHECKPOINTS_FILE?.trim() || null)
  const path = named ?? defaultFile(dataDir)
  const outside =
    path === null ? null : await read(path, file === undefined ? 'AUDIT_CHECKPOINTS_FILE' : '--checkpoints')
  const keyRing = ringIfThere(dataDir)
  return inDatabase(async ({ db }) => {
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
      checkpoints_file: path,
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

/** A file that was named but cannot be read is an error, never skipped. */
async function read(path: string, name: string): Promise<CheckpointFile> {
  try {
    return await readCheckpoints(path)
  } catch (error) {
    throw new CliError('usage', `${name}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
}

/** With only a copy of the database, everything except the keys can be verified. */
const ringIfThere = (dataDir: string): KeyRing | null =>
  process.env.SECRETS_KEYS?.trim() || readSecretKeys(dataDir) ? readRing(dataDir) : null
