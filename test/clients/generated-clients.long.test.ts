// Clients that public generators make from the OpenAPI document compile, and work against a running service: openapi-python-client
// with mypy, and openapi-typescript with tsc.
import { spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { projectRoot } from '../../apps/cli/stack/project.js'
import { type Platform, startPlatform } from '../support/stack/platform.js'
import { pythonProgram, typescriptProgram } from './programs.js'

const folder = join(projectRoot, '.test', 'clients')
const python = join(projectRoot, '.venv/bin/python')
/** Of `startPlatform`. */
const account = ['ada@example.org', 'correct horse']

let platform: Platform
beforeAll(async () => {
  platform = await startPlatform('generated_clients')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'openapi.json'), await (await platform.call('GET', '/openapi.json')).text())
}, 60_000)
afterAll(() => platform?.close())

/** @returns what the program printed. @throws Error with all its output when it fails. */
async function run(program: string, ...args: string[]): Promise<string> {
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].on('data', (chunk) => {
      printed[name] += chunk
    })
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code !== 0)
    throw new Error(`${program} ${args.join(' ')} exited with ${code}\n${printed.stdout}${printed.stderr}`)
  return printed.stdout
}

test('a generated Python client compiles, signs in, submits a job and reads its result', async () => {
  writeFileSync(join(folder, 'generator.yml'), 'post_hooks: []\n')
  await run(
    ...([python, '-m', 'openapi_python_client', 'generate', '--path', 'openapi.json', '--meta', 'none'] as const),
    ...(['--config', 'generator.yml', '--output-path', 'qjs_client', '--overwrite'] as const)
  )
  writeFileSync(join(folder, 'program.py'), pythonProgram)
  await run(python, '-m', 'mypy', '--strict', 'qjs_client', 'program.py')
  expect(await run(python, 'program.py', platform.url(), ...account)).toBe("{'1': 100}\n")
}, 240_000)

test('generated TypeScript types accept a correct submission and refuse an incomplete one, and the program works', async () => {
  const generator = createRequire(join(projectRoot, 'test/clients/types/package.json')).resolve(
    'openapi-typescript/package.json'
  )
  await run(process.execPath, join(dirname(generator), 'bin/cli.js'), 'openapi.json', '--output', 'schema.d.ts')
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'program.ts'), typescriptProgram('./schema.js'))
  const strict = ['--ignoreConfig', '--strict', '--skipLibCheck', 'false', '--target', 'es2023', '--module', 'nodenext']
  const types = ['--types', 'node', '--typeRoots', join(projectRoot, 'node_modules/@types')]
  await run(join(projectRoot, 'node_modules/.bin/tsc'), ...strict, ...types, 'program.ts')
  expect(await run(process.execPath, 'program.js', platform.url(), ...account)).toBe('{"1":100}\n')
}, 120_000)
