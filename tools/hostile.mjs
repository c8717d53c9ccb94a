// `npm run hostile [-- --minutes N --only NAME --short]`: gets the parts, builds, runs test/hostile/run.ts.
import { spawnSync } from 'node:child_process'
import { bootstrap, needs } from './bootstrap.mjs'
import { build } from './build.mjs'

await bootstrap(needs.stack)
await build()
const hostile = new URL('../dist/test/hostile/run.js', import.meta.url).pathname
const run = spawnSync(process.execPath, ['--enable-source-maps', hostile, ...process.argv.slice(2)], {
  stdio: 'inherit'
})
process.exitCode = run.status ?? 1
