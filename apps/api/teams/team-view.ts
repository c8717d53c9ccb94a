// A team as its members see it.
import { Type } from 'typebox'
import { oneOf } from '../../../domain/json/one-of.js'
import { roles } from '../../../domain/teams/role.js'
import { nullable, text, uuid } from '../http/response.js'
import { TeamActions } from './can/team-actions.js'

export const Team = Type.Object(
  {
    id: uuid,
    name: text,
    role: oneOf(roles, 'The role of the caller; a key has the role member'),
    suspended: Type.Boolean({ description: 'A suspended team is read-only' }),
    suspended_reason: nullable(text, 'Why a platform administrator has suspended it')
  },
  { $id: 'Team' }
)

/** With what the caller can do in it. */
export const TeamRecord = Type.Object({ ...Team.properties, can: TeamActions }, { $id: 'TeamRecord' })
