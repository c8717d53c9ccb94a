// The routes of the emulated Azure: one port for the directory, Resource Manager, the workspace and its storage.
import { randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ProviderReply } from '../provider.js'
import { answerDirectory } from './identity/directory.js'
import type { AzureParts } from './parts.js'
import { AzureError, refusalOf, serviceOf } from './replies.js'
import { answerWorkspace } from './workspace-routes.js'

export function azureRoutes(app: FastifyInstance, parts: AzureParts): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.all('/*', async (request, reply) => {
    const { status, headers, body } = answer(request, parts)
    return reply
      .code(status)
      .headers({ 'x-ms-request-id': randomUUID(), ...headers })
      .send(body)
  })
}

function answer(request: FastifyRequest, parts: AzureParts): ProviderReply {
  const { method, headers, protocol } = request
  const [path = '/', query = ''] = split(request.raw.url ?? '/')
  const body = (request.body as Buffer | undefined) ?? Buffer.alloc(0)
  const base = `${protocol}://${request.host}`
  const line = { method, path }
  try {
    switch (serviceOf(line)) {
      case 'directory': {
        const { identities, clock, settings } = parts
        const directory = { identities, now: () => clock.now(), tokenMs: () => settings.tokenMs }
        return answerDirectory({ method, path, base, headers, body }, directory)
      }
      case 'storage':
        return parts.blobs.answer({ method, path, query, protocol, headers, body })
      default:
        return answerWorkspace({ method, path, query, base, protocol, headers, body }, parts)
    }
  } catch (error) {
    if (error instanceof AzureError) return refusalOf(error, line)
    if (error instanceof URIError)
      return refusalOf(new AzureError(400, 'InvalidUri', 'The requested URI does not represent any resource.'), line)
    throw error
  }
}

const split = (url: string): [path: string, query: string] => {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}
