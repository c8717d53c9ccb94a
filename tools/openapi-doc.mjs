// Prints the OpenAPI document of this source tree, as GET /openapi.json serves it: node tools/openapi-doc.mjs > FILE.
// Nothing has to run for it, and routes that exist only with an identity provider are included.
import { importTypescript } from './import-typescript.mjs'

const { buildApp } = await importTypescript(`export { buildApp } from './apps/api/app.js'`)

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
// Exits only once all is written: a pipe takes 64 KiB at a time.
process.stdout.write(`${JSON.stringify(app.swagger(), null, 2)}\n`, () => process.exit(0))
