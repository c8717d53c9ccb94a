// `npm run bench [-- stage ...]`: gets the parts, builds, runs bench/run.ts.
import { spawnSync } from 'node:child_process'
import { bootstrap, browserPath, needs } from './bootstrap.mjs'
import { build } from './build.mjs'

await bootstrap(needs.stack)
await build()
const bench = new URL('../dist/bench/run.js', import.meta.url).pathname
const run = spawnSync(process.execPath, ['--enable-source-maps', bench, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, CHROME_PATH: browserPath() ?? '' }
})
process.exitCode = run.status ?? 1
