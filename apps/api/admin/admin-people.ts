// Platform administration of teams and users: finding them, suspending a team and lifting its suspension.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeTeamLimits, suspendTeam, unsuspendTeam } from '../../../db/admin/administration.js'
import { searchTeams, searchUsers } from '../../../db/admin/administration-lists.js'
import { RUNNING_JOBS_MAX } from '../../../domain/jobs/dispatch.js'
import { pageView } from '../../../domain/json/page.js'
import { SLOTS_MAX, SUSPENSION_REASON_MAX, teamView, userView } from '../../../domain/operations/administration.js'
import type { ApiDeps } from '../deps.js'
import { userOf } from '../http/access.js'
import { count, json, nullable, pageEnd, text, time, uuid } from '../http/response.js'
import { searchFields } from './admin-search.js'

const AnyTeam = Type.Object(
  {
    id: uuid,
    name: text,
    owner: nullable(Type.Object({ id: uuid, email: text }), 'null once the team is deleted'),
    members: count,
    suspended: Type.Boolean(),
    suspended_at: nullable(time),
    suspended_reason: nullable(text),
    running_jobs_max: nullable(count, "null for the installation's limit"),
    slots_max: nullable(count, 'null for all slots of the executor'),
    deleted_at: nullable(time),
    created_at: time
  },
  { $id: 'AnyTeam' }
)

const AnyUser = Type.Object(
  {
    id: uuid,
    email: text,
    username: text,
    display_name: nullable(text),
    is_platform_admin: Type.Boolean(),
    email_verified_at: nullable(time),
    teams: count,
    last_seen_at: nullable(time),
    created_at: time
  },
  { $id: 'AnyUser' }
)

const limit = (maximum: number) => Type.Optional(nullable(Type.Integer({ minimum: 1, maximum })))

const TeamId = Type.Object({ id: Type.String({ format: 'uuid' }) })
const Search = Type.Object(searchFields, { additionalProperties: false })

export const adminPeopleRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/admin/teams',
    {
      schema: {
        tags: ['administration'],
        summary: "Teams, newest first; q: an id (of the team or a member), or part of the name or a member's address",
        querystring: Search,
        response: { 200: json('The teams', Type.Object({ teams: Type.Array(AnyTeam), ...pageEnd })) }
      }
    },
    async (request) => {
      const { rows, total } = await searchTeams(db, request.query)
      return { teams: rows.map(teamView), ...pageView(total, request.query) }
    }
  )

  app.get(
    '/api/admin/users',
    {
      schema: {
        tags: ['administration'],
        summary: 'Users, newest first; q: an id (of the user or a team), or part of the address, username or name',
        querystring: Search,
        response: { 200: json('The users', Type.Object({ users: Type.Array(AnyUser), ...pageEnd })) }
      }
    },
    async (request) => {
      const { rows, total } = await searchUsers(db, request.query)
      return { users: rows.map(userView), ...pageView(total, request.query) }
    }
  )

  app.patch(
    '/api/admin/teams/:id',
    {
      schema: {
        tags: ['administration'],
        summary: "Set how much a team can use at once; null restores the installation's limit, what is left out stays",
        params: TeamId,
        body: Type.Object(
          { running_jobs_max: limit(RUNNING_JOBS_MAX), slots_max: limit(SLOTS_MAX) },
          { additionalProperties: false }
        ),
        response: { 200: json('The team', AnyTeam) }
      }
    },
    async (request, reply) => {
      const { running_jobs_max: runningJobsMax, slots_max: slotsMax } = request.body
      const change = {
        ...(runningJobsMax !== undefined && { runningJobsMax }),
        ...(slotsMax !== undefined && { slotsMax })
      }
      return app.writeOnce(request, reply, async ({ tx }) => ({
        body: teamView(await changeTeamLimits(tx, userOf(request), request.params.id, change))
      }))
    }
  )

  app.post(
    '/api/admin/teams/:id/suspend',
    {
      schema: {
        tags: ['administration'],
        summary: 'Make a team read-only; running jobs continue. A repetition changes the reason and keeps the time',
        params: TeamId,
        body: Type.Object(
          { reason: Type.String({ minLength: 1, maxLength: SUSPENSION_REASON_MAX }) },
          { additionalProperties: false }
        ),
        response: { 200: json('The team', AnyTeam) }
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => ({
        body: teamView(await suspendTeam(tx, userOf(request), request.params.id, request.body.reason))
      }))
  )

  app.post(
    '/api/admin/teams/:id/unsuspend',
    {
      schema: {
        tags: ['administration'],
        summary: "Lift a team's suspension",
        params: TeamId,
        response: { 200: json('The team', AnyTeam) }
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => ({
        body: teamView(await unsuspendTeam(tx, userOf(request), request.params.id))
      }))
  )
}
