import type { ApiKey } from '../../../../db/teams/api-keys.js'
import { ServiceError } from '../../../../domain/errors.js'
import { isFree, type Pricing } from '../../../../domain/money/cost.js'
import { reaches } from '../../../../domain/teams/api-key.js'

export function assertKeyMayPay(key: ApiKey | null, pricing: Pricing): void {
  if (!key || isFree(pricing)) return
  if (key.kind === 'test')
    throw new ServiceError('permission_denied', 'A test key runs on free backends only; use a live key of tier qpu')
  if (!reaches(key.tier, 'qpu'))
    throw new ServiceError(
      'permission_denied',
      `Paid backends need an API key of tier qpu (this one has tier ${key.tier})`
    )
}
