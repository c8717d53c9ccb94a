// Records a span for every request, named by its route. It never holds a body, a header or a path, which may hold tokens.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Span, Tracing } from '../../../../services/telemetry/tracing.js'
import { isTrusted, type TrustedProxies } from '../limits/client-address.js'
import { probeRoutes } from './probe-routes.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** `null` without tracing, and for probes. */
    span: Span | null
  }
}

export default fp(
  async (app: FastifyInstance, options: { tracing: Tracing | null; trustedProxies: TrustedProxies }) => {
    const { tracing, trustedProxies } = options
    app.decorateRequest('span', null)
    if (!tracing) return
    app.addHook('onRequest', (request, reply, done) => {
      const route = request.routeOptions.url
      if (route && probeRoutes.has(route)) return done()
      const span = tracing.begin(route ? `${request.method} ${route}` : 'no route', {
        kind: 'server',
        parent: parentOf(request, trustedProxies),
        attributes: {
          'http.request.method': request.method,
          ...(route && { 'http.route': route }),
          'request.id': request.id
        }
      })
      request.span = span
      // `close` also comes for streams, and when the client has disconnected.
      reply.raw.once('close', () => {
        const status = reply.raw.statusCode
        const job = request.submission?.recorded && { 'job.id': request.submission.recorded.jobId }
        const error = status >= 500 ? (request.fault?.code ?? String(status)) : undefined
        span.end({ 'http.response.status_code': status, ...job }, error)
      })
      done()
    })
  },
  { name: 'tracing' }
)

/** A trace continues only from a trusted proxy: other clients could hide requests in traces of others. */
function parentOf(request: FastifyRequest, trustedProxies: TrustedProxies): string | null {
  const { traceparent } = request.headers
  return typeof traceparent === 'string' && isTrusted(request.socket.remoteAddress, trustedProxies) ? traceparent : null
}
