// `npm run chaos [-- --minutes N --seed S --jobs-per-second R]`: gets the parts, builds, runs test/chaos/run.ts.
import { spawnSync } from 'node:child_process'
import { bootstrap, needs } from './bootstrap.mjs'
import { build } from './build.mjs'

await bootstrap(needs.stack)
await build()
const chaos = new URL('../dist/test/chaos/run.js', import.meta.url).pathname
const run = spawnSync(process.execPath, ['--enable-source-maps', chaos, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = run.status ?? 1
