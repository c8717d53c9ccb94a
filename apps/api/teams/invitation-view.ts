// An invitation as the managers of its team see it.
import { type Static, Type } from 'typebox'
import type { Invitation as InvitationRow } from '../../../db/teams/invitations.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { assignableRoles, invitationStates } from '../../../domain/teams/role.js'
import { nullable, text, time, uuid } from '../http/response.js'

export const Invitation = Type.Object(
  {
    id: uuid,
    email: text,
    role: oneOf(assignableRoles),
    status: oneOf(invitationStates),
    message: nullable(text),
    invited_by: nullable(uuid),
    created_at: time,
    expires_at: time
  },
  { $id: 'Invitation' }
)

export const invitationView = (invitation: InvitationRow): Static<typeof Invitation> => ({
  id: invitation.id,
  email: invitation.email,
  role: invitation.role,
  status: invitation.status,
  message: invitation.message,
  invited_by: invitation.invitedBy,
  created_at: invitation.createdAt.toISOString(),
  expires_at: invitation.expiresAt.toISOString()
})
