// Limits that the operator sets for the whole installation and the database's queries apply (db/operator-limit.ts).
import { readRetentionCap } from '../capsules/capsule-fields.js'
import { readStorageDefault } from '../teams/team-storage.js'

export interface OperatorLimits {
  /** Bytes that a team can store, where administrators have set no other limit (db/teams/team-storage.ts). */
  teamStorageMax: number
  /** The longest retention that a capsule can have (db/capsules/capsule-changes.ts). */
  retentionYearsMax: number
}

/** @throws Error naming the variable that is malformed. */
export const readOperatorLimits = (env: Readonly<Record<string, string | undefined>>): OperatorLimits => ({
  teamStorageMax: readStorageDefault(env.TEAM_STORAGE_MAX_MIB),
  retentionYearsMax: readRetentionCap(env.RETENTION_YEARS_MAX)
})
