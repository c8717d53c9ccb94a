// Prints the OpenAPI document of this source tree, as GET /openapi.json serves it: node tools/openapi-doc.mjs > FILE.
// Nothing has to run for it, and routes that exist only with a provider of identities are included.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { root } from './bootstrap.mjs'

// Inside node_modules, so that the packages that stay outside the bundle are found from it.
const cache = join(root, 'node_modules/.cache')
mkdirSync(cache, { recursive: true })
const outfile = join(cache, 'openapi-doc.mjs')
await build({
  stdin: { contents: `export { buildApp } from './apps/api/app.js'`, resolveDir: root, loader: 'ts' },
  bundle: true,
  outfile,
  format: 'esm',
  platform: 'node',
  packages: 'external',
  logLevel: 'error'
})
const { buildApp } = await import(pathToFileURL(outfile).href)

// Describing routes calls none of them, so no dependency is ever used.
const unused = new Proxy(() => unused, { get: (_target, name) => (typeof name === 'symbol' ? undefined : unused) })
const app = await buildApp({
  config: { publicUrl: null },
  poolMax: 4,
  limiter: { trustedProxies: [] },
  tracing: null,
  metrics: unused,
  executor: null,
  listener: unused,
  db: unused,
  oidc: unused
})
await app.ready()
process.stdout.write(`${JSON.stringify(app.swagger(), null, 2)}\n`)
process.exit(0)
