import type { S3Settings } from './s3-settings.js'
import type { S3Store } from './s3-store.js'

/** Loads the client of S3 only where there is a store: it is the largest package of a process. */
export const openContentStore = async (settings: S3Settings | null): Promise<S3Store | null> =>
  settings && (await import('./s3-store.js')).createS3Store(settings)
