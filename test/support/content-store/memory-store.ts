// A content store in memory, whose faults a test chooses. The real ones are tried in test/services/content-store.
import { ContentLost, type ContentStore } from '../../../db/content-store.js'
import { ServiceError } from '../../../domain/errors.js'

export interface MemoryStore extends ContentStore {
  objects: Map<string, { content: Buffer; keepUntil: Date | null }>
  /** Every call is refused. */
  isAway: boolean
  /** Called before an object is written; what it throws, the writer gets. */
  onWrite: (key: string) => Promise<void> | void
}

const PIECE_BYTES = 10_000

export function createMemoryStore(): MemoryStore {
  const answer = () => {
    if (store.isAway) throw new ServiceError('content_store_unavailable', 'away')
  }
  const store: MemoryStore = {
    objects: new Map(),
    isAway: false,
    onWrite: () => {},
    async *read(key, from = 0) {
      answer()
      const found = store.objects.get(key)
      if (!found) throw new ContentLost(key, 'has no object')
      for (let at = from; at < found.content.length; at += PIECE_BYTES)
        yield found.content.subarray(at, at + PIECE_BYTES)
    },
    async write(key, content, keepUntil) {
      answer()
      await store.onWrite(key)
      store.objects.set(key, { content: Buffer.from(content), keepUntil })
    },
    async remove(key) {
      answer()
      store.objects.delete(key)
    },
    async *list(start) {
      answer()
      yield* [...store.objects.keys()].filter((key) => key.startsWith(start)).sort()
    }
  }
  return store
}
