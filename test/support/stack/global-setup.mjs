// Once per jest run: bundles, then the shared parts. jest loads this file outside its own transform, so the TypeScript
// half comes from its bundle in dist/.
import { bootstrap, needs } from '../../../tools/bootstrap.mjs'
import { build } from '../../../tools/build.mjs'

export default async function setUp() {
  const began = Date.now()
  await bootstrap(needs.stack)
  await build()
  const { startSharedStack } = await import('../../../dist/test/support/stack/shared-stack.js')
  const stack = await startSharedStack()
  Object.assign(process.env, stack.env)
  globalThis.stopSharedStack = stack.stop
  process.stderr.write(`test stack ready (${((Date.now() - began) / 1000).toFixed(1)} s)\n`)
}
