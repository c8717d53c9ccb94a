// Serves the pages for people who follow a link in a mail: /invitations/:token, /reset-password/:token.
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { invitationPage, type Page, resetPasswordPage } from './mail-link-pages.js'

export const mailLinkRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const pages: [string, () => Page][] = [
    ['/invitations/:token', invitationPage],
    ['/reset-password/:token', resetPasswordPage]
  ]
  for (const [path, make] of pages)
    app.get(path, { schema: { hide: true } }, async (_request, reply) => {
      const { html, headers } = make()
      return reply.headers(headers).send(html)
    })
}
