// Lists what platform administrators did.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { listAdminActions } from '../../../db/admin/administration-lists.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { adminActions, auditEntryView } from '../../../domain/operations/administration.js'
import type { ApiDeps } from '../deps.js'
import { anything, json, nullable, text, time, uuid } from '../http/response.js'
import { timeOf } from '../http/validation/time-of.js'

const AuditEntry = Type.Object(
  {
    id: uuid,
    at: time,
    actor: Type.Object({ id: nullable(uuid, 'null at the command line'), email: text }),
    action: oneOf(adminActions),
    target: text,
    details: anything
  },
  { $id: 'AuditEntry' }
)

export const adminAuditRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  app.get(
    '/api/admin/audit',
    {
      schema: {
        tags: ['administration'],
        summary: 'Changes by platform administrators, newest first',
        querystring: Type.Object(
          {
            cursor: Type.Optional(Type.String({ format: 'uuid', description: 'next_cursor of the page before' })),
            action: Type.Optional(oneOf(adminActions)),
            from: Type.Optional(Type.String({ format: 'date-time' })),
            to: Type.Optional(Type.String({ format: 'date-time' })),
            limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 })
          },
          { additionalProperties: false }
        ),
        response: {
          200: json(
            'The entries',
            Type.Object({
              entries: Type.Array(AuditEntry),
              limit: Type.Integer({ minimum: 1 }),
              next_cursor: nullable(uuid)
            })
          )
        }
      }
    },
    async (request) => {
      const { cursor, action, from, to, limit } = request.query
      const { rows, more } = await listAdminActions(deps.db, {
        before: cursor,
        action,
        from: from === undefined ? undefined : timeOf('from', from),
        to: to === undefined ? undefined : timeOf('to', to),
        limit
      })
      return { entries: rows.map(auditEntryView), limit, next_cursor: more ? rows.at(-1)!.id : null }
    }
  )
}
