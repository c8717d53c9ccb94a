// The content store of a chaos run: a real S3 server, to which contents move within seconds.
import type { S3Server } from '../support/content-store/s3-server.js'

/** How long a content is in both places. What the store loses in this time is copied again. */
export const BOTH_SECONDS = 6

/** Of api and worker: the product's own waiting times, shortened. */
export const storeEnvironment = (store: S3Server): Record<string, string> => ({
  ...store.environment(),
  CONTENT_STORE_AFTER_SECONDS: '1',
  CONTENT_STORE_BOTH_SECONDS: String(BOTH_SECONDS),
  CONTENT_STORE_UNNAMED_SECONDS: '20',
  CONTENT_STORE_SWEEP_SECONDS: '2'
})

/** The service's contents that the store has, by their keys. Other objects are checkpoints of audit trails. */
export const storedKeys = async (store: S3Server): Promise<string[]> =>
  (await store.keys()).filter((key) => !key.startsWith('audit-checkpoints/'))
