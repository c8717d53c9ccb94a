// A server that answers as IBM Quantum and as IAM, with what a test says, and keeps the requests.
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Answer {
  status?: number
  headers?: Record<string, string>
  /** Text is sent unchanged. */
  body?: string | object
}

export interface Seen {
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingHttpHeaders
  body: string
}

/** What is answered to `METHOD /path`, the path of the API without its base. */
type Routes = Record<string, Answer | ((request: Seen) => Answer)>

const BASE = '/api/v1'

export const accessToken = (access_token: string, expires_in: unknown = 3600): Answer => ({
  body: { access_token, refresh_token: 'not-used', token_type: 'Bearer', expires_in, expiration: 1 }
})

export const refusal = (status: number, code: number | string, message: string): Answer => ({
  status,
  body: { trace: 'a-trace', errors: [{ code, message, more_info: 'https://example.org' }] }
})

export async function startIbmServer() {
  let routes: Routes = {}
  const seen: Seen[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', headers } = request
      const url = new URL(request.url!, 'http://localhost')
      const path = url.pathname.startsWith(BASE) ? url.pathname.slice(BASE.length) : url.pathname
      const query = Object.fromEntries(url.searchParams)
      const one = { method, path, query, headers, body: Buffer.concat(chunks).toString() }
      seen.push(one)
      const route = routes[`${method} ${path}`] ?? { status: 501, body: `no answer to ${method} ${path}` }
      const { status = 200, headers: own = {}, body = '' } = typeof route === 'function' ? route(one) : route
      response.writeHead(status, own).end(typeof body === 'string' ? body : JSON.stringify(body))
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    urls: { api: `${address}${BASE}`, iam: address },
    /** Adds answers; the first request for a token gets one of an hour. */
    answer(more: Routes): void {
      routes = { ...routes, ...more }
    },
    reset(): void {
      routes = { 'POST /identity/token': accessToken('access-token-of-the-hour') }
      seen.length = 0
    },
    /** Those to the API. */
    requests: () => seen.filter(({ path }) => path !== '/identity/token'),
    tokenRequests: () => seen.filter(({ path }) => path === '/identity/token'),
    close: () => new Promise<void>((done) => server.close(() => done()))
  }
}
