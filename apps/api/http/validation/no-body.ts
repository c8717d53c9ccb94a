// Routes whose schema has no body refuse the fields of one by name: dropped silently, they would seem to have had an effect.
// An empty body and `{}` are accepted, because many clients send one with every write.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { validationError } from '../../../../domain/errors.js'
import { faultsOfUnknown } from './validation-faults.js'
import { validationMessages } from './validation-message.js'

const safe = new Set(['GET', 'HEAD', 'OPTIONS'])

export default fp(
  async (app: FastifyInstance) => {
    app.addHook('onRoute', (route) => {
      if (route.schema?.body || [route.method].flat().every((method) => safe.has(method))) return
      route.preValidation = [
        (request, _reply, done) => done(refusal(request.body)),
        ...[route.preValidation ?? []].flat()
      ]
    })
  },
  { name: 'no-body' }
)

function refusal(body: FastifyRequest['body']): Error | undefined {
  if (body === undefined || body === null) return undefined
  if (typeof body !== 'object' || Array.isArray(body)) return validationError('body: this request takes none')
  const faults = faultsOfUnknown(Object.keys(body))
  return faults.length === 0 ? undefined : validationError(validationMessages(faults, 'body'))
}
