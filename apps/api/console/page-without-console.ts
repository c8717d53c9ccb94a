// The page of an api without a built console: what is missing, and what works without it.
import { SERVICE_VERSION } from '../version.js'
import type { Page } from './built-console.js'
import { plainPage } from './plain-page.js'

const page = plainPage(
  'Quantum Job Service',
  `<p>Version ${SERVICE_VERSION} is running without its web console, which is not built. In the project folder, run</p>
<pre>npm run build</pre>
<p>and start the service again. The command line works without the console:</p>
<pre>npx qjob admin create-code
npx qjob sign-up you@example.org --code CODE
npx qjob submit examples/bell.qasm --wait</pre>
<ul>
<li><a href="/docs">The HTTP API</a>, and its <a href="/openapi.json">OpenAPI document</a></li>
<li><a href="/readyz">The state of the service's parts</a></li>
</ul>`
)

export const pageWithoutConsole = (): Page => page
