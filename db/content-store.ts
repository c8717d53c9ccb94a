// The store of large contents outside the database. Which one it is belongs to the connection: rows and what they name are
// read together.
import { createHash } from 'node:crypto'
import { ServiceError } from '../domain/errors.js'

/** Objects by key. A key begins with the digest of its content (`contentKey`), and each is written once. */
export interface ContentStore {
  /** The bytes from `from` on. @throws ServiceError `content_store_unavailable`; ContentLost when there is no such object. */
  read(key: string, from?: number): AsyncIterable<Buffer>
  /**
   * Returns when the store has confirmed the whole object.
   * @param keepUntil the store refuses to delete it before, where it is set up to lock objects.
   * @throws ServiceError `content_store_unavailable`
   */
  write(key: string, content: Buffer, keepUntil: Date | null): Promise<void>
  /** An object that does not exist is as good as removed. @throws ServiceError `content_store_unavailable` */
  remove(key: string): Promise<void>
  /**
   * The keys that begin with this text, in their order, also of locked objects that somebody has removed. For contents there is
   * nothing to list: rows name them.
   * @throws ServiceError `content_store_unavailable`
   */
  list(start: string): AsyncIterable<string>
}

/** A content that the store no longer has, or has with other bytes. */
export class ContentLost extends Error {
  override readonly name = 'ContentLost'
  constructor(key: string, what: string) {
    super(`the content store ${what}: ${key}`)
  }
}

/** @param id makes it the only object of its kind, so that none is ever written or removed for another row. */
export const contentKey = (sha256: string, id: string): string => `${sha256.slice(0, 2)}/${sha256}/${id}`

/** Hex. */
export const digestIn = (key: string): string => key.split('/')[1] ?? ''

/** drizzle's client and its transactions name their session, and that the driver's client. */
interface Connected {
  readonly _: { readonly session: unknown }
}

const stores = new WeakMap<object, ContentStore>()

export const connectStore = (client: object, store: ContentStore | null): void => {
  if (store) stores.set(client, store)
}

/** The store of a connection. @throws ServiceError `content_store_unavailable` when it has none. */
export function storeOf(db: Connected): ContentStore {
  const { client } = db._.session as { client: object }
  const store = stores.get(client)
  if (!store)
    throw new ServiceError(
      'content_store_unavailable',
      'this content is in a content store, and CONTENT_STORE is not set'
    )
  return store
}

/**
 * The bytes of an object from `from` on. The last of them come only after the digest of a whole read was checked, so that a
 * reader never has a wrong content that looks complete.
 * @throws ContentLost, also when the object has another size.
 */
export async function* objectSlices(db: Connected, key: string, sizeBytes: number, from = 0): AsyncGenerator<Buffer> {
  const digest = createHash('sha256')
  let at = from
  let last: Buffer | null = null
  for await (const piece of storeOf(db).read(key, from)) {
    at += piece.length
    if (at > sizeBytes) throw new ContentLost(key, `has more than ${sizeBytes} bytes of`)
    digest.update(piece)
    if (last) yield last
    last = piece
  }
  if (at !== sizeBytes) throw new ContentLost(key, `has ${at} of ${sizeBytes} bytes of`)
  if (from === 0 && digest.digest('hex') !== digestIn(key))
    throw new ContentLost(key, 'has other bytes than were written to')
  if (last) yield last
}

/** The whole object in one Buffer. @throws ContentLost, also when its bytes are not those of the digest in its key. */
export async function wholeObject(db: Connected, key: string, sizeBytes: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(sizeBytes)
  let at = 0
  for await (const slice of objectSlices(db, key, sizeBytes)) at += slice.copy(whole, at)
  return whole
}

/** Whether the store has exactly what was written to it. @throws ServiceError `content_store_unavailable` */
export async function isKept(db: Connected, key: string, sizeBytes: number): Promise<boolean> {
  try {
    for await (const _ of objectSlices(db, key, sizeBytes));
    return true
  } catch (error) {
    if (error instanceof ContentLost) return false
    throw error
  }
}
