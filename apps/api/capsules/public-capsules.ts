// The public catalogue of published capsules. It names no person and no team, because a team's name defaults to its owner's
// address.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  findPublished,
  listPublished,
  type PublicCapsule as PublishedCapsule
} from '../../../db/capsules/capsule-seals.js'
import { listFiles } from '../../../db/capsules/capsules.js'
import type { DbOrTx } from '../../../db/client.js'
import { ServiceError } from '../../../domain/errors.js'
import { pageView, TOTAL_MAX } from '../../../domain/json/page.js'
import { SLUG_MAX } from '../../../domain/scripts/script.js'
import type { ApiDeps } from '../deps.js'
import { json, pageEnd } from '../http/response.js'
import { PublicCapsule, PublicCapsuleSummary, publicCapsuleView, publicSummaryView } from './public-capsule-view.js'

export const PublicSlug = Type.String({ maxLength: SLUG_MAX, pattern: '^[a-z0-9-]+$' })

export const publicCapsuleRoutes: FastifyPluginAsyncTypebox<{ deps: ApiDeps }> = async (app, { deps }) => {
  const { db } = deps

  app.get(
    '/api/capsules/public',
    {
      schema: {
        tags: ['capsules'],
        summary: 'Published capsules, the newest publication first',
        querystring: Type.Object({
          q: Type.Optional(
            Type.String({ minLength: 1, maxLength: 200, description: 'In the title or the description' })
          ),
          tag: Type.Optional(Type.String({ minLength: 1, maxLength: 50 })),
          category: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
          limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
          offset: Type.Integer({ minimum: 0, maximum: TOTAL_MAX, default: 0 })
        }),
        response: {
          200: json('Published capsules', Type.Object({ capsules: Type.Array(PublicCapsuleSummary), ...pageEnd }))
        }
      }
    },
    async (request) => {
      const { q, tag, category, limit, offset } = request.query
      const { rows, total } = await listPublished(db, {
        limit,
        offset,
        ...(q && { text: q }),
        ...(tag && { tag }),
        ...(category && { category })
      })
      return { capsules: rows.map(publicSummaryView), ...pageView(total, { limit, offset }) }
    }
  )

  app.get(
    '/api/capsules/public/:slug',
    {
      schema: {
        tags: ['capsules'],
        summary: 'A published capsule, with its programs and its seal',
        params: Type.Object({ slug: PublicSlug }),
        response: { 200: json('The capsule', PublicCapsule) },
        errors: ['not_found']
      }
    },
    async (request) => {
      const found = await publishedCapsule(db, request.params.slug)
      return publicCapsuleView(found, await listFiles(db, found.capsule.id))
    }
  )
}

/** @throws ServiceError `not_found` also for a capsule that was taken down. */
export async function publishedCapsule(db: DbOrTx, slug: string): Promise<PublishedCapsule> {
  const found = await findPublished(db, slug)
  if (!found) throw new ServiceError('not_found', 'no published capsule has this slug')
  return found
}
