// Bundles each test file with the product code it imports into .test/bundles/, so that it starts in a fraction of a second
// and has its own copy of every product module. Packages stay outside: Node loads them once per jest worker.
import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const outdir = join(root, '.test/bundles')

/** @param testPath an absolute path of a test file. */
export const bundleOf = (testPath) => join(outdir, relative(root, testPath).replace(/\.ts$/, '.mjs'))

/** @param testPaths the absolute paths of the test files to bundle. */
export async function buildTests(testPaths) {
  const esbuild = await import('esbuild')
  await esbuild.build({
    absWorkingDir: root,
    entryPoints: testPaths,
    outdir,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'error',
    plugins: [jestGlobals, ownLocation]
  })
}

/** `@jest/globals` is a placeholder that only jest's module loader fills; native-runner.mjs puts the functions here. */
const jestGlobals = {
  name: 'jest-globals',
  setup(build) {
    build.onResolve({ filter: /^@jest\/globals$/ }, () => ({ path: 'globals', namespace: 'jest' }))
    build.onLoad({ filter: /.*/, namespace: 'jest' }, () => ({ contents: 'module.exports = globalThis.jestGlobals' }))
  }
}

/** A bundle lies elsewhere than its sources, which read files next to themselves. */
const ownLocation = {
  name: 'own-location',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.')) return null
      const contents = text
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href))
      return { contents, loader: 'ts' }
    })
  }
}
