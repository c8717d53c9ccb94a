// The history of a backend's catalogue entry. A database trigger records it (db/migrations), whatever changes the
// catalogue. Status and queue, which change by the minute, are not part of it.
import { eq, getTableColumns, sql } from 'drizzle-orm'
import { type BackendFacts, backendFacts } from '../../domain/backends/backend.js'
import type { DbOrTx } from '../client.js'
import { backends, backendVersions } from '../tables/backends.js'
import { pricingOf } from './pricing.js'

/**
 * The entry that was valid at a time; for times before the history begins, its first entry, as `valid_from` shows.
 * @returns `null` for a backend that was never in the catalogue.
 */
export async function backendFactsAt(
  db: DbOrTx,
  slug: string,
  at: Date
): Promise<{ valid_from: Date; facts: BackendFacts } | null> {
  const { validFrom, entry } = backendVersions
  const time = sql`${at.toISOString()}::timestamptz`
  const [found] = await db
    .select({ validFrom, entry })
    .from(backendVersions)
    .where(eq(backendVersions.slug, slug))
    .orderBy(sql`${validFrom} <= ${time} desc`, sql`abs(extract(epoch from ${validFrom} - ${time}))`)
    .limit(1)
  return found ? { valid_from: found.validFrom, facts: backendFacts(readEntry(found.entry)) } : null
}

/** Parses a row's JSON, whose names are the names of the columns. */
function readEntry(entry: Record<string, unknown>) {
  const row = Object.fromEntries(
    Object.entries(getTableColumns(backends)).map(([key, column]) => {
      const value = entry[column.name] ?? null
      return [key, value === null ? null : column.mapFromDriverValue(value)]
    })
  ) as typeof backends.$inferSelect
  const { taskFee, perShot, minimumCost, perSecond, secondsMax, nativeGates, ...rest } = row
  const pricing = pricingOf({ taskFee, perShot, minimumCost, perSecond, secondsMax })
  return { ...rest, nativeGates: nativeGates ?? null, pricing }
}
