// Teams: /api/teams/*.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { actorText } from '../../../db/audit/audit.js'
import type { DbOrTx } from '../../../db/client.js'
import { deleteTeam } from '../../../db/deletion/team-deletion.js'
import { leaveTeam, transferOwnership } from '../../../db/teams/members.js'
import { teamsOf } from '../../../db/teams/memberships.js'
import { createTeam, renameTeam } from '../../../db/teams/teams.js'
import { ServiceError } from '../../../domain/errors.js'
import { TEAMS_PER_USER_MAX } from '../../../domain/teams/team-limits.js'
import type { ApiDeps } from '../deps.js'
import { callerOf, teamForWrite, userOf } from '../http/access.js'
import { done, json, success } from '../http/response.js'
import { withTeamActions } from './can/team-actions.js'
import { TeamRecord } from './team-view.js'

const TeamId = Type.Object({ id: Type.String({ format: 'uuid' }) })
const TeamName = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }) },
  { additionalProperties: false }
)

export const teamRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/teams',
    {
      schema: {
        tags: ['teams'],
        summary: 'Your teams, in the order of joining',
        response: { 200: json('Your teams', Type.Object({ teams: Type.Array(TeamRecord) })) }
      }
    },
    async (request) => ({ teams: await withTeamActions(db, request, await teamsOf(db, callerOf(request))) })
  )

  app.post(
    '/api/teams',
    {
      schema: {
        tags: ['teams'],
        summary: 'Create a team; you become its owner',
        body: TeamName,
        response: { 201: json('The team', TeamRecord) },
        errors: ['conflict']
      }
    },
    async (request, reply) => {
      const caller = callerOf(request)
      return app.writeOnce(request, reply, async ({ tx }) => {
        if ((await teamsOf(tx, caller)).length >= TEAMS_PER_USER_MAX)
          throw new ServiceError(
            'conflict',
            `You belong to ${TEAMS_PER_USER_MAX} teams, which is the most; leave one first`
          )
        const made = await createTeam(tx, caller, request.body.name.trim())
        return { status: 201, body: await recordOf(request, tx, made.id) }
      })
    }
  )

  app.patch(
    '/api/teams/:id',
    {
      schema: {
        tags: ['teams'],
        summary: 'Rename a team (owner and admins)',
        params: TeamId,
        body: TeamName,
        response: { 200: json('The team', TeamRecord) }
      }
    },
    async (request, reply) => {
      const { id } = request.params
      return app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await teamForWrite(request, tx, id, 'update')
        await renameTeam(tx, id, request.body.name.trim())
        return { body: await recordOf(request, tx, teamId) }
      })
    }
  )

  app.delete(
    '/api/teams/:id',
    {
      schema: {
        tags: ['teams'],
        summary: 'Delete a team (owner)',
        description:
          'Its keys, credentials and webhooks are gone at once. 409 while jobs of it are under way, and while a sealed capsule of it is inside its retention.',
        params: TeamId,
        response: { 200: done },
        errors: ['conflict']
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => {
        await teamForWrite(request, tx, request.params.id, 'update')
        await deleteTeam(tx, request.params.id, actorText(callerOf(request)))
        return { body: success }
      })
  )

  app.post(
    '/api/teams/:id/transfer',
    {
      schema: {
        tags: ['teams'],
        summary: 'Make another member the owner; you become an admin (owner)',
        params: TeamId,
        body: Type.Object({ user_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false }),
        response: { 200: json('The team', TeamRecord) }
      }
    },
    async (request, reply) => {
      const { id } = request.params
      return app.writeOnce(request, reply, async ({ tx }) => {
        const teamId = await teamForWrite(request, tx, id, 'update')
        await transferOwnership(tx, id, userOf(request).id, request.body.user_id)
        return { body: await recordOf(request, tx, teamId) }
      })
    }
  )

  app.post(
    '/api/teams/:id/leave',
    { schema: { tags: ['teams'], summary: 'Leave a team', params: TeamId, response: { 200: done } } },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => {
        await teamForWrite(request, tx, request.params.id, 'update')
        await leaveTeam(tx, request.params.id, userOf(request).id)
        return { body: success }
      })
  )
}

/** The team as the caller sees it, read again after a change. */
async function recordOf(request: FastifyRequest, tx: DbOrTx, teamId: string): Promise<Static<typeof TeamRecord>> {
  const mine = (await teamsOf(tx, callerOf(request))).filter(({ id }) => id === teamId)
  return (await withTeamActions(tx, request, mine))[0]!
}
