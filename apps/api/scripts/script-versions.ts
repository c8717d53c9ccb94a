// The versions of a script: /api/scripts/:id/versions.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { findVersion, listVersions } from '../../../db/scripts/script-versions.js'
import { ServiceError } from '../../../domain/errors.js'
import { pageView } from '../../../domain/json/page.js'
import { VERSIONS_MAX } from '../../../domain/scripts/script.js'
import type { ApiDeps } from '../deps.js'
import { callerOf } from '../http/access.js'
import { json, pageEnd } from '../http/response.js'
import { requestedHead } from './script-access.js'
import { ScriptVersion, VersionSummary, versionItemView, versionView } from './script-view.js'

const ScriptId = Type.String({ format: 'uuid' })
const whoSees = 'Members of its team see every version, others the one that is published.'

export const scriptVersionRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps: { db } }) => {
  app.get(
    '/api/scripts/:id/versions',
    {
      schema: {
        tags: ['scripts'],
        summary: 'The versions of a script, newest first',
        description: whoSees,
        params: Type.Object({ id: ScriptId }),
        querystring: Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
          offset: Type.Integer({ minimum: 0, maximum: VERSIONS_MAX, default: 0 })
        }),
        response: {
          200: json(
            'The versions, without their sources',
            Type.Object({ versions: Type.Array(VersionSummary), ...pageEnd })
          )
        }
      }
    },
    async (request) => {
      const { limit, offset } = request.query
      const { id } = await requestedHead(db, request)
      const { rows, total } = await listVersions(db, callerOf(request), id, { limit, offset })
      return { versions: rows.map(versionItemView), ...pageView(total, { limit, offset }) }
    }
  )

  app.get(
    '/api/scripts/:id/versions/:version',
    {
      schema: {
        tags: ['scripts'],
        summary: 'A version of a script with its source',
        description: whoSees,
        params: Type.Object({ id: ScriptId, version: Type.Integer({ minimum: 1, maximum: VERSIONS_MAX }) }),
        response: { 200: json('The version', ScriptVersion) }
      }
    },
    async (request) => {
      const { id } = await requestedHead(db, request)
      const row = await findVersion(db, callerOf(request), id, request.params.version)
      if (!row) throw new ServiceError('not_found', 'no such version of this script')
      return versionView(row)
    }
  )
}
