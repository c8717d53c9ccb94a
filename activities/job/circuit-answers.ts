// The stored answers to circuits that scripts and tasks request, as the executor takes them.
import type { ScriptRequest } from '../../db/jobs/script-requests.js'
import type { ScriptResponse } from '../../services/executor/requests.js'

type StoredCircuitAnswer =
  | { counts: Record<string, number>; count_source?: string; provider_job_id?: string | null }
  | { error: string }

/** The stored response to a circuit: its counts as the provider's text, or the reason why there are none. */
export function circuitResponse({ digest }: ScriptRequest, answer: string): ScriptResponse {
  const stored = JSON.parse(answer) as StoredCircuitAnswer
  if ('error' in stored) return { digest, error: stored.error }
  const { counts, count_source, provider_job_id } = stored
  return {
    digest,
    counts: JSON.stringify(counts),
    ...(count_source && { count_source }),
    ...(provider_job_id && { provider_job_id })
  }
}
