// Vite's server for work on the console: `npm run console`, with the service running (`npm start`). Its page asks for
// whatever is not the console's from the service at QJOB_URL, by default http://127.0.0.1:3000.

import { say } from '../bootstrap/progress.mjs'
import { bootstrap, needs, root } from '../bootstrap.mjs'

const target = process.env.QJOB_URL || 'http://127.0.0.1:3000'

await bootstrap(needs.client)
const [{ createServer }, { consoleConfig }] = await Promise.all([import('vite'), import('./console-config.mjs')])

// The service decides by Host and Origin whether a write comes from its own page, so the proxy keeps both.
const forward = { target, changeOrigin: false }
const server = await createServer({
  ...consoleConfig(root),
  logLevel: 'info',
  server: {
    host: '127.0.0.1',
    fs: { allow: [root] },
    proxy: { '/api': forward, '/docs': forward, '/openapi.json': forward, '/healthz': forward, '/readyz': forward }
  }
})
await server.listen()
say(`The console of ${target}:`)
server.printUrls()
