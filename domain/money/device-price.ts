// The price that a provider states for a device, against that of the catalogue, from which jobs are estimated and paid.
import type { Pricing } from './cost.js'
import { microFromUsd, usdFromMicro } from './money.js'

/**
 * Why a job is not sent: the provider charges more for a shot than the catalogue, and a budget would be exceeded unseen.
 * `null` when it does not. A price for anything but a shot, such as a minute of a simulator, cannot be compared.
 * @param stated USD.
 */
export function dearerThanCatalogue(
  slug: string,
  stated: { amount: number; unit: string } | null,
  { perShot }: Pick<Pricing, 'perShot'>
): string | null {
  if (stated?.unit !== 'shot') return null
  const price = microFromUsd(Math.round(stated.amount * 1e6) / 1e6)
  if (price !== null && price <= perShot) return null
  return (
    `${slug} costs ${stated.amount} USD per shot according to its provider, and ${usdFromMicro(perShot)} USD in the ` +
    `catalogue: an administrator sets its prices with PATCH /api/admin/backends/${slug}`
  )
}
