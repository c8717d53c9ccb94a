// The content store in a bucket of S3, or of a server that speaks its protocol.
import { setTimeout as delay } from 'node:timers/promises'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  ListObjectVersionsCommand,
  type ListObjectVersionsCommandOutput,
  PutObjectCommand,
  S3Client,
  S3ServiceException
} from '@aws-sdk/client-s3'
import { ContentLost, type ContentStore } from '../../db/content-store.js'
import { ServiceError } from '../../domain/errors.js'
import type { S3Settings } from './s3-settings.js'

const CONNECT_MS = 3_000
/** Without a byte in either direction. */
const IDLE_MS = 10_000
/** Of one call, its answer included: the largest content at half a megabyte a second. */
const CALL_MS = 90_000
/** The client repeats what a busy store refuses. */
const TRIES = 3

const RETRY_AFTER_SECONDS = 10

export interface S3Store extends ContentStore {
  close(): void
}

export function createS3Store(settings: S3Settings): S3Store {
  const { bucket, prefix, region, endpoint, pathStyle, credentials, lock } = settings
  const client = new S3Client({
    region,
    forcePathStyle: pathStyle,
    maxAttempts: TRIES,
    requestHandler: { connectionTimeout: CONNECT_MS, socketTimeout: IDLE_MS, throwOnRequestTimeout: true },
    // Not every server knows the newer checksums. Each object is read again and compared before its row loses the content.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    ...(endpoint && { endpoint }),
    ...(credentials && { credentials })
  })
  const at = (key: string) => ({ Bucket: bucket, Key: prefix + key })

  return {
    async *read(key, from = 0) {
      const abort = new AbortController()
      const range = from > 0 ? { Range: `bytes=${from}-` } : {}
      try {
        const { Body } = await within(IDLE_MS, abort, () =>
          client.send(new GetObjectCommand({ ...at(key), ...range }), { abortSignal: abort.signal })
        )
        const pieces = (Body as unknown as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
        for (;;) {
          // The reader's own pauses do not count.
          const { done, value } = await within(IDLE_MS, abort, () => pieces.next())
          if (done) return
          yield value
        }
      } catch (error) {
        throw isMissing(error) ? new ContentLost(key, 'has no object') : unavailable(error)
      } finally {
        abort.abort()
      }
    },

    async write(key, content, keepUntil) {
      const kept = lock && keepUntil ? { ObjectLockMode: lock, ObjectLockRetainUntilDate: keepUntil } : {}
      await call((abortSignal) =>
        client.send(
          new PutObjectCommand({
            ...at(key),
            Body: content,
            ContentLength: content.length,
            ContentType: 'application/octet-stream',
            ...kept
          }),
          { abortSignal }
        )
      )
    },

    async remove(key) {
      await call((abortSignal) => client.send(new DeleteObjectCommand(at(key)), { abortSignal }))
    },

    async *list(start) {
      const below = { Bucket: bucket, Prefix: prefix + start }
      // A removed object that is locked stays as a version, which is what the lock is for.
      const pages = lock ? versionsOf(client, below) : objectsOf(client, below)
      let last = ''
      try {
        for await (const keys of pages)
          for (const key of keys) {
            if (key !== last) yield key.slice(prefix.length)
            last = key
          }
      } catch (error) {
        throw isRefusal(error) ? error : unavailable(error)
      }
    },

    close: () => client.destroy()
  }
}

interface Below {
  Bucket: string
  Prefix: string
}

async function* objectsOf(client: S3Client, below: Below): AsyncGenerator<string[]> {
  let from: string | undefined
  do {
    const page: ListObjectsV2CommandOutput = await answered((abortSignal) =>
      client.send(new ListObjectsV2Command({ ...below, ...(from && { ContinuationToken: from }) }), { abortSignal })
    )
    yield (page.Contents ?? []).map(({ Key }) => Key!)
    from = page.IsTruncated ? page.NextContinuationToken : undefined
  } while (from)
}

async function* versionsOf(client: S3Client, below: Below): AsyncGenerator<string[]> {
  let from: { KeyMarker?: string; VersionIdMarker?: string } | null = {}
  while (from) {
    const at = from
    const page: ListObjectVersionsCommandOutput = await answered((abortSignal) =>
      client.send(new ListObjectVersionsCommand({ ...below, ...at }), { abortSignal })
    )
    yield (page.Versions ?? []).map(({ Key }) => Key!)
    const { NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = page
    from = page.IsTruncated && KeyMarker ? { KeyMarker, ...(VersionIdMarker && { VersionIdMarker }) } : null
  }
}

const answered = <T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const abort = new AbortController()
  return within(IDLE_MS, abort, () => send(abort.signal))
}

async function call(send: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
  const abort = new AbortController()
  try {
    await within(CALL_MS, abort, () => send(abort.signal))
  } catch (error) {
    throw isRefusal(error) ? error : unavailable(error)
  }
}

async function within<T>(ms: number, abort: AbortController, work: () => Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = delay(ms, undefined, { signal: over.signal }).then(() => {
    abort.abort()
    throw new Error(`no answer within ${ms} ms`)
  })
  try {
    return await Promise.race([work(), late])
  } finally {
    late.catch(() => {})
    over.abort()
  }
}

const statusOf = (error: unknown): number | null =>
  error instanceof S3ServiceException ? (error.$metadata.httpStatusCode ?? null) : null

const isMissing = (error: unknown): boolean =>
  error instanceof S3ServiceException && (error.name === 'NoSuchKey' || error.name === 'NotFound')

/** Of this request, and not of all. A bucket that does not exist, or credentials that are refused, stop every request. */
const isRefusal = (error: unknown): boolean => {
  const status = statusOf(error)
  return status !== null && status >= 400 && status < 500 && ![401, 404, 408, 429].includes(status)
}

const unavailable = (cause: unknown): ServiceError =>
  new ServiceError(
    'content_store_unavailable',
    'The store of large contents does not respond; nothing is lost. Try again in a few seconds',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
    { cause }
  )
