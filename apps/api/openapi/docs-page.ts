// The page at /docs, which shows the OpenAPI document. Its operations are folded: there are more than a hundred.
import type { FastifySwaggerUiOptions } from '@fastify/swagger-ui'

const NAME = 'Quantum Job Service'

const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="260" height="40" viewBox="0 0 260 40">
  <text x="0" y="27" font-family="sans-serif" font-size="22" fill="#fff">${NAME}</text>
</svg>`

export const docsPage: FastifySwaggerUiOptions = {
  routePrefix: '/docs',
  uiConfig: { docExpansion: 'none', filter: true },
  theme: { title: `${NAME}: API` },
  logo: { type: 'image/svg+xml', content: Buffer.from(logo), href: '/', target: '_self' }
}
