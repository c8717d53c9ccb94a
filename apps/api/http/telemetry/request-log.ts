// What is logged about a request: its route's pattern, never its path or query, which may hold a token.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Of a request that no route matches. */
const NO_ROUTE = '(none)'

/** Logs one line for each response. */
export function logResponses(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    logResponse(request, reply)
    done()
  })
}

/** For requests that the router refuses, which have no hooks. */
export function logResponse(request: FastifyRequest, reply: FastifyReply): void {
  request.log.info(
    {
      method: request.method,
      route: request.routeOptions.url ?? NO_ROUTE,
      status: reply.statusCode,
      ...(request.fault && { code: request.fault.code }),
      ms: Math.round(reply.elapsedTime)
    },
    'answered'
  )
}
