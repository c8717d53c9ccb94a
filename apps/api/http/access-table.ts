// Who can call which route. A route without a line cannot be registered; access.ts enforces each line,
// and a test calls every route as every kind of caller.
import type { KeyTier } from '../../../domain/teams/api-key.js'
import type { RequestLimitName } from '../../../domain/teams/rate-limits.js'
import type { Role } from '../../../domain/teams/role.js'

export interface Access {
  /** `public` needs no credential; `session` a person; `caller` a person or a program with a key; `platform admin`. */
  who: 'public' | 'session' | 'caller' | 'platform admin'
  /** The lowest tier that a key needs, where keys are allowed. */
  tier?: KeyTier
  /** The lowest role in the team that the request is about; absent where the request is not about a team. */
  role?: Role
  /** Changes what a team owns: refused while the team is suspended. */
  write?: true
  /**
   * Every request to the route counts against this limit. Every write of a user or a key has one but signing
   * out; those of platform administrators have none.
   */
  limit?: RequestLimitName
  /**
   * A repetition under an Idempotency-Key counts too, before its body is read: reading the body is what the limit bounds.
   */
  limitsRepeats?: true
}

const open = { who: 'public' } as const
const session = { who: 'session' } as const
const readOpen = { who: 'public', limit: 'read' } as const
const readSession = { who: 'session', limit: 'read' } as const
const readTeam = { who: 'caller', tier: 'read', role: 'member', limit: 'read' } as const
const pollTeam = { ...readTeam, limit: 'poll' } as const
const writeTeam = { who: 'caller', tier: 'simulate', role: 'member', write: true } as const
const manageTeam = { who: 'session', role: 'admin', write: true } as const
const readAsAdmin = { who: 'session', role: 'admin', limit: 'read' } as const
const ownTeam = { who: 'session', role: 'owner', write: true } as const
const platformRead = { who: 'platform admin', limit: 'read' } as const
const platformWrite = { who: 'platform admin' } as const

