// The page of an api without a built console: what is missing, and what works without it.
import { createHash } from 'node:crypto'
import { SERVICE_VERSION } from '../version.js'
import type { Page } from './built-console.js'

const style =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:40em;margin:3em auto;padding:0 1em}code,pre{background:#8882;padding:.1em .3em}'

const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Quantum Job Service</title>
<style>${style}</style>
<h1>Quantum Job Service</h1>
<p>Version ${SERVICE_VERSION} is running without its web console, which is not built. In the project folder, run</p>
<pre>npm run build</pre>
<p>and start the service again. The command line works without the console:</p>
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
  'referrer-policy': 'no-referrer'
}

export const pageWithoutConsole = (): Page => ({ html, headers })
