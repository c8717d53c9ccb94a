#!/usr/bin/env node
// `qjob`: installs what is missing, updates the bundles, runs the command line in this same process.
import { bootstrap, needs } from './bootstrap.mjs'
import { build } from './build.mjs'

const startsStack = ['start', 'demo'].includes(process.argv[2])
try {
  await bootstrap(startsStack ? needs.stack : needs.client)
  await build()
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
await import('../dist/apps/cli/main.js')
