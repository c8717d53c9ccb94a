// What platform administrators see of teams, users, access codes and administrative actions: one shape for the API and
// for `qjob admin`. No view contains a hash or a token.
import type { TeamStorage } from '../teams/team-storage.js'

/** The actions of administrators, as the audit names them. */
export const adminActions = [
  'access_code.create',
  'backend.change',
  'capsule.takedown',
  'job.cancel',
  'job.settle',
  'signing_key.rotate',
  'team.budget',
  'team.limits',
  'team.storage',
  'team.suspend',
  'team.unsuspend',
  'user.grant'
] as const
export type AdminAction = (typeof adminActions)[number]

export interface TeamSummary {
  id: string
  name: string
  /** `null` once the team is deleted. */
  owner: { id: string; email: string } | null
  members: number
  suspendedAt: Date | null
  suspendedReason: string | null
  /** Limits of this team alone; `null` for those of the installation. */
  runningJobsMax: number | null
  slotsMax: number | null
  deletedAt: Date | null
  createdAt: Date
}

/** The limits of one team that administrators set; `null` removes one, and what is left out stays. */
export interface TeamLimits {
  runningJobsMax?: number | null
  slotsMax?: number | null
}

export interface UserSummary {
  id: string
  email: string
  username: string
  displayName: string | null
  isPlatformAdmin: boolean
  emailVerifiedAt: Date | null
  /** How many teams the user is a member of. */
  teams: number
  /** When the user's newest session was last used. */
  lastSeenAt: Date | null
  createdAt: Date
}

export interface AccessCode {
  code: string
  remainingUses: number
  expiresAt: Date | null
  createdAt: Date
}

export interface AuditEntry {
  id: string
  at: Date
  /** The id is null for an action at the command line, whose actor is known only by access to the database. */
  actor: { id: string | null; email: string }
  action: AdminAction
  /** What the action changed: the id of a team or a job, a backend's slug, an access code, an email address. */
  target: string
  details: Record<string, unknown>
}

export const teamView = (team: TeamSummary) => ({
  id: team.id,
  name: team.name,
  owner: team.owner,
  members: team.members,
  suspended: team.suspendedAt !== null,
  suspended_at: text(team.suspendedAt),
  suspended_reason: team.suspendedReason,
  running_jobs_max: team.runningJobsMax,
  slots_max: team.slotsMax,
  deleted_at: text(team.deletedAt),
  created_at: team.createdAt.toISOString()
})

export const userView = (user: UserSummary) => ({
  id: user.id,
  email: user.email,
  username: user.username,
  display_name: user.displayName,
  is_platform_admin: user.isPlatformAdmin,
  email_verified_at: text(user.emailVerifiedAt),
  teams: user.teams,
  last_seen_at: text(user.lastSeenAt),
  created_at: user.createdAt.toISOString()
})

export const accessCodeView = (code: AccessCode) => ({
  code: code.code,
  remaining_uses: code.remainingUses,
  expires_at: text(code.expiresAt),
  created_at: code.createdAt.toISOString()
})

export const auditEntryView = (entry: AuditEntry) => ({ ...entry, at: entry.at.toISOString() })

const text = (time: Date | null): string | null => time?.toISOString() ?? null

/** Codes that can be copied easily and need no escaping in a URL. */
export const accessCodePattern = '^[A-Za-z0-9_-]{1,64}$'
export const ACCESS_CODE_USES_MAX = 1_000_000
export const SUSPENSION_REASON_MAX = 500
/** More slots than an executor has. */
export const SLOTS_MAX = 1_000

/** What a team stores, as administrators see it. */
export const teamStorageView = (teamId: string, { used, limit, byKind }: TeamStorage) => ({
  team_id: teamId,
  used_bytes: used,
  limit_bytes: limit,
  by_kind: byKind
})
