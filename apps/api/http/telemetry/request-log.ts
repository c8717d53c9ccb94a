// What is logged about a request: its route's pattern, never its path or query, which may hold a token.
import type { FastifyInstance } from 'fastify'

/** Logs one line for each response. */
export function logResponses(app: FastifyInstance): void {
  app.addHook('onResponse', (request, reply, done) => {
    request.log.info(
      {
        req: { id: request.id, method: request.method, route: request.routeOptions.url },
        status: reply.statusCode,
        ...(request.fault && { code: request.fault.code }),
        ms: Math.round(reply.elapsedTime)
      },
      'answered'
    )
    done()
  })
}
