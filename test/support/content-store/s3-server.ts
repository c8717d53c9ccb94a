// A real S3 server of a test's own, on this machine: Versity's gateway over a folder.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CreateBucketCommand, ListObjectVersionsCommand, S3Client } from '@aws-sdk/client-s3'
import { type Child, type StackContext, spawnChild, untilHealthy } from '../../../apps/cli/stack/parts/child.js'
import { freePort } from '../../../apps/cli/stack/parts/free-port.js'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { Watchdog } from '../../../apps/cli/stack/watchdog.js'
import { testWith } from '../needed-program.js'

const program = process.env.TEST_VERSITYGW || null
export const s3Test = testWith(program, 'There is no S3 server: install versitygw, or Go to build it')
/** Whether the tests of this file run at all: a hook needs the server only then. */
export const hasS3Server = program !== null

const HOST = '127.0.0.1'
const credentials = { accessKeyId: 'of-the-test', secretAccessKey: 'a-secret-of-the-test' }

export type S3Server = Awaited<ReturnType<typeof startS3Server>>

/** @param name of the bucket, which has versions and can lock objects. */
export async function startS3Server(name: string) {
  const folder = join(projectRoot, '.test', 'platforms', `s3-${name}-${process.pid}`)
  rmSync(folder, { recursive: true, force: true })
  for (const part of ['objects', 'versions']) mkdirSync(join(folder, part), { recursive: true })
  const ending = new AbortController()
  const watchdog = new Watchdog()
  const context: StackContext = { logFile: (part) => join(folder, `${part}.log`), watchdog, signal: ending.signal }
  const port = await freePort()
  const endpoint = `http://${HOST}:${port}`
  const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials, maxAttempts: 1 })

  async function start(): Promise<Child> {
    const child = await spawnChild(context, {
      name: 's3',
      command: program!,
      args: [
        ...['--port', `${HOST}:${port}`, '--access', credentials.accessKeyId, '--secret', credentials.secretAccessKey],
        ...['posix', '--versioning-dir', join(folder, 'versions'), join(folder, 'objects')]
      ],
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      cwd: folder,
      stopSignal: 'SIGTERM',
      stopLimitMs: 5_000
    })
    await untilHealthy(child, () => fetch(endpoint), context)
    return child
  }
  let running = await start()
  await client.send(new CreateBucketCommand({ Bucket: name, ObjectLockEnabledForBucket: true }))

  return {
    bucket: name,
    endpoint,
    port,
    credentials,
    /** As environment variables of a process, through another address where one is given. */
    environment: (at = endpoint): Record<string, string> => ({
      CONTENT_STORE: `s3://${name}/contents`,
      CONTENT_STORE_ENDPOINT: at,
      CONTENT_STORE_ACCESS_KEY_ID: credentials.accessKeyId,
      CONTENT_STORE_SECRET_ACCESS_KEY: credentials.secretAccessKey
    }),
    /** The keys of all objects that are there, their prefix included. */
    async keys(): Promise<string[]> {
      const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket: name }))
      return Versions.filter(({ IsLatest }) => IsLatest).map(({ Key }) => Key!)
    },
    client,
    /** @param signal `SIGSTOP` freezes it, and `SIGCONT` thaws it. */
    signal: (signal: NodeJS.Signals) => process.kill(running.pid, signal),
    async restart(): Promise<void> {
      await running.stop()
      running = await start()
    },
    async close(): Promise<void> {
      process.kill(running.pid, 'SIGCONT')
      await running.stop()
      ending.abort()
      client.destroy()
      watchdog.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
