// Proofs of audit trails. Each reads everything that a team ever sealed, so this process runs one at a time, and requests for a
// proof that has not started share it.
import type { OnProgress } from '../../../../db/proofs/audit-verify.js'
import { ServiceError } from '../../../../domain/errors.js'

/** The maximum number of teams whose proofs wait. */
const WAITING_MAX = 16
const RETRY_SECONDS = 10

export interface AuditProofs<Report> {
  /**
   * Proves the trail as it is at the call or later.
   * @param onProgress is told how many entries have been checked, of how many.
   * @throws ServiceError `rate_limited` when too many wait.
   */
  of(teamId: string, onProgress?: OnProgress): Promise<Report>
}

interface Waiting<Report> {
  proof: Promise<Report>
  listeners: OnProgress[]
}

export function createAuditProofs<Report>(
  prove: (teamId: string, onProgress: OnProgress) => Promise<Report>
): AuditProofs<Report> {
  const waiting = new Map<string, Waiting<Report>>()
  let last: Promise<unknown> = Promise.resolve()
  return {
    of(teamId, onProgress) {
      const shared = waiting.get(teamId)
      if (shared) {
        if (onProgress) shared.listeners.push(onProgress)
        return shared.proof
      }
      if (waiting.size >= WAITING_MAX)
        throw new ServiceError(
          'rate_limited',
          `The audit trails of ${WAITING_MAX} teams are waiting to be proved. Try again in ${RETRY_SECONDS} seconds.`,
          { retryAfterSeconds: RETRY_SECONDS }
        )
      const listeners = onProgress ? [onProgress] : []
      const proof = last.then(() => {
        // Entries that are written from now on may be missing from this proof.
        waiting.delete(teamId)
        return prove(teamId, (entries, of) => {
          for (const listener of listeners) listener(entries, of)
        })
      })
      waiting.set(teamId, { proof, listeners })
      last = proof.catch(() => {})
      return proof
    }
  }
}
