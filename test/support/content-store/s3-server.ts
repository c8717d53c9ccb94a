// A real S3 server of a test or a trial of its own, on this machine: Versity's gateway over a folder.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CreateBucketCommand, DeleteObjectCommand, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3'
import { type Child, type StackContext, spawnChild, untilHealthy } from '../../../apps/cli/stack/parts/child.js'
import { onPort } from '../../../apps/cli/stack/parts/free-port.js'
import { projectRoot } from '../../../apps/cli/stack/project.js'
import { Watchdog } from '../../../apps/cli/stack/watchdog.js'

/** `null`: there is none on this machine. */
export const s3Program = process.env.TEST_VERSITYGW || null

const HOST = '127.0.0.1'
/** Of the service's objects in the bucket. */
const PREFIX = 'contents'
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

  async function startAt(port: number): Promise<Child> {
    const child = await spawnChild(context, {
      name: 's3',
      command: s3Program!,
      args: [
        ...['--port', `${HOST}:${port}`, '--access', credentials.accessKeyId, '--secret', credentials.secretAccessKey],
        ...['posix', '--versioning-dir', join(folder, 'versions'), join(folder, 'objects')]
      ],
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      cwd: folder,
      stopSignal: 'SIGTERM',
      stopLimitMs: 5_000
    })
    await untilHealthy(child, () => fetch(`http://${HOST}:${port}`), context)
    return child
  }
  const first = await onPort(undefined, async (port) => ({ port, child: await startAt(port) }))
  const { port } = first
  let running = first.child
  const start = () => startAt(port)
  const endpoint = `http://${HOST}:${port}`
  const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true, credentials, maxAttempts: 1 })
  await client.send(new CreateBucketCommand({ Bucket: name, ObjectLockEnabledForBucket: true }))

  return {
    bucket: name,
    endpoint,
    port,
    credentials,
    /** As environment variables of a process, through another address where one is given. */
    environment: (at = endpoint): Record<string, string> => ({
      CONTENT_STORE: `s3://${name}/${PREFIX}`,
      CONTENT_STORE_ENDPOINT: at,
      CONTENT_STORE_ACCESS_KEY_ID: credentials.accessKeyId,
      CONTENT_STORE_SECRET_ACCESS_KEY: credentials.secretAccessKey
    }),
    /** The keys of all objects of the service that are there, without the prefix. */
    async keys(): Promise<string[]> {
      const keys: string[] = []
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, { Bucket: name, Prefix: `${PREFIX}/` }))
        keys.push(...Contents.map(({ Key }) => Key!.slice(PREFIX.length + 1)))
      return keys
    },
    client,
    /** @param signal `SIGSTOP` freezes it, and `SIGCONT` thaws it. */
    signal: (signal: NodeJS.Signals) => process.kill(running.pid, signal),
    /** Deletes an object, as if the server had lost it. @param key without its prefix. */
    lose: (key: string) => client.send(new DeleteObjectCommand({ Bucket: name, Key: `${PREFIX}/${key}` })),
    /** Ends it without notice. */
    async kill(): Promise<void> {
      process.kill(running.pid, 'SIGKILL')
      await running.stop()
    },
    /** Starts it again after a kill. */
    async start(): Promise<void> {
      running = await start()
    },
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
