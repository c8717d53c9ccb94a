// A receiver of webhooks on 127.0.0.1 that responds as a test says and stores the requests it gets.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook } from 'standardwebhooks'

export interface Received {
  path: string
  method: string
  headers: IncomingHttpHeaders
  body: string
}

export type Reply = (response: ServerResponse, received: Received) => void

export const accept: Reply = (response) => response.writeHead(204).end()
export const refuse: Reply = (response) => response.writeHead(500).end('no')
/** Never answers. */
export const hang: Reply = () => {}

export async function startReceiver(reply: Reply = accept) {
  const received: Received[] = []
  const receiver = { reply, received, url: '', port: 0, close }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const message = { path: request.url!, method: request.method!, headers: request.headers, body }
    received.push(message)
    receiver.reply(response, message)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.port = (server.address() as AddressInfo).port
  receiver.url = `http://127.0.0.1:${receiver.port}/hook`

  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return receiver
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** The payload, as the convention's own library reads it. @throws when it was not signed with this secret. */
export const verified = (secret: string, { headers, body }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as {
    type: string
    timestamp: string
    data: Record<string, unknown>
  }
