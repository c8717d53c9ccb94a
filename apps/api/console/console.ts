// Serves the console: its page for every navigation that no route takes, and its assets. Other requests without a route get
// the JSON 404.
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { findPublished } from '../../../db/capsules/capsule-seals.js'
import type { Db } from '../../../db/client.js'
import { sendNoRoute } from '../http/errors.js'
import { type Page, readConsole, workerPolicyOf } from './built-console.js'
import { isNavigation } from './navigation.js'
import { pageWithoutConsole } from './page-without-console.js'

/** @param folder of the built console; `null`: this process has none. */
export const consoleRoutes: FastifyPluginAsyncTypebox<{ folder: string | null; db: Db }> = async (
  app,
  { folder, db }
) => {
  const built = folder === null ? null : readConsole(folder)
  const page = built ? built.page : pageWithoutConsole
  const send = (reply: FastifyReply, { html, headers }: Page) => reply.headers(headers).send(html)

  app.get('/', { schema: { hide: true } }, async (request, reply) =>
    isNavigation(request) ? send(reply.header('vary', 'accept'), page()) : reply.callNotFound()
  )
  // Lines of their own, so that the log names the route. The token stays in the address.
  for (const path of ['/invitations/:token', '/reset-password/:token'])
    app.get(path, { schema: { hide: true } }, async (_request, reply) => send(reply, page()))
  // A shared link shows what is published. To whom it is not a page, there is nothing at this address.
  app.get(
    '/public/:slug',
    { schema: { hide: true, params: Type.Object({ slug: Type.String() }) } },
    async (request, reply) => {
      if (!isNavigation(request)) return reply.callNotFound()
      const { slug } = request.params
      const found = built && /^[a-z0-9-]{1,200}$/.test(slug) ? await findPublished(db, slug) : null
      return send(reply.header('vary', 'accept'), found && built ? built.page(found.publication) : page())
    }
  )
  app.setNotFoundHandler((request, reply) =>
    isNavigation(request) &&
    request.headers.authorization === undefined &&
    !/^\/(api|assets|docs)(\/|$)/.test(pathOf(request))
      ? send(reply, page())
      : sendNoRoute(request, reply)
  )

  await app.register(fastifyStatic, { serve: false, preCompressed: true, index: false, cacheControl: false })
  app.get(
    '/assets/*',
    { schema: { hide: true, params: Type.Object({ '*': Type.String() }) } },
    async (request, reply) => {
      const name = request.params['*']
      // An address never changes its content, and only names that a build makes are looked up.
      if (!built || !/^(?:[\w-]+\/)?[\w.-]+\.(?:js|css|woff2|svg|wasm)$/.test(name)) return reply.callNotFound()
      const policy = workerPolicyOf(name)
      if (policy) reply.header('content-security-policy', policy)
      return reply
        .header('cache-control', 'public, max-age=31536000, immutable')
        .sendFile(`assets/${name}`, built.folder)
    }
  )
}

const pathOf = ({ url }: FastifyRequest): string => url.split('?')[0]!
