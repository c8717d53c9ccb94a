// What is logged about a request: its route's pattern, never its path or query, which may hold a token.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { probeRoutes } from './probe-routes.js'

/** Of a request that no route matches. */
const NO_ROUTE = '(none)'

/** Logs one line for each response; for probes that are answered well, at the level `debug`. */
export function logResponses(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    logResponse(request, reply)
    done()
  })
}

/** For requests that the router refuses, which have no hooks. */
export function logResponse(request: FastifyRequest, reply: FastifyReply): void {
  const { url: route } = request.routeOptions
  const level = probeRoutes.has(route) && reply.statusCode < 400 ? 'debug' : 'info'
  request.log[level](
    {
      method: request.method,
      route: route ?? NO_ROUTE,
      status: reply.statusCode,
      ...(request.fault && { code: request.fault.code }),
      ms: Math.round(reply.elapsedTime)
    },
    'answered'
  )
}
