// Reads JSON bodies and refuses, on every route, values that a JSON body must not hold (domain/json/json-guard.ts).
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { validationError } from '../../../../domain/errors.js'
import { findForbiddenJson, textProblem } from '../../../../domain/json/json-guard.js'
import { digestOf } from '../idempotency.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The text of a JSON body: its numbers say whether they are floats. */
    jsonText: string | null
  }
}

export default fp(
  async (app: FastifyInstance) => {
    app.decorateRequest('jsonText', null)
    app.removeContentTypeParser(['application/json', 'text/plain'])
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, body: Buffer) => {
        if (request.keyed) request.keyed.bodySha256 = digestOf(body)
        return readJson(request, body)
      }
    )
    // Path and query reach the database too.
    app.addHook('onRequest', (request, _reply, done) => {
      // A URL that needs no decoding is printable ASCII.
      const problem = request.url.includes('%') ? textProblem(decodeLoosely(request.url)) : null
      done(problem ? validationError(`url: ${problem}`) : undefined)
    })
  },
  { name: 'json-body' }
)

const utf8 = new TextDecoder('utf-8', { fatal: true })

function readJson(request: FastifyRequest, body: Buffer): unknown {
  // Clients send this header without a body on POSTs that need none.
  if (body.length === 0) return undefined
  const { text, value } = parse(body)
  request.jsonText = text
  const problem = findForbiddenJson(value, text)
  if (problem) throw validationError(problem)
  return value
}

function parse(body: Buffer): { text: string; value: unknown } {
  let reason = 'is not valid UTF-8'
  try {
    const text = utf8.decode(body)
    reason = 'is not valid JSON'
    return { text, value: JSON.parse(text) as unknown }
  } catch (error) {
    throw validationError(`body: ${reason}`, error)
  }
}

function decodeLoosely(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}
