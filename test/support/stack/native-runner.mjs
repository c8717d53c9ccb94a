// Runs a test file with jest's own runner, but in Node itself: jest's module loader would evaluate some two thousand modules
// anew for each file. The file is the bundle that tools/build/tests.mjs makes of it.
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { bundleOf } from '../../../tools/build/tests.mjs'

const require = createRequire(import.meta.url)
const { default: runWithCircus } = require('jest-circus/runner')

// jest kills a worker that has not exited half a second after its last file. The packages that the files have loaded may
// take longer, because they close their connections and threads first.
const END_OF_RUN = 2
process.on('message', ([type]) => {
  if (type === END_OF_RUN) process.exit()
})

export default (globalConfig, config, environment, runtime, testPath, sendMessageToJest) =>
  runWithCircus(globalConfig, config, environment, withNodeLoader(runtime), testPath, sendMessageToJest)

function withNodeLoader(runtime) {
  return Object.assign(Object.create(runtime), {
    requireInternalModule: requireAnew,
    setGlobalsForRuntime(globals) {
      globalThis.jestGlobals = globals
    },
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(bundleOf(path)).href)
  })
}

// The runner keeps the tests that it collects in module state and on the global object.
function requireAnew(path) {
  delete require.cache[path]
  delete globalThis[Symbol.for('EVENT_HANDLERS')]
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (symbol.description === 'JEST_STATE_SYMBOL') delete globalThis[symbol]
  return require(path)
}
