// Serves the metrics of a process on a port of its own, which callers of the api do not reach.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { collectDefaultMetrics, type Registry } from 'prom-client'

export interface Scraped {
  registry: Registry
  /** Updates the metrics that are only read on a scrape. Never rejects, and has a time limit. */
  refresh?(): Promise<void>
}

export interface MetricsServer {
  /** The actual port, also when 0 was requested. */
  port: number
  close(): Promise<void>
}

/**
 * Serves only `GET /metrics`: our metrics, and those of the process itself (`process_*`, `nodejs_*`).
 * @throws Error when it cannot listen there.
 */
export async function startMetrics(scraped: Scraped, host: string, port: number): Promise<MetricsServer> {
  const { registry } = scraped
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 16_384 }, async (request, response) => {
    const respond = (status: number, text: string, headers: Record<string, string> = {}) =>
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', ...headers }).end(text)
    if (request.url?.split('?')[0] !== '/metrics') return respond(404, 'there is only /metrics\n')
    if (request.method !== 'GET') return respond(405, 'only GET\n', { allow: 'GET' })
    try {
      await scraped.refresh?.()
      respond(200, await registry.metrics(), { 'content-type': registry.contentType })
    } catch {
      respond(500, 'the metrics could not be collected\n')
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new Error(
          `metrics cannot listen on ${host}, port ${port} (${cause.code}): set METRICS_HOST, and METRICS_PORT or (for a worker) WORKER_METRICS_PORT, to an address that is free`,
          { cause }
        )
      )
    )
    server.listen(port, host, resolve)
  })
  collectDefaultMetrics({ register: registry })
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
