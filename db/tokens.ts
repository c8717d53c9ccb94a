// Secrets that people and programs show again: sessions, keys, links in mails. Known to their owner alone; rows hold the
// SHA-256, which is enough for 256 random bits.
import { createHash, randomBytes } from 'node:crypto'

/** 43 characters of base64url. */
export const newToken = (): string => randomBytes(32).toString('base64url')

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()
