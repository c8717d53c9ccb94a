// Teams: /api/teams/*.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { leaveTeam, transferOwnership } from '../../../db/members.js'
import { createTeam, deleteTeam, renameTeam, teamsOf } from '../../../db/teams.js'
import { ServiceError } from '../../../domain/errors.js'
import type { ApiDeps } from '../deps.js'
import { callerOf, teamForWrite, userOf } from '../plugins/access.js'

const TeamId = Type.Object({ id: Type.String({ format: 'uuid' }) })
const TeamName = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }) },
  { additionalProperties: false }
)
/** Beyond this somebody fills the database. */
const TEAMS_MAX = 100

export const teamRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/teams',
    { schema: { tags: ['teams'], summary: 'Your teams, in the order of joining' } },
    async (request) => ({ teams: await teamsOf(db, callerOf(request)) })
  )

  app.post(
    '/api/teams',
    { schema: { tags: ['teams'], summary: 'Make a team; you are its owner', body: TeamName } },
    async (request, reply) => {
      const caller = callerOf(request)
      const team = await db.transaction(async (tx) => {
        if ((await teamsOf(tx, caller)).length >= TEAMS_MAX)
          throw new ServiceError('conflict', `You belong to ${TEAMS_MAX} teams, which is the most; leave one first`)
        return createTeam(tx, caller, request.body.name.trim())
      })
      return reply.code(201).send(team)
    }
  )

  app.patch(
    '/api/teams/:id',
    { schema: { tags: ['teams'], summary: 'Rename a team (owner and admins)', params: TeamId, body: TeamName } },
    async (request) => {
      const { id } = request.params
      await db.transaction(async (tx) => {
        await teamForWrite(request, tx, id)
        await renameTeam(tx, id, request.body.name.trim())
      })
      return (await teamsOf(db, callerOf(request))).find((team) => team.id === id)
    }
  )

  app.delete(
    '/api/teams/:id',
    {
      schema: {
        tags: ['teams'],
        summary: 'Delete a team (owner)',
        description: 'Its keys, credentials and webhooks are gone at once. 409 while jobs of it are under way.',
        params: TeamId
      }
    },
    async (request) => {
      await db.transaction(async (tx) => {
        await teamForWrite(request, tx, request.params.id, 'update')
        await deleteTeam(tx, request.params.id)
      })
      return { success: true }
    }
  )

  app.post(
    '/api/teams/:id/transfer',
    {
      schema: {
        tags: ['teams'],
        summary: 'Make another member the owner; you become an admin (owner)',
        params: TeamId,
        body: Type.Object({ user_id: Type.String({ format: 'uuid' }) }, { additionalProperties: false })
      }
    },
    async (request) => {
      const { id } = request.params
      await db.transaction(async (tx) => {
        await teamForWrite(request, tx, id, 'update')
        await transferOwnership(tx, id, userOf(request).id, request.body.user_id)
      })
      return (await teamsOf(db, callerOf(request))).find((team) => team.id === id)
    }
  )

  app.post(
    '/api/teams/:id/leave',
    { schema: { tags: ['teams'], summary: 'Leave a team', params: TeamId } },
    async (request) => {
      await db.transaction(async (tx) => {
        await teamForWrite(request, tx, request.params.id, 'update')
        await leaveTeam(tx, request.params.id, userOf(request).id)
      })
      return { success: true }
    }
  )
}
