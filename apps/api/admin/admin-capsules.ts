// Platform administration of published capsules.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { takeDownCapsule } from '../../../db/capsules/capsule-seals.js'
import { loadParts } from '../../../db/capsules/capsules.js'
import { Capsule, capsuleView } from '../capsules/capsule-view.js'
import type { ApiDeps } from '../deps.js'
import { userOf } from '../http/access.js'
import { json } from '../http/response.js'

export const adminCapsuleRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app) => {
  app.post(
    '/api/admin/capsules/:id/takedown',
    {
      schema: {
        tags: ['administration'],
        summary:
          'Take a published capsule out of the public catalogue. A repetition changes the reason and keeps the time',
        params: Type.Object({ id: Type.String({ format: 'uuid' }) }),
        body: Type.Object({ reason: Type.String({ minLength: 1, maxLength: 1_000 }) }, { additionalProperties: false }),
        response: { 200: json('The capsule, out of the catalogue', Capsule) },
        errors: ['conflict']
      }
    },
    async (request, reply) =>
      app.writeOnce(request, reply, async ({ tx }) => {
        const { capsule } = await takeDownCapsule(tx, userOf(request), request.params.id, request.body.reason)
        return { body: capsuleView(capsule, await loadParts(tx, capsule)) }
      })
  )
}
