// What a Prometheus server reads from this process, on a port of its own: no caller of the api reaches it.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Counter, Histogram, Registry } from 'prom-client'

export interface Answered {
  method: string
  /** The route's pattern (`/api/jobs/:id`), never the path asked for: a label for each id would fill the memory. */
  route: string | undefined
  /** HTTP status. */
  status: number
  seconds: number
}

export interface Metrics {
  registry: Registry
  /** Requests that went through uncounted because the store of the rate limits was away, slow or failing. */
  rateLimitStoreFailures: Counter
  observeAnswer(answered: Answered): void
}

/** The methods that a route can have; another one becomes `other`, so that callers cannot invent labels. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** A registry of this process alone: two apis in one process (tests) do not add to each other's figures. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const answers = new Histogram({
    name: 'qjs_http_request_duration_seconds',
    help: 'Time from a request to the end of its answer, by method, route and class of status.',
    labelNames: ['method', 'route', 'status'] as const,
    // A held poll takes up to a minute, a run in the playground up to 90 s.
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 100],
    registers: [registry]
  })
  return {
    registry,
    rateLimitStoreFailures: new Counter({
      name: 'qjs_rate_limit_store_failures_total',
      help: 'Requests let through without a rate limit because Redis was away, slow or failing.',
      registers: [registry]
    }),
    observeAnswer({ method, route, status, seconds }) {
      answers.observe(
        {
          method: methods.has(method) ? method : 'other',
          route: route ?? 'none',
          status: `${Math.floor(status / 100)}xx`
        },
        seconds
      )
    }
  }
}

export interface MetricsServer {
  /** The port it listens on, also when 0 was asked for. */
  port: number
  close(): Promise<void>
}

/**
 * Answers `GET /metrics` and nothing else.
 * @throws Error when it cannot listen there.
 */
export async function startMetrics(registry: Registry, host: string, port: number): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 16_384 }, async (request, response) => {
    const answer = (status: number, text: string, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(text)
    if (request.url?.split('?')[0] !== '/metrics') return answer(404, 'there is only /metrics\n')
    if (request.method !== 'GET') return answer(405, 'only GET\n', { allow: 'GET' })
    try {
      answer(200, await registry.metrics(), { 'content-type': registry.contentType })
    } catch {
      answer(500, 'the figures could not be collected\n')
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
