// Proofs of audit trails read everything a team ever sealed: one at a time in this process, and whoever asks for one that
// has not begun shares it.
import { ServiceError } from '../../../domain/errors.js'

/** Teams whose proof waits for the ones before. */
const WAITING_MAX = 16
const RETRY_SECONDS = 10

export interface AuditProofs<Report> {
  /** Of the trail as it is now, or later. @throws ServiceError `rate_limited` when too many wait. */
  of(teamId: string): Promise<Report>
}

export function createAuditProofs<Report>(prove: (teamId: string) => Promise<Report>): AuditProofs<Report> {
  const waiting = new Map<string, Promise<Report>>()
  let last: Promise<unknown> = Promise.resolve()
  return {
    of(teamId) {
      const shared = waiting.get(teamId)
      if (shared) return shared
      if (waiting.size >= WAITING_MAX)
        throw new ServiceError(
          'rate_limited',
          `The audit trails of ${WAITING_MAX} teams wait to be proved. Try again in ${RETRY_SECONDS} seconds.`,
          { retryAfterSeconds: RETRY_SECONDS }
        )
      const proof = last.then(() => {
        // What is written from now on it may not see.
        waiting.delete(teamId)
        return prove(teamId)
      })
      waiting.set(teamId, proof)
      last = proof.catch(() => {})
      return proof
    }
  }
}
