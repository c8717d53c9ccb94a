// One file of a capsule's evidence: GET /api/capsules/:id/files/:name. The public ones are in public-capsule-files.ts.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { findFile } from '../../../db/capsules/capsule-evidence.js'
import { loadReadableCapsule } from '../../../db/capsules/capsules.js'
import type { DbOrTx } from '../../../db/client.js'
import { ServiceError } from '../../../domain/errors.js'
import type { ApiDeps } from '../deps.js'
import { callerOf } from '../http/access.js'
import { isKnown } from '../http/entity-tag.js'
import { empty, media, type Sent, sent } from '../http/response.js'
import { noSuchCapsule } from './capsule-access.js'

export const FileName = Type.String({ description: 'A name of `evidence.artifacts`, with %2F for each /' })

export const fileResponses = {
  200: media('The bytes, with their own media type, as a download', '*/*', ['ETag']),
  304: empty('Unchanged: If-None-Match names its ETag', ['ETag'])
}

export const capsuleFileRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/capsules/:id/files/:name',
    {
      schema: {
        tags: ['capsules'],
        summary: 'One file of the evidence of a capsule',
        description:
          'Of a capsule of your teams, or a published one. The ETag is the SHA-256; with If-None-Match 304 when it is the same.',
        params: Type.Object({ id: Type.String({ format: 'uuid' }), name: FileName }),
        response: fileResponses,
        errors: ['service_busy', 'content_store_unavailable']
      }
    },
    async (request, reply) => {
      const { id, name } = request.params
      const capsule = await loadReadableCapsule(db, callerOf(request), id)
      if (!capsule) throw noSuchCapsule()
      return sendFile(app, db, request, reply, { capsuleId: capsule.id, name })
    }
  )
}

/** @throws ServiceError `not_found`, `service_busy`. */
export async function sendFile(
  app: Pick<FastifyInstance, 'large'>,
  db: DbOrTx,
  request: FastifyRequest,
  response: unknown,
  { capsuleId, name }: { capsuleId: string; name: string }
): Promise<Sent> {
  const file = await findFile(db, capsuleId, name)
  if (!file)
    throw new ServiceError('not_found', 'no such file; the record of the capsule lists them in evidence.artifacts')
  const reply = response as FastifyReply
  const tag = `"${file.sha256}"`
  reply.header('etag', tag).header('cache-control', 'private, no-cache')
  if (isKnown(request.headers['if-none-match'], tag)) return sent(reply.code(304).send())
  reply.type(file.mediaType).header('content-disposition', `attachment; filename="${plainName(file.name)}"`)
  return app.large.sendStored(request, reply, file.stored)
}

/** The last part of a path, in letters that every file system takes. */
const plainName = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/[^A-Za-z0-9._-]/g, '_')
