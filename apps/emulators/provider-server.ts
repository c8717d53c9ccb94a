// The HTTP server of one emulated provider: its routes, its request log, and its injected faults.
import { setTimeout as delay } from 'node:timers/promises'
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions
} from 'fastify'
import { type EmulatedClock, isoTime } from './clock.js'
import type { Fault, FaultList } from './faults.js'
import type { EmulatedProvider, ProviderReply, RequestLine } from './provider.js'
import type { LoggedRequest, RequestLog } from './request-log.js'

const bodyBytesMax = 10 * 1024 * 1024
/** Longer than any client waits. */
const hangMsMax = 600_000
/** The kinds of fault without a response to log. */
const unanswered = new Set<string | undefined>(['offline', 'hang', 'hang_after', 'drop_after', 'accept_late'])

/** In PEM. */
export interface Certificate {
  cert: string
  key: string
}

export interface ProviderParts {
  provider: EmulatedProvider
  clock: EmulatedClock
  log: RequestLog
  faults: FaultList
  /** With it, the server speaks TLS. */
  tls?: Certificate | undefined
}

interface Course {
  line: RequestLine
  logged: LoggedRequest
  fault: Fault | null
}

/** Builds the server; the caller listens on a loopback address and closes it. */
export function buildProviderServer({ provider, clock, log, faults, tls }: ProviderParts): FastifyInstance {
  const options = {
    bodyLimit: bodyBytesMax,
    // Requests that hang on purpose must not keep the server from closing.
    forceCloseConnections: true,
    routerOptions: { ignoreTrailingSlash: true },
    ...(tls && { https: tls })
  }
  // A server of HTTPS is one of HTTP too, but the two have types of their own.
  const app = fastify(options as FastifyServerOptions)
  takeEmptyBodies(app)
  const courses = new WeakMap<FastifyRequest, Course>()

  const closing = new AbortController()
  app.addHook('preClose', async () => closing.abort(new Error('The emulator is stopping.')))

  app.addHook('onRequest', async (request, reply) => {
    const [path = '', query = ''] = request.url.split('?', 2)
    const { method } = request
    const line = { method, path }
    const fault = faults.take(line)
    const logged = log.add({ at: isoTime(clock.now()), method, path, query, status: null, fault: fault?.kind ?? null })
    courses.set(request, { line, logged, fault })
    if (fault?.kind === 'offline' || fault?.kind === 'hang') {
      reply.hijack()
      if (fault.kind === 'offline') request.raw.socket.destroy()
      else await closedOrAfter(request, hangMsMax)
      request.raw.socket.destroy()
      return
    }
    const instead = fault && answerInstead(provider, fault, line)
    if (instead) return respond(reply, instead, fault)
  })

  app.addHook('preHandler', async (request) => {
    const fault = courses.get(request)?.fault
    if (fault?.kind !== 'accept_late') return
    request.raw.socket.destroy()
    await delay(fault.lag_ms, undefined, { signal: closing.signal })
  })

  app.addHook('onSend', async (request, reply, payload) => {
    const course = courses.get(request)
    const { fault = null, line } = course ?? {}
    switch (fault?.kind) {
      case 'status_after': {
        const { status, headers, body } = provider.refusal(fault.status, 'The request could not be processed.', line!)
        prepare(reply, { status, headers }, fault)
        return body
      }
      case 'unknown_status':
        return typeof payload === 'string' ? provider.withUnknownStatus(payload, line!) : payload
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

  const refuse = (request: FastifyRequest, reply: FastifyReply, status: number, message: string) => {
    const [path = ''] = request.url.split('?', 1)
    void respond(reply, provider.refusal(status, message, { method: request.method, path }))
  }
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) =>
    refuse(request, reply, error.statusCode ?? 500, error.message)
  )
  app.setNotFoundHandler((request, reply) => refuse(request, reply, 404, 'Resource not found.'))
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

/** The response that a fault gives in the place of the provider's; null if the request is processed. */
function answerInstead(provider: EmulatedProvider, { kind, status }: Fault, line: RequestLine): ProviderReply | null {
  if (kind === 'status') return provider.refusal(status, 'The request was refused.', line)
  if (kind === 'expire_tokens') return provider.expiredToken(line)
  if (kind === 'result_lag') return provider.resultNotThere(line)
  return null
}

function prepare(reply: FastifyReply, { status, headers }: Omit<ProviderReply, 'body'>, fault?: Fault | null): void {
  reply.code(status).headers(headers)
  if (fault?.retry_after != null) reply.header('retry-after', String(fault.retry_after))
}

export function respond(reply: FastifyReply, { body, ...head }: ProviderReply, fault?: Fault | null): FastifyReply {
  prepare(reply, head, fault)
  return reply.send(body)
}
