// Platform administration of storage: what a team stores, and its limit.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { changeStorageLimit } from '../../../db/admin/administration.js'
import { storageOf } from '../../../db/teams/team-storage.js'
import { teamExists } from '../../../db/teams/teams.js'
import { ServiceError } from '../../../domain/errors.js'
import { teamStorageView } from '../../../domain/operations/administration.js'
import { STORAGE_LIMIT_MAX, type StorageKind, storageKindNames } from '../../../domain/teams/team-storage.js'
import type { ApiDeps } from '../deps.js'
import { userOf } from '../http/access.js'
import { count, json, uuid } from '../http/response.js'

const Storage = Type.Object(
  {
    team_id: uuid,
    used_bytes: count,
    limit_bytes: count,
    by_kind: Type.Object(
      Object.fromEntries(storageKindNames.map((kind) => [kind, count])) as Record<StorageKind, typeof count>
    )
  },
  { $id: 'TeamStorage' }
)

const TeamId = Type.Object({ id: Type.String({ format: 'uuid' }) })

export const adminStorageRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/admin/teams/:id/storage',
    {
      schema: {
        tags: ['administration'],
        summary: 'What a team stores and can store, in bytes',
        params: TeamId,
        response: { 200: json('The storage', Storage) }
      }
    },
    async (request) => {
      const { id } = request.params
      if (!(await teamExists(db, id))) throw new ServiceError('not_found', 'no such team')
      return teamStorageView(id, await storageOf(db, id))
    }
  )

  app.put(
    '/api/admin/teams/:id/storage',
    {
      schema: {
        tags: ['administration'],
        summary: 'Set how many bytes a team can store; what it stores already stays',
        params: TeamId,
        body: Type.Object(
          {
            limit_bytes: Type.Union([Type.Integer({ minimum: 0, maximum: STORAGE_LIMIT_MAX }), Type.Null()], {
              description: 'null: the default of the installation'
            })
          },
          { additionalProperties: false }
        ),
        response: { 200: json('The storage', Storage) }
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => {
        const { id } = request.params
        return {
          body: teamStorageView(id, await changeStorageLimit(tx, userOf(request), id, request.body.limit_bytes))
        }
      })
  )
}
