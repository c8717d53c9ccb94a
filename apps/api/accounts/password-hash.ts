// Hashes passwords with argon2id: 19 MiB and two passes, about 50 ms in a thread of libuv's pool.
import { hash, verify } from '@node-rs/argon2'
import pLimit from 'p-limit'
import { ServiceError } from '../../../domain/errors.js'

const argon = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** The pool has four threads, which files and name look-ups share. */
const HASHES_AT_ONCE = 2
/** About five seconds of work. */
const HASHES_WAITING_MAX = 100

const queue = pLimit(HASHES_AT_ONCE)

/** @throws ServiceError `service_busy` when too many wait. */
function inQueue<T>(work: () => Promise<T>): Promise<T> {
  if (queue.pendingCount >= HASHES_WAITING_MAX)
    throw new ServiceError('service_busy', 'Too many passwords are being checked; try again in a few seconds', {
      retryAfterSeconds: 5
    })
  return queue(work)
}

/** @throws ServiceError `service_busy`. */
export const hashPassword = async (password: string): Promise<string> => inQueue(() => hash(password, argon))

// Verified where an account has no password, so that the response time does not reveal it.
const noPassword = hashPassword('no account has this password')

/**
 * @param passwordHash `null` where there is no account, or one without a password: then no password matches.
 * @throws ServiceError `service_busy`.
 */
export async function isPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const against = passwordHash ?? (await noPassword)
  const matches = await inQueue(() => verify(against, password))
  return matches && passwordHash !== null
}
