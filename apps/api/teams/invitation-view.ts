// An invitation as the managers of its team see it.
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Invitation as InvitationRow } from '../../../db/teams/invitations.js'
import type { Membership } from '../../../db/teams/memberships.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { assignableRoles, invitationStates } from '../../../domain/teams/role.js'
import { nullable, text, time, uuid } from '../http/response.js'
import { InvitationActions, invitationActions } from './can/team-actions.js'

export const Invitation = Type.Object(
  {
    id: uuid,
    email: text,
    role: oneOf(assignableRoles),
    status: oneOf(invitationStates),
    message: nullable(text),
    invited_by: nullable(uuid),
    created_at: time,
    expires_at: time,
    can: InvitationActions
  },
  { $id: 'Invitation' }
)

export const invitationView = (
  request: FastifyRequest,
  team: Membership,
  invitation: InvitationRow
): Static<typeof Invitation> => ({
  id: invitation.id,
  email: invitation.email,
  role: invitation.role,
  status: invitation.status,
  message: invitation.message,
  invited_by: invitation.invitedBy,
  created_at: invitation.createdAt.toISOString(),
  expires_at: invitation.expiresAt.toISOString(),
  can: invitationActions(request, team)
})
