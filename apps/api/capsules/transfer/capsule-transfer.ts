// Capsules exported as files: packages and attestations. Imports are in capsule-imports.ts.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import { evidenceSize } from '../../../../db/capsules/capsule-evidence.js'
import { loadReadableCapsule } from '../../../../db/capsules/capsules.js'
import type { ApiDeps } from '../../deps.js'
import { callerOf } from '../../http/access.js'
import { exportBytes } from '../../http/memory.js'
import { type JsonText, json, media, sendJson, text } from '../../http/response.js'
import { noSuchCapsule } from '../capsule-access.js'
import { CapsuleId } from '../capsules.js'
import { capsuleImportRoutes } from './capsule-imports.js'
import { attestationOf, type ExportFormat, exportCapsule, exportFormats } from './export-capsule.js'

export const Envelope = Type.Object({
  payload: text,
  payloadType: Type.Literal('application/vnd.in-toto+json'),
  signatures: Type.Array(Type.Object({ keyid: text, sig: text }))
})

export const ExportFormatName = Type.Unsafe<ExportFormat>({
  type: 'string',
  enum: [...exportFormats],
  default: 'capsule'
})

export const capsuleTransferRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps
  await app.register(capsuleImportRoutes, { deps })

  app.get(
    '/api/capsules/:id/export',
    {
      schema: {
        tags: ['capsules'],
        summary: 'A capsule as a file, the same bytes each time',
        description:
          'capsule: gzip tar in the open format, docs/capsules/capsule-format.md. rocrate: a zip with RO-Crate metadata and the signed ' +
          'attestation. What is not sealed carries no digest.',
        params: CapsuleId,
        querystring: Type.Object({ format: ExportFormatName }),
        response: { 200: media('The package, as a download', '*/*') },
        errors: ['service_busy', 'content_store_unavailable']
      }
    },
    async (request, reply) => {
      const capsule = await readableCapsule(deps, request)
      await app.large.hold(request, reply, exportBytes(await evidenceSize(db, capsule.id)), 'packages')
      const { fileName, mediaType, content } = await exportCapsule(db, capsule, request.query.format)
      reply.type(mediaType).header('content-disposition', `attachment; filename="${fileName}"`)
      return app.large.timed(content)
    }
  )

  app.get(
    '/api/capsules/:id/attestation',
    {
      schema: {
        tags: ['capsules'],
        summary: 'The signed attestation of a sealed capsule: a DSSE envelope around an in-toto statement',
        description: 'GET /api/meta/keys has the public key.',
        params: CapsuleId,
        response: { 200: json('A DSSE envelope; its payload is base64 of an in-toto Statement v1', Envelope) }
      }
    },
    async (request, reply) =>
      sendJson(
        reply,
        // The envelope is stored as the text that was signed.
        (await attestationOf(db, await readableCapsule(deps, request))) as JsonText<Static<typeof Envelope>>
      )
  )
}

/** Loads a capsule of the caller's teams, or a published one. */
async function readableCapsule({ db }: ApiDeps, request: FastifyRequest) {
  const { id } = request.params as { id: string }
  const capsule = await loadReadableCapsule(db, callerOf(request), id)
  if (!capsule) throw noSuchCapsule()
  return capsule
}
