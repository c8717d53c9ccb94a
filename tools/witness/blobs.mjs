// `npm run witness`: asks Azurite, Microsoft's own server of blob storage for tests, what the emulated storage is asked by a test,
// and writes its answers to test/emulators/fixtures/blob-witness.json. Needs a package registry; the suite needs none, it reads
// the file.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { root } from '../bootstrap.mjs'
import { importTypescript } from '../import-typescript.mjs'

/** The last version that runs on Node 20. */
const server = 'azurite@3.35.0'
const container = 'witness'
const readyLimitMs = 60_000
const future = '2099-01-01T00:00:00Z'

/** Azurite's own account, which its documentation publishes. */
const storage = {
  account: 'devstoreaccount1',
  account_key: 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='
}

function must(command, args) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`)
}

const freePort = () =>
  new Promise((resolve) => {
    const listener = createServer().listen(0, '127.0.0.1', () => {
      const { port } = listener.address()
      listener.close(() => resolve(port))
    })
  })

/** Clients send versions that are newer than Azurite knows. */
const options = ['--inMemoryPersistence', '--skipApiVersionCheck', '--silent', '--disableTelemetry']

function startAzurite(folder, port) {
  const program = join(folder, 'node_modules/azurite/dist/src/blob/main.js')
  const place = ['--blobHost', '127.0.0.1', '--blobPort', String(port)]
  return spawn(process.execPath, [program, ...options, ...place], { cwd: folder, stdio: 'ignore' })
}

async function createContainer(address, accountSas) {
  const query = accountSas(storage, { permissions: 'rwdlac', expires: future })
  const deadline = Date.now() + readyLimitMs
  for (;;) {
    const response = await fetch(`${address}/${storage.account}/${container}?restype=container&${query}`, {
      method: 'PUT'
    }).catch(() => null)
    if (response?.status === 201) return
    if (response) throw new Error(`the container: ${response.status} ${await response.text()}`)
    if (Date.now() > deadline) throw new Error('Azurite did not start')
    await delay(200)
  }
}

const folder = mkdtempSync(join(tmpdir(), 'blob-witness-'))
try {
  must('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', server])
  const { askBlobs, accountSas } = await importTypescript(`
    export { askBlobs } from './test/emulators/azure/blob-witness.js'
    export { accountSas } from './test/emulators/azure/sas.js'`)
  const port = await freePort()
  const azurite = startAzurite(folder, port)
  try {
    const address = `http://127.0.0.1:${port}`
    await createContainer(address, accountSas)
    const answers = await askBlobs(address, storage, container)
    const fixtures = join(root, 'test/emulators/fixtures')
    mkdirSync(fixtures, { recursive: true })
    const file = join(fixtures, 'blob-witness.json')
    writeFileSync(file, `${JSON.stringify({ server, answers }, null, 2)}\n`)
    process.stdout.write(`${answers.length} answers of ${server} in ${file}\n`)
  } finally {
    azurite.kill('SIGTERM')
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
