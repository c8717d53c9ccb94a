// How Vite treats the console, for the build and for `npm run console`.
import { join } from 'node:path'

/** In the page's text, in the place of the nonce. apps/api/console/built-console.ts replaces it in each response. */
const NONCE_MARK = 'NONCE_OF_THIS_RESPONSE'

/** Packages mark files for servers that render React, which the console does not do; and a busy machine builds slowly. */
const silenced = ['MODULE_LEVEL_DIRECTIVE', 'PLUGIN_TIMINGS']
/** Simulators ask for modules of Node, and use them under Node alone. */
const ofNode = /^Module "\w+" has been externalized for browser compatibility/

const onLog = (level, log, report) =>
  silenced.includes(log.code) || ofNode.test(log.message) ? undefined : report(level, log)

/** @param root of the project. */
export const consoleConfig = (root) => ({
  configFile: false,
  root: join(root, 'apps/console'),
  cacheDir: join(root, 'node_modules/.cache/vite'),
  publicDir: false,
  logLevel: 'warn',
  html: { cspNonce: NONCE_MARK },
  css: { modules: { generateScopedName: '[name]-[local]-[hash:base64:4]' } },
  build: {
    // The policy allows no inlined script and no polyfill made of one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    emptyOutDir: true,
    rolldownOptions: { onLog }
  },
  worker: {
    format: 'es',
    // By this folder the api knows which files get a policy of their own.
    rolldownOptions: { onLog, output: { entryFileNames: 'assets/workers/[name]-[hash].js' } }
  }
})
