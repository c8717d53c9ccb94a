// `npm run chaos [-- --minutes N --seed S --jobs-per-second R]`: gets the parts, builds, runs test/chaos/run.ts.
import { bootstrap, needs } from '../bootstrap.mjs'
import { build } from '../build.mjs'

await bootstrap(needs.stack)
await build()
process.setSourceMapsEnabled(true)
// In this process, so that a signal reaches the program that has started the stack.
await import(new URL('../../dist/test/chaos/run.js', import.meta.url).href)
