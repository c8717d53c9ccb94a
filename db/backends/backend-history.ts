// What the catalogue has said of a backend, and since when. A trigger of the database keeps it (db/migrations), whoever
// changes the catalogue; what comes and goes by the minute (status, queue) is not in it.
import { eq, getTableColumns, sql } from 'drizzle-orm'
import { type BackendFacts, backendFacts } from '../../domain/backends/backend.js'
import type { DbOrTx } from '../client.js'
import { backends, backendVersions } from '../tables/backends.js'

/**
 * The entry that held at a time; where the history begins later, its first, whose `valid_from` tells.
 * @returns `null` for a backend that the catalogue never had.
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

/** A row as JSON has it, by the names of its columns. */
function readEntry(entry: Record<string, unknown>) {
  const row = Object.fromEntries(
    Object.entries(getTableColumns(backends)).map(([key, column]) => {
      const value = entry[column.name] ?? null
      return [key, value === null ? null : column.mapFromDriverValue(value)]
    })
  ) as typeof backends.$inferSelect
  const { taskFee, perShot, minimumCost, nativeGates, ...rest } = row
  return { ...rest, nativeGates: nativeGates ?? null, pricing: { taskFee, perShot, minimumCost } }
}
