// Once per jest run: the bundles of the programs and of the test files, then the shared parts.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap, browserPath, helmPath, needs, pgbouncer, root, versitygwPath } from '../../../tools/bootstrap.mjs'
import { buildTests } from '../../../tools/build/tests.mjs'
import { build } from '../../../tools/build.mjs'

export default async function setUp({ testPathPatterns }) {
  const began = Date.now()
  await bootstrap(needs.stack)
  const wanted = testPathPatterns.patterns.map((pattern) => new RegExp(pattern, 'i'))
  const files = readdirSync(join(root, 'test'), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join(root, 'test', name))
    .filter((path) => wanted.length === 0 || wanted.some((pattern) => pattern.test(path)))
  await Promise.all([build(), buildTests(files)])
  // Its process would stay as long as the run.
  await (await import('esbuild')).stop()
  const { startSharedStack } = await import('../../../dist/test/support/stack/shared-stack.js')
  const stack = await startSharedStack(testPathPatterns.patterns)
  const { path, libraries } = pgbouncer()
  Object.assign(process.env, stack.env, {
    TEST_BROWSER: browserPath() ?? '',
    TEST_HELM: helmPath() ?? '',
    TEST_VERSITYGW: versitygwPath() ?? '',
    TEST_PGBOUNCER: path,
    TEST_PGBOUNCER_LIBRARIES: libraries
  })
  globalThis.stopSharedStack = stack.stop
  process.stderr.write(`test stack ready (${((Date.now() - began) / 1000).toFixed(1)} s)\n`)
}
