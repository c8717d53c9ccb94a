// What a provider charges for a device, against the prices of the catalogue, from which jobs are estimated and paid.
import { isFree, type Pricing } from './cost.js'
import { type MicroUsd, microFromUsd, usdFromMicro } from './money.js'

type Prices = Pick<Pricing, 'perShot' | 'byTime'>

/**
 * Why a job is not sent: the provider charges more than the catalogue, and a budget would be exceeded unseen. `null` when it
 * does not, or when the catalogue has no price in that unit, such as for a minute of a simulator.
 * @param stated USD.
 */
export function dearerThanCatalogue(
  slug: string,
  stated: { amount: number; unit: string } | null,
  prices: Prices
): string | null {
  const known = stated && cataloguePrice(stated.unit, prices)
  if (known === null) return null
  const { amount, unit } = stated!
  const price = microFromUsd(Math.round(amount * 1e6) / 1e6)
  if (price !== null && price <= known) return null
  return (
    `${slug} costs ${amount} USD per ${unit} according to its provider, and ${usdFromMicro(known)} USD in the ` +
    `catalogue: an administrator sets its prices there (qjob admin backend ${slug})`
  )
}

/**
 * Why a job is not sent to a device that is billed by the second: the catalogue has no price for that, so the estimate would be
 * untrue, and nothing would cap the seconds. `null` when it has one, or when jobs cost nothing.
 * @param pricing `null` for a device that is not in the catalogue any more.
 */
export function secondsWithoutPrice(slug: string, pricing: Pricing | null): string | null {
  if (pricing && (pricing.byTime || isFree(pricing))) return null
  return (
    `${slug} is billed by the second, and the catalogue has no price for that: an administrator sets perSecond and ` +
    `secondsMax there (qjob admin backend ${slug})`
  )
}

function cataloguePrice(unit: string, { perShot, byTime }: Prices): MicroUsd | null {
  switch (unit) {
    case 'shot':
      return perShot
    case 'second':
      return byTime?.perSecond ?? null
    case 'minute':
      return byTime && byTime.perSecond * 60n
    default:
      return null
  }
}
