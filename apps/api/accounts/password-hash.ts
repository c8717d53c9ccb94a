// Hashes passwords with argon2id: 19 MiB and two passes, about 50 ms. libuv's thread pool bounds how many hashes run at once.
import { hash, verify } from '@node-rs/argon2'

const argon = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export const hashPassword = (password: string): Promise<string> => hash(password, argon)

// Verified where an account has no password, so that the response time does not reveal it.
const noPassword = hashPassword('no account has this password')

/** @param passwordHash `null` where there is no account, or one without a password: then no password matches. */
export async function isPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const matches = await verify(passwordHash ?? (await noPassword), password)
  return matches && passwordHash !== null
}
