// How passwords are kept: argon2id with 19 MiB and two passes, about 50 ms; libuv's thread pool bounds how many run at once.
import { hash, verify } from '@node-rs/argon2'

const argon = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export const hashPassword = (password: string): Promise<string> => hash(password, argon)

// Verified against where there is none, so that the time of an answer tells nothing.
const nobodys = hashPassword('nobody has this password')

/** @param passwordHash `null` where there is no account, or one without a password: never the right one. */
export async function isPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const matches = await verify(passwordHash ?? (await nobodys), password)
  return matches && passwordHash !== null
}
