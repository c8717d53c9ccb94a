// `npm run cluster [-- --jobs N --seed S --jobs-per-second R]`: gets the parts, builds, runs test/cluster/run.ts.
import { bootstrap, needs, pgbouncer } from '../bootstrap.mjs'
import { build } from '../build.mjs'

await bootstrap(needs.cluster)
await build()
const { path, libraries } = pgbouncer()
Object.assign(process.env, { TEST_PGBOUNCER: path, TEST_PGBOUNCER_LIBRARIES: libraries })
process.setSourceMapsEnabled(true)
await import(new URL('../../dist/test/cluster/run.js', import.meta.url).href)
