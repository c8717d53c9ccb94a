// Sealing, publishing and archiving: POST /api/capsules/:id/{seal,publish,archive}.

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { SealRequest } from '../../../capsule-format/seal-content.js'
import { actorText } from '../../../db/audit/audit.js'
import { archiveCapsule, publishCapsule } from '../../../db/capsules/capsule-seals.js'
import { CapsuleTags } from '../../../domain/capsules/capsule-fields.js'
import type { ApiDeps } from '../deps.js'
import { callerOf } from '../http/access.js'
import { SEAL_BYTES } from '../http/memory.js'
import { json } from '../http/response.js'
import { assertMayNow, lockRequestedCapsule, requestedCapsule } from './capsule-access.js'
import { canSign } from './capsule-actions.js'
import { Capsule } from './capsule-view.js'
import { CapsuleId, recordFor } from './capsules.js'
import { SealBody, sealCapsule, sealErrors } from './seal-capsule.js'

const PublishBody = Type.Object(
  {
    title: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
    description: Type.String({ minLength: 1, maxLength: 2_000 }),
    readme: Type.Optional(Type.String({ maxLength: 50_000, description: 'Markdown' })),
    license: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'For example CC-BY-4.0' })),
    category: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
    tags: Type.Optional(CapsuleTags)
  },
  { additionalProperties: false }
)

export const capsuleStateRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  app.post(
    '/api/capsules/:id/seal',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Seal a capsule: its content never changes again',
        description:
          'Owner of the capsule, or the owner and admins of its team. A draft is sealed with the evidence of its newest ' +
          'completed run of the present definition.',
        params: CapsuleId,
        body: SealBody,
        response: { 200: json('The sealed capsule', Capsule) },
        errors: sealErrors
      }
    },
    async (request, reply) => {
      // Outside the transaction, because the key may have to be created.
      const signer = await deps.signer()
      return app.large.within(request, SEAL_BYTES, () =>
        app.writeOnce(request, reply, async ({ tx }) => {
          const capsule = await requestedCapsule(tx, request)
          await assertMayNow(request, tx, capsule, 'seal')
          const by = {
            caller: callerOf(request),
            signer,
            at: deps.now(),
            seal: (content: SealRequest) => deps.sealing.sealInThread(capsule.teamId, content)
          }
          const sealed = await sealCapsule(tx, by, capsule, request.body, () =>
            lockRequestedCapsule(request, tx, 'seal')
          )
          return { body: await recordFor(request, tx, sealed, true) }
        })
      )
    }
  )

  app.post(
    '/api/capsules/:id/publish',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Publish a sealed capsule in the public catalogue',
        description: 'Owner of the capsule, or the owner and admins of its team. It stays published.',
        params: CapsuleId,
        body: PublishBody,
        response: { 200: json('The published capsule', Capsule) },
        errors: ['slug_conflict']
      }
    },
    async (request, reply) => {
      const signing = await canSign(deps)
      return app.writeOnce(request, reply, async ({ tx }) => {
        const capsule = await lockRequestedCapsule(request, tx, 'publish')
        const { title, description, readme, license, category, tags } = request.body
        const published = await publishCapsule(
          tx,
          capsule,
          {
            title,
            description,
            readme: readme ?? null,
            license: license ?? null,
            category: category ?? null,
            tags: tags ?? capsule.tags
          },
          actorText(callerOf(request))
        )
        return { body: await recordFor(request, tx, published, signing) }
      })
    }
  )

  app.post(
    '/api/capsules/:id/archive',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Archive a sealed capsule; its schedule ends',
        description: 'Owner of the capsule, or the owner and admins of its team.',
        params: CapsuleId,
        response: { 200: json('The archived capsule', Capsule) }
      }
    },
    async (request, reply) => {
      const signing = await canSign(deps)
      return app.writeOnce(request, reply, async ({ tx }) => {
        const capsule = await lockRequestedCapsule(request, tx, 'archive')
        const archived = await archiveCapsule(tx, capsule, actorText(callerOf(request)))
        return { body: await recordFor(request, tx, archived, signing) }
      })
    }
  )
}
