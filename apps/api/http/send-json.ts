import type { FastifyReply } from 'fastify'

/** The text is JSON already; an object would be serialised a second time. */
export const sendJson = (reply: FastifyReply, json: string): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(json)
