// Stands in for the executor and does what a real one does only when it is broken: silent, full, gone during a run, or
// sending lines that a test checks.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Call {
  path: string
  /** `null` when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape.
  body: any
  /** Whether the caller hung up before the response was complete. */
  hungUp: boolean
}

/** What it does with a request. Without an `end` the request hangs. */
export type Fault = (response: ServerResponse, request: IncomingMessage) => void

export async function startFaultyExecutor(first: Fault) {
  const calls: Call[] = []
  let fault = first
  let atReservation: Fault | null = null
  const server = createServer(async (request, response) => {
    // A slot is free for every call, unless its test says otherwise.
    if (request.url!.startsWith('/reservations') && !atReservation) return void response.end('{"id":"a-slot"}')
    const body = await text(request)
    const call: Call = { path: request.url!, body: body === '' ? null : JSON.parse(body), hungUp: false }
    response.on('close', () => {
      call.hungUp = !response.writableFinished
    })
    calls.push(call)
    const act = request.url!.startsWith('/reservations') ? atReservation! : fault
    act(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    from(next: Fault): void {
      fault = next
    },
    /** What it does with reservations; `null`: it grants them. */
    fromReservations(next: Fault | null): void {
      atReservation = next
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}

export const hang: Fault = () => {}

export const refuse =
  (status: number, code: string, message: string, headers: Record<string, string> = {}): Fault =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { code, message } }))
  }

/** Streams lines, then ends, dies or hangs. */
export const stream =
  (lines: object[], then: 'end' | 'die' | 'hang' = 'end'): Fault =>
  (response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    const text = [{ accepted: { framework: 'openqasm' } }, ...lines].map((line) => `${JSON.stringify(line)}\n`).join('')
    response.write(text, () => {
      if (then === 'end') response.end()
      if (then === 'die') response.destroy()
    })
  }

export const completed = (result: string): object => ({ outcome: { status: 'completed', result } })
