// Secret tokens: sessions, API keys, links in mails. Only the owner has the token. Rows store its SHA-256, which
// suffices for 256 random bits.
import { createHash, randomBytes } from 'node:crypto'

/** 43 characters of base64url. */
export const newToken = (): string => randomBytes(32).toString('base64url')

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()
