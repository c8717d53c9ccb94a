// The page at the service's address, for people who open it in a browser: what it is, and the next steps. Programs that ask
// for it get the 404 of any unknown route.
import { createHash } from 'node:crypto'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { SERVICE_VERSION } from '../version.js'

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:3em auto;padding:0 1em}code,pre{background:#8882;padding:.1em .3em}'

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Quantum Job Service</title>
<style>${style}</style>
<h1>Quantum Job Service</h1>
<p>Version ${SERVICE_VERSION} is running. Next steps, in the project folder:</p>
<pre>npx qjob admin create-code
npx qjob sign-up you@example.org --code CODE
npx qjob submit examples/bell.qasm --wait</pre>
<ul>
<li><a href="/docs">The HTTP API</a>, and its <a href="/openapi.json">OpenAPI document</a></li>
<li><a href="/readyz">The state of the service's parts</a></li>
</ul>
</html>
`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${createHash('sha256').update(style).digest('base64')}'; frame-ancestors 'none'`,
  vary: 'accept'
}

export const startPageRoute: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', { schema: { hide: true } }, async (request, reply) => {
    if (!request.headers.accept?.includes('text/html')) return reply.callNotFound()
    return reply.headers(headers).send(html)
  })
}
