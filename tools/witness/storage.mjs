// `npm run witness`: asks moto, a server of S3 by others, what the emulated S3 is asked by a test, and writes its answers to
// test/emulators/fixtures/s3-witness.json. Needs Python and a package registry; the suite needs neither, it reads the file.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { root } from '../bootstrap.mjs'
import { importTypescript } from '../import-typescript.mjs'

const packages = ['moto[s3]==5.2.5', 'flask==3.1.3', 'flask-cors==6.0.5']
const bucket = 'amazon-braket-witness'
const readyLimitMs = 60_000

const folder = join(root, '.test/witness')
const python = join(folder, 'bin/python')

function must(command, args) {
  const { status } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'] })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`)
}

/** Checks signatures from the fifth request on: the first four make a user with keys and the bucket. */
function startMoto(port) {
  const env = { ...process.env, INITIAL_NO_AUTH_ACTION_COUNT: '4' }
  return spawn(python, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], { env, stdio: 'ignore' })
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })

async function untilReady(address) {
  const deadline = Date.now() + readyLimitMs
  while (Date.now() < deadline) {
    const ready = await fetch(`${address}/moto-api/data.json`).then(
      (response) => response.ok,
      () => false
    )
    if (ready) return
    await delay(200)
  }
  throw new Error('moto did not start')
}

async function iam(address, action, fields) {
  const response = await fetch(address, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      authorization:
        'AWS4-HMAC-SHA256 Credential=setup/20260101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=0'
    },
    body: new URLSearchParams({ Action: action, Version: '2010-05-08', ...fields })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${action}: ${response.status} ${text}`)
  return text
}

async function makeKeys(address) {
  const UserName = 'witness'
  await iam(address, 'CreateUser', { UserName })
  const text = await iam(address, 'CreateAccessKey', { UserName })
  const policy = { Version: '2012-10-17', Statement: [{ Effect: 'Allow', Action: '*', Resource: '*' }] }
  await iam(address, 'PutUserPolicy', { UserName, PolicyName: 'all', PolicyDocument: JSON.stringify(policy) })
  const created = await fetch(`${address}/${bucket}`, { method: 'PUT' })
  if (!created.ok) throw new Error(`bucket: ${created.status} ${await created.text()}`)
  return {
    accessKeyId: /<AccessKeyId>(.*?)</.exec(text)[1],
    secretAccessKey: /<SecretAccessKey>(.*?)</.exec(text)[1].replaceAll('&amp;', '&')
  }
}

mkdirSync(folder, { recursive: true })
must(join(root, '.venv/bin/python'), ['-m', 'venv', folder])
must(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages])
const { askStorage } = await importTypescript(`export { askStorage } from './test/emulators/storage-witness.js'`)
const port = await freePort()
const moto = startMoto(port)
try {
  const address = `http://127.0.0.1:${port}`
  await untilReady(address)
  const answers = await askStorage(address, bucket, await makeKeys(address))
  const file = join(root, 'test/emulators/fixtures/s3-witness.json')
  mkdirSync(join(root, 'test/emulators/fixtures'), { recursive: true })
  writeFileSync(file, `${JSON.stringify({ server: packages[0], answers }, null, 2)}\n`)
  process.stdout.write(`${answers.length} answers of ${packages[0]} in ${file}\n`)
} finally {
  moto.kill('SIGTERM')
}
