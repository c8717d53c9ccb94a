// What everyone can read of a published capsule beside its record: its package, attestation, files and past verdicts. A package
// names people by id alone, as it was signed; the rest names neither a person nor a team, a job or a cost.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { listVerifications } from '../../../db/capsule-runs/verification-history.js'
import { evidenceSize } from '../../../db/capsules/capsule-evidence.js'
import { pageView, TOTAL_MAX } from '../../../domain/json/page.js'
import type { ApiDeps } from '../deps.js'
import { exportBytes } from '../http/memory.js'
import { type JsonText, json, media, pageEnd, sendJson } from '../http/response.js'
import { FileName, fileResponses, sendFile } from './capsule-files.js'
import { driftOfPage } from './capsule-verifications.js'
import { PublicSlug, publishedCapsule } from './public-capsules.js'
import { Drift, PublicVerification, publicVerificationView } from './schedule-view.js'
import { Envelope, ExportFormatName } from './transfer/capsule-transfer.js'
import { attestationOf, exportCapsule } from './transfer/export-capsule.js'

const Slug = Type.Object({ slug: PublicSlug })

export const publicCapsuleFileRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/capsules/public/:slug/export',
    {
      schema: {
        tags: ['capsules'],
        summary: 'A published capsule as a file, the same bytes each time',
        description:
          'As GET /api/capsules/:id/export, without an account. docs/capsules/capsule-format.md describes both kinds.',
        params: Slug,
        querystring: Type.Object({ format: ExportFormatName }),
        response: { 200: media('The package, as a download', '*/*') },
        errors: ['not_found', 'service_busy', 'content_store_unavailable']
      }
    },
    async (request, reply) => {
      const { capsule } = await publishedCapsule(db, request.params.slug)
      await app.large.hold(request, reply, exportBytes(await evidenceSize(db, capsule.id)), 'packages')
      const { fileName, mediaType, content } = await exportCapsule(db, capsule, request.query.format)
      reply.type(mediaType).header('content-disposition', `attachment; filename="${fileName}"`)
      return app.large.timed(content)
    }
  )

  app.get(
    '/api/capsules/public/:slug/attestation',
    {
      schema: {
        tags: ['capsules'],
        summary: 'The signed attestation of a published capsule: a DSSE envelope around an in-toto statement',
        description: 'GET /api/meta/keys has the public key.',
        params: Slug,
        response: { 200: json('A DSSE envelope; its payload is base64 of an in-toto Statement v1', Envelope) },
        errors: ['not_found']
      }
    },
    async (request, reply) => {
      const { capsule } = await publishedCapsule(db, request.params.slug)
      return sendJson(reply, (await attestationOf(db, capsule)) as JsonText<Static<typeof Envelope>>)
    }
  )

  app.get(
    '/api/capsules/public/:slug/files/:name',
    {
      schema: {
        tags: ['capsules'],
        summary: 'One file of the evidence of a published capsule',
        description: 'The ETag is the SHA-256; with If-None-Match 304 when it is the same.',
        params: Type.Object({ slug: PublicSlug, name: FileName }),
        response: fileResponses,
        errors: ['not_found', 'service_busy', 'content_store_unavailable']
      }
    },
    async (request, reply) => {
      const { slug, name } = request.params
      const { capsule } = await publishedCapsule(db, slug)
      return sendFile(app, db, request, reply, { capsuleId: capsule.id, name })
    }
  )

  app.get(
    '/api/capsules/public/:slug/verifications',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Past verifications of a published capsule, newest first',
        description: 'Verdicts, distances and times alone. `drift` covers the verifications on this page.',
        params: Slug,
        querystring: Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
          offset: Type.Integer({ minimum: 0, maximum: TOTAL_MAX, default: 0 })
        }),
        response: {
          200: json(
            'The verifications, newest first',
            Type.Object({ verifications: Type.Array(PublicVerification), drift: Drift, ...pageEnd })
          )
        },
        errors: ['not_found']
      }
    },
    async (request) => {
      const { limit, offset } = request.query
      const { capsule } = await publishedCapsule(db, request.params.slug)
      const { rows, total } = await listVerifications(db, capsule.id, { limit, offset })
      return {
        verifications: rows.map(publicVerificationView),
        drift: driftOfPage(rows),
        ...pageView(total, { limit, offset })
      }
    }
  )
}
