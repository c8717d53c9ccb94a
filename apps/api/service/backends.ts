// The catalogue: GET /api/backends and one backend. It is public, cacheable and requested often: the serialised list is kept for
// a moment, so that most responses need neither database nor serialiser.

import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { type Static, type TSchema, Type } from 'typebox'
import { findBackend, listBackends } from '../../../db/backends/backends.js'
import type { Db } from '../../../db/client.js'
import { backendView } from '../../../domain/backends/backend.js'
import { ServiceError } from '../../../domain/errors.js'
import { isKnown } from '../http/entity-tag.js'
import {
  type BodyOf,
  empty,
  type JsonText,
  json,
  jsonText,
  type RouteReply,
  type Sent,
  sendJson,
  sent,
  time
} from '../http/response.js'
import { Backend } from './backend-view.js'

// Interface specification 4.4.
const CACHE_CONTROL = 'public, max-age=600, s-maxage=300, stale-while-revalidate=3600'
// Another process can change a row. Clients are allowed to cache the response for far longer.
const KEEP_MS = 1_000

interface Page {
  body: JsonText<Static<typeof Catalogue>>
  etag: string
}

export interface BackendCatalogue {
  read(): Promise<Page>
  /** Call it after a change by this process. */
  forget(): void
}

export function createBackendCatalogue(db: Db): BackendCatalogue {
  let kept: { at: number; page: Promise<Page> } | null = null
  return {
    read() {
      if (!kept || performance.now() - kept.at > KEEP_MS) {
        const page = renderCatalogue(db)
        kept = { at: performance.now(), page }
        // A failed read is not kept.
        page.catch(() => {
          kept = null
        })
      }
      return kept.page
    },
    forget() {
      kept = null
    }
  }
}

const Catalogue = Type.Object({ backends: Type.Array(Backend), updatedAt: time })

const cacheable = <Body extends TSchema>(description: string, body: Body) => ({
  200: json(description, body, ['ETag']),
  304: empty('Unchanged: If-None-Match names its ETag', ['ETag'])
})

async function renderCatalogue(db: Db): Promise<Page> {
  const backends = await listBackends(db)
  const updatedAt = new Date(Math.max(0, ...backends.map((backend) => backend.updatedAt.getTime())))
  const body = jsonText<Static<typeof Catalogue>>({
    backends: backends.map(backendView),
    updatedAt: updatedAt.toISOString()
  })
  return { body, etag: etagOf(body) }
}

export const backendRoutes: FastifyPluginAsyncTypebox<{ db: Db; catalogue: BackendCatalogue }> = async (
  app,
  { db, catalogue }
) => {
  app.get(
    '/api/backends',
    {
      schema: {
        tags: ['backends'],
        summary: 'All backends with prices and availability',
        response: cacheable('All backends', Catalogue)
      }
    },
    async (request, reply) => {
      const { body, etag } = await catalogue.read()
      return sendCacheable(request, reply, body, etag)
    }
  )

  app.get(
    '/api/backends/:slug',
    {
      schema: {
        tags: ['backends'],
        summary: 'One backend',
        params: Type.Object({ slug: Type.String({ maxLength: 100 }) }),
        response: cacheable('The backend', Backend)
      }
    },
    async (request, reply) => {
      const backend = await findBackend(db, request.params.slug)
      if (!backend) throw new ServiceError('not_found', `no backend is called ${JSON.stringify(request.params.slug)}`)
      const body = jsonText<Static<typeof Backend>>(backendView(backend))
      return sendCacheable(request, reply, body, etagOf(body))
    }
  )
}

const etagOf = (body: string): string => `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`

function sendCacheable<Schema extends FastifySchema>(
  request: FastifyRequest,
  reply: RouteReply<Schema>,
  body: JsonText<BodyOf<Schema>>,
  etag: string
): Sent {
  const headed = (reply as FastifyReply).header('cache-control', CACHE_CONTROL).header('etag', etag)
  if (isKnown(request.headers['if-none-match'], etag)) return sent(headed.code(304).send())
  return sendJson(reply, body)
}
