// Members of a team: /api/team/members.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { changeRole, listMembers, type Member as MemberRow, removeMember } from '../../../db/teams/members.js'
import type { Membership } from '../../../db/teams/memberships.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { assignableRoles, roles } from '../../../domain/teams/role.js'
import type { ApiDeps } from '../deps.js'
import { readTeam, teamForWrite, userOf } from '../http/access.js'
import { done, json, nullable, success, text, time, uuid } from '../http/response.js'
import { MemberActions, memberActions } from './can/team-actions.js'

const Uuid = Type.String({ format: 'uuid' })
const MemberId = Type.Object({ userId: Uuid })

const Member = Type.Object(
  {
    user_id: uuid,
    email: text,
    name: Type.String({ description: 'Display name, else the part of the address before the @' }),
    role: oneOf(roles),
    joined_at: time,
    can: MemberActions
  },
  { $id: 'Member' }
)

const memberView =
  (request: FastifyRequest, team: Membership) =>
  ({ userId, email, name, role, joinedAt }: MemberRow): Static<typeof Member> => ({
    user_id: userId,
    email,
    name,
    role,
    joined_at: joinedAt.toISOString(),
    can: memberActions(request, team, { userId, role })
  })

export const memberRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/team/members',
    {
      schema: {
        tags: ['teams'],
        summary: 'Members of a team',
        querystring: Type.Object({ team_id: Type.Optional(Uuid) }),
        response: { 200: json('The members', Type.Object({ team_id: nullable(uuid), members: Type.Array(Member) })) }
      }
    },
    async (request) => {
      const team = await readTeam(request, db, request.query.team_id)
      if (!team) return { team_id: null, members: [] }
      return { team_id: team.id, members: (await listMembers(db, team.id)).map(memberView(request, team)) }
    }
  )

  app.patch(
    '/api/team/members/:userId',
    {
      schema: {
        tags: ['teams'],
        summary: "Change a member's role (owner and admins)",
        params: MemberId,
        body: Type.Object({ team_id: Uuid, role: oneOf(assignableRoles) }, { additionalProperties: false }),
        response: { 200: json('The member', Member) }
      }
    },
    async (request, reply) => {
      const { team_id, role } = request.body
      return app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await teamForWrite(request, tx, team_id, 'update')
        // Read before: admins can demote themselves.
        const team = (await readTeam(request, tx, teamId))!
        const member = await changeRole(tx, teamId, request.params.userId, role)
        const now = member.userId === userOf(request).id ? { ...team, role } : team
        return { body: memberView(request, now)(member) }
      })
    }
  )

  app.delete(
    '/api/team/members/:userId',
    {
      schema: {
        tags: ['teams'],
        summary: 'Remove a member (owner and admins); their API keys of this team end',
        params: MemberId,
        body: Type.Object({ team_id: Uuid }, { additionalProperties: false }),
        response: { 200: done }
      }
    },
    async (request, reply) => {
      const { team_id } = request.body
      return app.writeOnce(request, reply, async ({ tx }) => {
        await teamForWrite(request, tx, team_id, 'update')
        await removeMember(tx, team_id, request.params.userId, userOf(request).id)
        return { body: success }
      })
    }
  )
}
