// Keeps other sites from using a visitor's session: an unsafe request must come from this origin, or from no page at all
// (neither header present, as with curl). Requests with an Authorization header carry no ambient credential.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ServiceError } from '../../../domain/errors.js'

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/** @param publicOrigin where the service is reached from outside; without it the request's own Host counts. */
export default fp(
  async (app: FastifyInstance, { publicOrigin }: { publicOrigin: string | null }) => {
    app.addHook('onRequest', (request, _reply, done) => {
      const harmless = safeMethods.has(request.method) || request.headers.authorization !== undefined
      if (harmless || isSameOrigin(request, publicOrigin)) done()
      else done(new ServiceError('permission_denied', 'Origin: requests from other sites are not allowed'))
    })
  },
  { name: 'origin-guard' }
)

function isSameOrigin(request: FastifyRequest, publicOrigin: string | null): boolean {
  const { origin } = request.headers
  if (origin !== undefined) return publicOrigin ? origin === publicOrigin : origin === `http://${request.headers.host}`
  const site = request.headers['sec-fetch-site']
  return site === undefined || site === 'same-origin' || site === 'none'
}
