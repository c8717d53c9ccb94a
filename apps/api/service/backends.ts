// The catalogue: GET /api/backends and one backend. Public, cacheable by everybody, and asked for often: the serialised
// list is kept for a moment, so that most answers need neither database nor serialiser.
import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { findBackend, listBackends } from '../../../db/backends/backends.js'
import type { Db } from '../../../db/client.js'
import { backendView } from '../../../domain/backends/backend.js'
import { ServiceError } from '../../../domain/errors.js'

// Interface specification 4.4.
const CACHE_CONTROL = 'public, max-age=600, s-maxage=300, stale-while-revalidate=3600'
// Another process may change a row; clients are told to keep the answer far longer than this.
const KEEP_MS = 1_000

export interface BackendCatalogue {
  read(): Promise<{ body: string; etag: string }>
  /** After a change by this process. */
  forget(): void
}

export function createBackendCatalogue(db: Db): BackendCatalogue {
  let kept: { at: number; page: Promise<{ body: string; etag: string }> } | null = null
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

async function renderCatalogue(db: Db): Promise<{ body: string; etag: string }> {
  const backends = await listBackends(db)
  const updatedAt = new Date(Math.max(0, ...backends.map((backend) => backend.updatedAt.getTime())))
  const body = JSON.stringify({ backends: backends.map(backendView), updatedAt: updatedAt.toISOString() })
  return { body, etag: etagOf(body) }
}

export const backendRoutes: FastifyPluginAsyncTypebox<{ db: Db; catalogue: BackendCatalogue }> = async (
  app,
  { db, catalogue }
) => {
  app.get(
    '/api/backends',
    { schema: { tags: ['backends'], summary: 'All backends with prices and availability' } },
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
        params: Type.Object({ slug: Type.String({ maxLength: 100 }) })
      }
    },
    async (request, reply) => {
      const backend = await findBackend(db, request.params.slug)
      if (!backend) throw new ServiceError('not_found', `no backend is called ${JSON.stringify(request.params.slug)}`)
      const body = JSON.stringify(backendView(backend))
      return sendCacheable(request, reply, body, etagOf(body))
    }
  )
}

const etagOf = (body: string): string => `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`

function sendCacheable(request: FastifyRequest, reply: FastifyReply, body: string, etag: string): FastifyReply {
  reply.header('cache-control', CACHE_CONTROL).header('etag', etag)
  const known = request.headers['if-none-match']
  if (known?.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)) return reply.code(304).send()
  return reply.type('application/json; charset=utf-8').send(body)
}
