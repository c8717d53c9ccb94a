// A proxy between a client and the api that can lose a response or send its own.
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/**
 * The fate of a request: it passes; its response and connection are lost; or the proxy responds with its own status in HTML,
 * `instead` of forwarding the request, `after` the api has responded, or `before` it has.
 */
export type Fate = 'pass' | 'lost' | { status: 502 | 503 | 504; when: 'instead' | 'after' | 'before' }

export interface PassedRequest {
  line: string
  key: string | undefined
  headers: NodeJS.Dict<string | string[]>
  body: string
  /** Whether it was forwarded to the api. */
  sent: boolean
  /** The api's response. */
  answer: { status: number; body: string } | null
}

export interface LossyProxy {
  url: string
  /** Sets the fates of the next requests, one each; all others pass. */
  fates: Fate[]
  /** All requests so far. */
  requests: PassedRequest[]
  close(): Promise<void>
}

export async function startProxy(api: string): Promise<LossyProxy> {
  const fates: Fate[] = []
  const requests: PassedRequest[] = []

  async function handle(asked: IncomingMessage, reply: ServerResponse): Promise<void> {
    const body = await text(asked)
    const fate = fates.shift() ?? 'pass'
    const passed: PassedRequest = {
      line: `${asked.method} ${asked.url}`,
      key: asked.headers['idempotency-key'] as string | undefined,
      headers: asked.headers,
      body,
      sent: false,
      answer: null
    }
    requests.push(passed)
    if (typeof fate === 'object' && fate.when !== 'after') page(reply, fate.status)
    if (typeof fate === 'object' && fate.when === 'instead') return
    const answer = await forward(api, asked, body, () => {
      passed.sent = true
    })
    passed.answer = answer
    if (fate === 'lost') asked.socket.resetAndDestroy()
    else if (fate === 'pass') reply.writeHead(answer.status, answer.headers).end(answer.body)
    else if (fate.when === 'after') page(reply, fate.status)
  }

  const server = createServer((asked, reply) => {
    // The client sees the same as without a proxy: a closed connection.
    handle(asked, reply).catch(() => asked.socket.resetAndDestroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fates,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    }
  }
}

const page = (reply: ServerResponse, status: number): void =>
  void reply.writeHead(status, { 'content-type': 'text/html' }).end('<html><body>try again</body></html>')

async function forward(api: string, { method, url, headers }: IncomingMessage, body: string, sent: () => void) {
  const passed = request(new URL(url!, api), { method: method!, headers, agent: false })
  passed.once('finish', sent)
  passed.end(body)
  const [answer] = (await once(passed, 'response')) as [IncomingMessage]
  const { connection: _, 'keep-alive': __, ...kept } = answer.headers
  return { status: answer.statusCode!, headers: kept, body: await text(answer) }
}