const table = {
  // The service about itself: probes have no limit.
  'GET /': open,
  'GET /healthz': open,
  'GET /readyz': open,
  'GET /openapi.json': open,
  // The console's page and assets. Its requests have lines of their own.
  'GET /assets/*': open,
  'GET /invitations/:token': open,
  'GET /reset-password/:token': open,
  // It reads the capsule whose title a shared link shows.
  'GET /public/:slug': readOpen,
  'GET /api/meta': readOpen,
  'GET /api/meta/keys': readOpen,
  'GET /api/meta/providers': readOpen,
  'GET /api/backends': readOpen,
  'GET /api/backends/:slug': readOpen,

  'POST /api/auth/validate-code': { who: 'public', limit: 'validateCode' },
  'POST /api/auth/sign-up': { who: 'public', limit: 'signUp' },
  'POST /api/auth/sign-in': { who: 'public', limit: 'signIn' },
  'POST /api/auth/forgot-password': { who: 'public', limit: 'signIn' },
  'POST /api/auth/reset-password': { who: 'public', limit: 'signIn' },
  'GET /api/auth/oidc/start': readOpen,
  'GET /api/auth/oidc/callback': readOpen,
  'GET /api/auth/session': readSession,
  'GET /api/auth/sessions': readSession,
  'DELETE /api/auth/sessions/:id': { who: 'session', limit: 'profile' },
  'POST /api/auth/sign-out': session,
  'POST /api/auth/change-password': { who: 'session', limit: 'profile' },

  'GET /api/profile': readSession,
  'PATCH /api/profile': { who: 'session', limit: 'profile' },
  'DELETE /api/profile': { who: 'session', limit: 'profile' },
  'GET /api/profile/deletion': readSession,
  'GET /api/profiles/:username': readOpen,

  'GET /api/teams': { who: 'caller', tier: 'read', limit: 'read' },
  'POST /api/teams': { who: 'session', limit: 'teamWrite' },
  'PATCH /api/teams/:id': { ...manageTeam, limit: 'teamWrite' },
  'DELETE /api/teams/:id': { ...ownTeam, limit: 'teamWrite' },
  'POST /api/teams/:id/transfer': { ...ownTeam, limit: 'members' },
  'POST /api/teams/:id/leave': { who: 'session', role: 'member', write: true, limit: 'members' },
  // Each event is for the members of its team alone (apps/api/jobs/feed).
  'GET /api/events': { who: 'caller', tier: 'read', limit: 'poll' },
  'GET /api/team/members': readTeam,
  'PATCH /api/team/members/:userId': { ...manageTeam, limit: 'members' },
  'DELETE /api/team/members/:userId': { ...manageTeam, limit: 'members' },
  'GET /api/team/invitations': readTeam,
  'POST /api/team/invitations': { ...manageTeam, limit: 'invitations' },
  'PATCH /api/team/invitations/:id': { ...manageTeam, limit: 'invitations' },
  'DELETE /api/team/invitations/:id': { ...manageTeam, limit: 'invitations' },
  'GET /api/invitations/:token': readOpen,
  'POST /api/invitations/:token/accept': { who: 'session', limit: 'teamWrite' },
  'GET /api/team/api-keys': readAsAdmin,
  'POST /api/team/api-keys': { ...manageTeam, limit: 'apiKeys' },
  'DELETE /api/team/api-keys/:id': { ...manageTeam, limit: 'apiKeys' },
  'GET /api/team/secrets': readTeam,
  'POST /api/team/secrets': { ...manageTeam, limit: 'secrets' },
  'POST /api/team/secrets/test': { ...manageTeam, limit: 'secrets' },
  'DELETE /api/team/secrets/:id': { ...manageTeam, limit: 'secrets' },
  'GET /api/team/webhooks': readAsAdmin,
  'POST /api/team/webhooks': { ...manageTeam, limit: 'webhooks' },
  'DELETE /api/team/webhooks/:id': { ...manageTeam, limit: 'webhooks' },
  'GET /api/team/webhooks/:id/deliveries': readAsAdmin,
  'POST /api/team/webhooks/:id/test': { ...manageTeam, limit: 'webhooks' },
  'POST /api/team/webhooks/:id/deliveries/:deliveryId/again': { ...manageTeam, limit: 'webhooks' },
  'GET /api/team/budget': readTeam,
  'PATCH /api/team/budget': { ...ownTeam, limit: 'teamWrite' },
  'GET /api/team/usage': readTeam,
  'GET /api/team/retention': readTeam,
  'PATCH /api/team/retention': { ...ownTeam, limit: 'teamWrite' },
  'GET /api/team/audit': readTeam,
  'GET /api/team/audit/verify': readTeam,

  'POST /api/jobs/submit': { ...writeTeam, limit: 'submit' },
  'GET /api/jobs': readTeam,
  'GET /api/jobs/estimate': readTeam,
  'POST /api/jobs/estimate': readTeam,
  'GET /api/jobs/destinations': readTeam,
  'POST /api/jobs/destinations': readTeam,
  'GET /api/jobs/managed-runtimes': readTeam,
  'POST /api/jobs/compare': { ...readTeam, limit: 'compare' },
  'GET /api/jobs/:id': readTeam,
  'GET /api/jobs/:id/result': readTeam,
  'GET /api/jobs/:id/status': pollTeam,
  'GET /api/jobs/:id/attempts': readTeam,
  'GET /api/jobs/:id/artifacts': readTeam,
  'GET /api/jobs/:id/artifacts/:name': readTeam,
  'GET /api/jobs/:id/source': readTeam,
  'GET /api/jobs/:id/tasks': readTeam,
  'GET /api/jobs/:id/events': pollTeam,
  'POST /api/jobs/:id/cancel': { ...writeTeam, limit: 'cancel' },
  'POST /api/jobs/:id/rerun': { ...writeTeam, limit: 'submit' },

  'GET /api/scripts': readTeam,
  'POST /api/scripts': { ...writeTeam, limit: 'scriptWrite' },
  'POST /api/scripts/upload': { ...writeTeam, limit: 'scriptUpload' },
  'GET /api/scripts/:id': readTeam,
  'PATCH /api/scripts/:id': { ...writeTeam, limit: 'scriptWrite' },
  'DELETE /api/scripts/:id': { ...writeTeam, limit: 'scriptWrite' },
  'POST /api/scripts/:id/publish': { ...writeTeam, limit: 'scriptWrite' },
  'GET /api/scripts/:id/versions': readTeam,
  'GET /api/scripts/:id/versions/:version': readTeam,
  'GET /api/scripts/:id/execution-options': readTeam,
  'POST /api/scripts/:id/analyse': { ...writeTeam, limit: 'scriptAnalyse' },

  'POST /api/capsules/create': { ...writeTeam, limit: 'capsuleCreate' },
  'POST /api/capsules/from-job': { ...writeTeam, limit: 'capsuleCreate' },
  'GET /api/capsules': readTeam,
  'GET /api/capsules/public': readOpen,
  'GET /api/capsules/public/:slug': readOpen,
  'GET /api/capsules/public/:slug/export': readOpen,
  'GET /api/capsules/public/:slug/attestation': readOpen,
  'GET /api/capsules/public/:slug/files/:name': readOpen,
  'GET /api/capsules/public/:slug/verifications': readOpen,
  'GET /api/capsules/:id': readTeam,
  'PATCH /api/capsules/:id': { ...writeTeam, limit: 'capsuleWrite' },
  'DELETE /api/capsules/:id': { ...writeTeam, limit: 'capsuleWrite' },
  'POST /api/capsules/:id/seal': { ...writeTeam, limit: 'capsuleSeal' },
  'POST /api/capsules/:id/publish': { ...writeTeam, limit: 'capsuleWrite' },
  'POST /api/capsules/:id/archive': { ...writeTeam, limit: 'capsuleWrite' },
  'POST /api/capsules/:id/clone': { ...writeTeam, limit: 'capsuleCreate' },
  'GET /api/capsules/:id/audit': readTeam,
  'POST /api/capsules/:id/run': { ...writeTeam, limit: 'submit' },
  'GET /api/capsules/:id/runs': readTeam,
  'GET /api/capsules/:id/runs/:runId': readTeam,
  // A schedule outlives the request: a key may set one only as far as it could pay for the runs (apps/api/capsules/capsule-schedule.ts).
  'PUT /api/capsules/:id/schedule': { ...writeTeam, limit: 'capsuleWrite' },
  'GET /api/capsules/:id/schedule': readTeam,
  'DELETE /api/capsules/:id/schedule': { ...writeTeam, limit: 'capsuleWrite' },
  'POST /api/capsules/:id/schedule/backfill': { ...writeTeam, limit: 'capsuleWrite' },
  'GET /api/capsules/:id/verifications': readTeam,
  'GET /api/schedules/preview': { who: 'caller', tier: 'read', limit: 'read' },
  // Published capsules are open to every caller.
  'GET /api/capsules/:id/export': readTeam,
  'GET /api/capsules/:id/attestation': readTeam,
  'GET /api/capsules/:id/files/:name': readTeam,
  'POST /api/capsules/import': { ...writeTeam, limit: 'capsuleImport', limitsRepeats: true },
  'POST /api/capsules/upload': { ...writeTeam, limit: 'capsuleCreate' },

  'POST /api/playground/run': { ...writeTeam, limit: 'submit' },
  'POST /api/playground/convert': { ...writeTeam, limit: 'submit' },
  'POST /api/playground/telemetry': { ...writeTeam, limit: 'telemetry' },

  'PATCH /api/admin/teams/:id': platformWrite,
  'POST /api/admin/teams/:id/suspend': platformWrite,
  'POST /api/admin/teams/:id/unsuspend': platformWrite,
  'GET /api/admin/teams/:id/budgets': platformRead,
  'PUT /api/admin/teams/:id/budgets': platformWrite,
  'GET /api/admin/teams/:id/storage': platformRead,
  'PUT /api/admin/teams/:id/storage': platformWrite,
  'GET /api/admin/access-codes': platformRead,
  'POST /api/admin/access-codes': platformWrite,
  'PATCH /api/admin/backends/:slug': platformWrite,
  'GET /api/admin/teams': platformRead,
  'GET /api/admin/users': platformRead,
  'GET /api/admin/jobs': platformRead,
  'GET /api/admin/jobs/:id': platformRead,
  'POST /api/admin/jobs/:id/cancel': platformWrite,
  'POST /api/admin/jobs/:id/settle': platformWrite,
  'POST /api/admin/capsules/:id/takedown': platformWrite,
  'GET /api/admin/money': platformRead,
  'GET /api/admin/audit': platformRead,
  'GET /api/admin/system': platformRead
} satisfies Readonly<Record<string, Access>>

export const accessTable: Readonly<Record<string, Access>> = table

/** A route: its method and its path. */
export type RouteLine = keyof typeof table

/** Returns the line of a registered route; pages of the documentation are public. HEAD follows GET. */
export function accessTo(method: string, path: string): Access | null {
  if (path === '/docs' || path.startsWith('/docs/')) return open
  const line = `${method === 'HEAD' ? 'GET' : method} ${path}`
  return Object.hasOwn(accessTable, line) ? accessTable[line]! : null
}
