// Keeps other sites from using a visitor's session: an unsafe request must come from this origin, or from no page at all
// (neither header present, as with curl). Requests with an Authorization header carry no ambient credential.
//
// Where a browser sends `Sec-Fetch-Site`, it has compared the origins itself, whatever name the person typed for this
// machine. Browsers leave it out over http beyond this machine, where `Origin` is compared.
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
  const { origin, 'sec-fetch-site': site } = request.headers
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  if (origin === undefined) return true
  return origin === (publicOrigin ?? `http://${request.headers.host}`)
}
