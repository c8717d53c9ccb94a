// Writes db/seed/templates/metadata.json, what reading the platform's templates tells: node tools/template-metadata.mjs. With
// --print it only prints. Needs the executor's environment (npm start makes it).
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bootstrap.mjs'
import { importTypescript } from './import-typescript.mjs'

const { metadataOf } = await importTypescript(`export { metadataOf } from './domain/scripts/script-reading.js'`)

const folder = join(root, 'db', 'seed', 'templates')
const slugs = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')).map(({ slug }) => slug)
const program = `
import json, sys
from qjs_executor.child.analysis.analysis import analyse
print(json.dumps([analyse(code, None) for code in json.load(sys.stdin)]))
`
const readings = JSON.parse(
  execFileSync(join(root, '.venv', 'bin', 'python'), ['-c', program], {
    cwd: join(root, 'apps', 'executor'),
    input: JSON.stringify(slugs.map((slug) => readFileSync(join(folder, `${slug}.py`), 'utf8'))),
    encoding: 'utf8'
  })
)
const text = `${JSON.stringify(Object.fromEntries(slugs.map((slug, at) => [slug, metadataOf(readings[at])])), null, 2)}\n`
if (process.argv.includes('--print')) process.stdout.write(text)
else writeFileSync(join(folder, 'metadata.json'), text)
