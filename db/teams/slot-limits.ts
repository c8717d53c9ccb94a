// How many slots of the executor a team can use at once, where an administrator has set a limit.
import { isNotNull } from 'drizzle-orm'
import type { DbOrTx } from '../client.js'
import { teams } from '../tables/accounts.js'

export async function loadSlotLimits(db: DbOrTx): Promise<Map<string, number>> {
  const rows = await db.select({ id: teams.id, max: teams.slotsMax }).from(teams).where(isNotNull(teams.slotsMax))
  return new Map(rows.map(({ id, max }) => [id, max!]))
}
