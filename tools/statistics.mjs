// `npm run statistics [-- trials [seed]]`: gets the parts, builds, runs bench/statistics.ts.
import { spawnSync } from 'node:child_process'
import { bootstrap, needs } from './bootstrap.mjs'
import { build } from './build.mjs'

await bootstrap(needs.stack)
await build()
const program = new URL('../dist/bench/statistics.js', import.meta.url).pathname
const run = spawnSync(process.execPath, [program, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = run.status ?? 1
