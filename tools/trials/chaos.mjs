// `npm run chaos [-- --minutes N --seed S --jobs-per-second R --content-store]`: gets the parts, builds, runs test/chaos/run.ts.
import { bootstrap, needs, versitygwPath } from '../bootstrap.mjs'
import { build } from '../build.mjs'

const withStore = process.argv.includes('--content-store')
await bootstrap([...needs.stack, ...(withStore ? needs.contentStore : [])])
if (withStore) process.env.TEST_VERSITYGW = versitygwPath() ?? ''
await build()
process.setSourceMapsEnabled(true)
// In this process, so that a signal reaches the program that has started the stack.
await import(new URL('../../dist/test/chaos/run.js', import.meta.url).href)
