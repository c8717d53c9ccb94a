// What the caller can do in a team now, and with what belongs to it.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { DbOrTx } from '../../../../db/client.js'
import { deletionFaults } from '../../../../db/deletion/team-deletion.js'
import type { Membership } from '../../../../db/teams/memberships.js'
import { ServiceError } from '../../../../domain/errors.js'
import { assertMayLeave, assertRemovable, assertRoleChanges } from '../../../../domain/teams/membership.js'
import type { Role } from '../../../../domain/teams/role.js'
import { userOf } from '../../http/access.js'
import { mayIn, Verdict } from '../../http/verdict.js'

const description =
  '`true`, or the words with which a request would be refused now. Sizes and limits of requests are checked later'

export const TeamActions = Type.Object(
  {
    rename: Verdict,
    transfer: Verdict,
    leave: Verdict,
    delete: Verdict,
    invite: Verdict,
    save_credentials: Verdict,
    list_api_keys: Verdict,
    create_api_key: Verdict,
    list_webhooks: Verdict,
    create_webhook: Verdict,
    change_budget: Verdict,
    change_retention: Verdict
  },
  { $id: 'TeamActions', description }
)
export const MemberActions = Type.Object(
  { change_role: Verdict, remove: Verdict, make_owner: Verdict },
  { $id: 'MemberActions', description }
)
export const InvitationActions = Type.Object(
  { resend: Verdict, change_role: Verdict, cancel: Verdict },
  { $id: 'InvitationActions', description }
)
export const ApiKeyActions = Type.Object({ revoke: Verdict }, { $id: 'ApiKeyActions', description })
export const SecretActions = Type.Object(
  { replace: Verdict, test: Verdict, delete: Verdict },
  { $id: 'SecretActions', description }
)
export const WebhookActions = Type.Object({ test: Verdict, delete: Verdict }, { $id: 'WebhookActions', description })

/** Each of the teams with what the caller can do in it. */
export async function withTeamActions(
  db: DbOrTx,
  request: FastifyRequest,
  teams: Membership[]
): Promise<(Membership & { can: Static<typeof TeamActions> })[]> {
  const owned = teams.filter((team) => mayIn(request, team)('DELETE /api/teams/:id') === true)
  const faults = await deletionFaults(
    db,
    owned.map(({ id }) => id)
  )
  return teams.map((team) => ({ ...team, can: teamActions(request, team, faults.get(team.id) ?? null) }))
}

function teamActions(request: FastifyRequest, team: Membership, fault: string | null): Static<typeof TeamActions> {
  const may = mayIn(request, team)
  return {
    rename: may('PATCH /api/teams/:id'),
    transfer: may('POST /api/teams/:id/transfer'),
    leave: may('POST /api/teams/:id/leave', () => assertMayLeave(team.role)),
    delete: may('DELETE /api/teams/:id', () => {
      if (fault !== null) throw new ServiceError('conflict', fault)
    }),
    invite: may('POST /api/team/invitations'),
    save_credentials: may('POST /api/team/secrets'),
    list_api_keys: may('GET /api/team/api-keys'),
    create_api_key: may('POST /api/team/api-keys'),
    list_webhooks: may('GET /api/team/webhooks'),
    create_webhook: may('POST /api/team/webhooks'),
    change_budget: may('PATCH /api/team/budget'),
    change_retention: may('PATCH /api/team/retention')
  }
}

export function memberActions(
  request: FastifyRequest,
  team: Membership,
  member: { userId: string; role: Role }
): Static<typeof MemberActions> {
  const may = mayIn(request, team)
  return {
    change_role: may('PATCH /api/team/members/:userId', () => assertRoleChanges(member.role)),
    remove: may('DELETE /api/team/members/:userId', () =>
      assertRemovable(member.role, member.userId === userOf(request).id)
    ),
    make_owner: may('POST /api/teams/:id/transfer')
  }
}

export function invitationActions(request: FastifyRequest, team: Membership): Static<typeof InvitationActions> {
  const may = mayIn(request, team)
  const change = may('PATCH /api/team/invitations/:id')
  return { resend: change, change_role: change, cancel: may('DELETE /api/team/invitations/:id') }
}

export const apiKeyActions = (request: FastifyRequest, team: Membership): Static<typeof ApiKeyActions> => ({
  revoke: mayIn(request, team)('DELETE /api/team/api-keys/:id')
})

export function secretActions(request: FastifyRequest, team: Membership): Static<typeof SecretActions> {
  const may = mayIn(request, team)
  return {
    replace: may('POST /api/team/secrets'),
    test: may('POST /api/team/secrets/test'),
    delete: may('DELETE /api/team/secrets/:id')
  }
}

export function webhookActions(request: FastifyRequest, team: Membership): Static<typeof WebhookActions> {
  const may = mayIn(request, team)
  return { test: may('POST /api/team/webhooks/:id/test'), delete: may('DELETE /api/team/webhooks/:id') }
}
