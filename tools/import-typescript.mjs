// Lets a script of tools/ use the product's TypeScript.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { root } from './bootstrap.mjs'

/** @param {string} contents TypeScript that imports relative to the project's folder. Returns what it exports. */
export async function importTypescript(contents) {
  // Inside node_modules, so that the packages that stay outside the bundle are found from it.
  const folder = join(root, 'node_modules/.cache')
  mkdirSync(folder, { recursive: true })
  const outfile = join(folder, `import-typescript-${process.pid}.mjs`)
  try {
    await build({
      stdin: { contents, resolveDir: root, loader: 'ts' },
      bundle: true,
      outfile,
      format: 'esm',
      platform: 'node',
      packages: 'external',
      logLevel: 'error'
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(outfile, { force: true })
  }
}
