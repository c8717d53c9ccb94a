// A refusal of a route that a browser navigates to, as a page: people would be left with JSON on their screen.
import type { FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { escaped } from './html-text.js'
import { isNavigation } from './navigation.js'
import { plainPage } from './plain-page.js'

type OnSend = (
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error: null, payload: unknown) => void
) => void

const asPage: OnSend = (request, reply, payload, done) => {
  if (reply.statusCode < 400 || typeof payload !== 'string' || !isNavigation(request)) return done(null, payload)
  const { error } = JSON.parse(payload) as { error?: unknown }
  const message = typeof error === 'string' ? error : `The service returned ${reply.statusCode}`
  const { html, headers } = plainPage(
    'You are not signed in',
    `<p>${escaped(message)}</p>
<p><a href="/sign-in">Back to signing in</a>, or <a href="/sign-up">sign up with an access code</a></p>`
  )
  // The length of the JSON was set already.
  reply.headers(headers).removeHeader('content-length')
  done(null, html)
}

/** Options of such a route. */
export const refusesWithPage: Pick<RouteShorthandOptions, 'onSend'> = { onSend: asPage }
