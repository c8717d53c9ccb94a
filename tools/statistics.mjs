// `npm run statistics [-- trials [seed]]`: builds, runs bench/statistics.ts.
import { spawnSync } from 'node:child_process'
import { build } from './build.mjs'

await build()
const program = new URL('../dist/bench/statistics.js', import.meta.url).pathname
const run = spawnSync(process.execPath, [program, ...process.argv.slice(2)], { stdio: 'inherit' })
process.exitCode = run.status ?? 1
