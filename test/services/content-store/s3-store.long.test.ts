// The content store at a real S3 server: what it writes is there whole, and what goes wrong has a name.
import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect } from '@jest/globals'
import { ContentLost, contentKey } from '../../../db/content-store.js'
import { readS3Settings } from '../../../services/content-store/s3-settings.js'
import { createS3Store, type S3Store } from '../../../services/content-store/s3-store.js'
import { type S3Server, startS3Server } from '../../support/content-store/s3-server.js'
import { hasS3Server, s3Test } from '../../support/content-store/s3-test.js'
import { tcpProxy } from '../../support/stack/tcp-proxy.js'

const MIB = 1024 ** 2
let server: S3Server
let store: S3Store
let proxy: Awaited<ReturnType<typeof tcpProxy>>
/** The same store, at an address that can be cut. */
let fragile: S3Store

beforeAll(async () => {
  if (!hasS3Server) return
  server = await startS3Server('contents')
  proxy = await tcpProxy({ host: '127.0.0.1', port: server.port })
  const lock = { CONTENT_STORE_LOCK: 'governance' }
  store = createS3Store(readS3Settings({ ...server.environment(), ...lock })!)
  fragile = createS3Store(readS3Settings(server.environment(`http://127.0.0.1:${proxy.port}`))!)
}, 60_000)
afterAll(async () => {
  store?.close()
  fragile?.close()
  await proxy?.close()
  await server?.close()
})

const keyOf = (content: Buffer): string =>
  contentKey(createHash('sha256').update(content).digest('hex'), randomBytes(8).toString('hex'))

async function all(from: S3Store, key: string, at = 0): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of from.read(key, at)) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

async function written(size: number): Promise<{ key: string; content: Buffer }> {
  const content = randomBytes(size)
  const key = keyOf(content)
  await store.write(key, content, null)
  return { key, content }
}

const unavailable = { code: 'content_store_unavailable', fields: { retryAfterSeconds: expect.any(Number) } }

s3Test('a content is read as it was written, whole and from any place', async () => {
  for (const size of [1, 64 * 1024, 16 * MIB]) {
    const { key, content } = await written(size)
    expect((await all(store, key)).equals(content)).toBe(true)
    const middle = Math.floor(size / 2)
    expect((await all(store, key, middle)).equals(content.subarray(middle))).toBe(true)
    expect(await server.keys()).toContain(key)
  }
})

s3Test('an object that is not there is a lost content, and its removal succeeds', async () => {
  const { key } = await written(100)
  await store.remove(key)
  await expect(all(store, key)).rejects.toThrow(ContentLost)
  await store.remove(key)
})

s3Test('an object is locked for the retention of its capsule, and another is not', async () => {
  const content = randomBytes(100)
  const [locked, free] = [keyOf(content), keyOf(content)]
  await store.write(locked, content, new Date(Date.now() + 3_600_000))
  await store.write(free, content, null)
  await store.remove(free)
  // With versions, a removal leaves the locked version behind a marker.
  await store.remove(locked).catch(() => {})
  const { Versions = [] } = await server.client.send(
    new (await import('@aws-sdk/client-s3')).ListObjectVersionsCommand({
      Bucket: server.bucket,
      Prefix: `contents/${locked}`
    })
  )
  expect(Versions).toHaveLength(1)
})

describe('a store that does not respond is unavailable', () => {
  s3Test('when nothing listens', async () => {
    const { key, content } = await written(1000)
    proxy.cut()
    try {
      await expect(all(fragile, key)).rejects.toMatchObject(unavailable)
      await expect(fragile.write(keyOf(content), content, null)).rejects.toMatchObject(unavailable)
      await expect(fragile.remove(key)).rejects.toMatchObject(unavailable)
    } finally {
      proxy.release()
    }
    expect((await all(fragile, key)).equals(content)).toBe(true)
  })

  s3Test(
    'when it freezes, and is used again when it has thawed',
    async () => {
      const { key, content } = await written(1000)
      server.signal('SIGSTOP')
      try {
        await expect(all(fragile, key)).rejects.toMatchObject(unavailable)
      } finally {
        server.signal('SIGCONT')
      }
      expect((await all(fragile, key)).equals(content)).toBe(true)
    },
    60_000
  )

  s3Test('when the connection ends amid a content, and what came is not taken for the whole', async () => {
    const { key, content } = await written(16 * MIB)
    let got = 0
    const reading = (async () => {
      for await (const piece of fragile.read(key)) {
        got += piece.length
        if (got > MIB) proxy.cut()
        await delay(1)
      }
    })()
    try {
      await expect(reading).rejects.toMatchObject(unavailable)
    } finally {
      proxy.release()
    }
    expect(got).toBeLessThan(content.length)
  })

  s3Test('when it refuses the credentials, or has no such bucket', async () => {
    const { key } = await written(100)
    for (const wrong of [{ CONTENT_STORE_SECRET_ACCESS_KEY: 'wrong' }, { CONTENT_STORE: 's3://no-such-bucket' }]) {
      const other = createS3Store(readS3Settings({ ...server.environment(), ...wrong })!)
      await expect(all(other, key)).rejects.toMatchObject(unavailable)
      other.close()
    }
  })
})

s3Test('an upload that is cut leaves no object', async () => {
  const content = randomBytes(16 * MIB)
  const key = keyOf(content)
  const writing = fragile.write(key, content, null)
  await delay(5)
  proxy.cut()
  try {
    await expect(writing).rejects.toMatchObject(unavailable)
  } finally {
    proxy.release()
  }
  await expect(all(store, key)).rejects.toThrow(ContentLost)
})
