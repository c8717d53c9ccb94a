import type { ApiKey } from '../../../../db/teams/api-keys.js'
import { ServiceError } from '../../../../domain/errors.js'
import { isFree, type Pricing } from '../../../../domain/money/cost.js'
import { reaches } from '../../../../domain/teams/api-key.js'

/** @throws ServiceError `permission_denied`. */
export function assertKeyMayPay(key: ApiKey | null, pricing: Pricing): void {
  const refusal = payRefusal(key, pricing)
  if (refusal !== null) throw new ServiceError('permission_denied', refusal)
}

/** Why a key cannot pay this price; `null` when it can, and without a key. */
export function payRefusal(key: ApiKey | null, pricing: Pricing): string | null {
  if (!key || isFree(pricing)) return null
  if (key.kind === 'test') return 'A test key runs on free backends only; use a live key of tier qpu'
  return reaches(key.tier, 'qpu') ? null : `Paid backends need an API key of tier qpu (this one has tier ${key.tier})`
}
