// The HTTP server of one emulated provider: its routes, its request log, and its injected faults.
import { setTimeout as delay } from 'node:timers/promises'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type EmulatedClock, isoTime } from './clock.js'
import type { Fault, FaultList } from './faults.js'
import type { EmulatedProvider } from './provider.js'
import type { LoggedRequest, RequestLog } from './request-log.js'

const bodyBytesMax = 10 * 1024 * 1024
/** Longer than any client waits. */
const hangMsMax = 600_000
/** The kinds of fault without a response to log. */
const unanswered = new Set<string | undefined>(['offline', 'hang', 'hang_after', 'drop_after', 'accept_late'])

export interface ProviderParts {
  provider: EmulatedProvider
  clock: EmulatedClock
  log: RequestLog
  faults: FaultList
}

interface Course {
  logged: LoggedRequest
  fault: Fault | null
}

/** Builds the server; the caller listens on a loopback address and closes it. */
export function buildProviderServer({ provider, clock, log, faults }: ProviderParts): FastifyInstance {
  const app = fastify({
    bodyLimit: bodyBytesMax,
    // Requests that hang on purpose must not keep the server from closing.
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true }
  })
  takeEmptyBodies(app)
  const courses = new WeakMap<FastifyRequest, Course>()

  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort(new Error('The emulator is stopping.')))

  app.addHook('onRequest', async (request, reply) => {
    const [path = '', query = ''] = request.url.split('?', 2)
    const fault = faults.take(request.method, path)
    const { method } = request
    const logged = log.add({ at: isoTime(clock.now()), method, path, query, status: null, fault: fault?.kind ?? null })
    courses.set(request, { logged, fault })
    if (fault?.kind === 'offline' || fault?.kind === 'hang') {
      reply.hijack()
      if (fault.kind === 'offline') request.raw.socket.destroy()
      else await closedOrAfter(request, hangMsMax)
      request.raw.socket.destroy()
      return
    }
    if (fault?.kind === 'status') {
      disguise(reply, fault)
      return reply.send(provider.errorBody(fault.status, 'The request was refused.'))
    }
  })

  app.addHook('preHandler', async (request) => {
    const fault = courses.get(request)?.fault
    if (fault?.kind !== 'accept_late') return
    request.raw.socket.destroy()
    await delay(fault.lag_ms, undefined, { signal: closing.signal })
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const fault = courses.get(request)?.fault
    switch (fault?.kind) {
      case 'status_after':
        disguise(reply, fault)
        return JSON.stringify(provider.errorBody(fault.status, 'The request could not be processed.'))
      case 'unknown_status':
        return withUnknownStatus(payload, provider.unknownStatus)
      case 'lag':
        await closedOrAfter(request, fault.lag_ms)
        return payload
      case 'hang_after':
        await closedOrAfter(request, hangMsMax)
        request.raw.socket.destroy()
        return payload
      case 'drop_after':
        request.raw.socket.destroy()
        return payload
      default:
        return payload
    }
  })

  app.addHook('onResponse', async (request, reply) => {
    const course = courses.get(request)
    if (course && !unanswered.has(course.fault?.kind)) course.logged.status = reply.statusCode
  })

  app.setErrorHandler((error: Error & { statusCode?: number }, _request, reply) => {
    const status = error.statusCode ?? 500
    void reply.code(status).send(provider.errorBody(status, error.message))
  })
  app.setNotFoundHandler((_request, reply) => {
    void reply.code(404).send(provider.errorBody(404, 'Resource not found.'))
  })
  void app.register(async (scope) => provider.routes(scope), { prefix: provider.basePath })
  return app
}

/** Some clients declare JSON with every request and send an empty body with some. */
export function takeEmptyBodies(app: FastifyInstance): void {
  const json = app.getDefaultJsonParser('error', 'error')
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body === '') done(null, undefined)
    else json(request, body, done)
  })
}

/** Resolves when the client is gone, or after the limit, so that no request waits for ever. */
function closedOrAfter(request: FastifyRequest, ms: number): Promise<void> {
  const { socket } = request.raw
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      socket.off('close', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    if (socket.destroyed) end()
    else socket.once('close', end)
  })
}

/** Replaces the response by one with the fault's status. */
function disguise(reply: FastifyReply, { status, retry_after }: Fault): void {
  reply.code(status).header('content-type', 'application/json; charset=utf-8')
  if (retry_after !== null) reply.header('retry-after', String(retry_after))
}

/** Replaces every `status` next to an `id`. */
function withUnknownStatus(payload: unknown, word: string): unknown {
  if (typeof payload !== 'string') return payload
  const replaced = JSON.parse(payload, (_key, value) =>
    value !== null && typeof value === 'object' && 'id' in value && 'status' in value
      ? { ...value, status: word }
      : value
  )
  return JSON.stringify(replaced)
}
