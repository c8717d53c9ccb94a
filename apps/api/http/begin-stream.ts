import type { FastifyReply } from 'fastify'

/** Begins a response of events (text/event-stream), which the caller writes and ends. */
export function beginStream(reply: FastifyReply): void {
  reply.hijack()
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'x-accel-buffering': 'no'
  })
}
