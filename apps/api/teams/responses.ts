// Answers of teams, members and invitations.
import { Type } from 'typebox'
import {
  created,
  done,
  listOf,
  nullable,
  ok,
  oneOf,
  type ResponseSet,
  ref,
  text,
  time,
  uuid
} from '../http/response-schema.js'

const invitedRole = oneOf(['admin', 'member'])
const role = oneOf(['owner', 'admin', 'member'])
const team = ok('The team', ref('Team'))

export const teamResponses: ResponseSet = {
  schemas: {
    Team: Type.Object({
      id: uuid,
      name: text,
      role: Type.Unsafe({ ...role, description: 'Of who asks; a key is a member' }),
      suspended: Type.Boolean({ description: 'A suspended team is read-only' })
    }),
    Member: Type.Object({
      user_id: uuid,
      email: text,
      name: Type.String({ description: 'Display name, else the part of the address before the @' }),
      role,
      joined_at: time
    }),
    Invitation: Type.Object({
      id: uuid,
      email: text,
      role: invitedRole,
      status: oneOf(['pending', 'accepted', 'cancelled', 'expired']),
      message: nullable(text),
      invited_by: nullable(uuid),
      created_at: time,
      expires_at: time
    })
  },
  answers: {
    'GET /api/teams': { success: ok('Your teams', listOf('teams', 'Team')) },
    'POST /api/teams': { success: created('The team', ref('Team')), errors: ['conflict'] },
    'PATCH /api/teams/:id': { success: team },
    'DELETE /api/teams/:id': { success: done, errors: ['conflict'] },
    'POST /api/teams/:id/transfer': { success: team },
    'POST /api/teams/:id/leave': { success: done },

    'GET /api/team/members': {
      success: ok('The members', Type.Object({ team_id: nullable(uuid), members: Type.Array(ref('Member')) }))
    },
    'PATCH /api/team/members/:userId': { success: ok('The member', ref('Member')) },
    'DELETE /api/team/members/:userId': { success: done },

    'GET /api/team/invitations': { success: ok('Those that are pending', listOf('invitations', 'Invitation')) },
    'POST /api/team/invitations': { success: created('The invitation', ref('Invitation')), errors: ['conflict'] },
    'PATCH /api/team/invitations/:id': { success: ok('The invitation', ref('Invitation')), errors: ['conflict'] },
    'DELETE /api/team/invitations/:id': { success: done, errors: ['conflict'] },
    'GET /api/invitations/:token': {
      success: ok(
        'What the invitation is to',
        Type.Object({
          team: Type.Object({ id: uuid, name: text }),
          role: invitedRole,
          email: text,
          expires_at: time
        })
      )
    },
    'POST /api/invitations/:token/accept': {
      success: ok('You belong to the team', Type.Object({ team_id: uuid, role: invitedRole })),
      errors: ['team_suspended', 'conflict']
    }
  }
}
