// Reports of the playground about simulations in the browser.
import type { Db } from '../client.js'
import { newId } from '../ids.js'
import { playgroundTelemetry } from '../tables/playground.js'
import type { Caller } from '../teams/memberships.js'
import { assertStorageLeft } from '../teams/team-storage.js'
import { lockTeamForWrite } from '../teams/teams.js'

export type Telemetry = Omit<typeof playgroundTelemetry.$inferInsert, 'id' | 'userId' | 'createdAt'>

/**
 * @param bytesMax of the report, which is at most as large as the body that contained it.
 * @throws ServiceError `not_found` for non-members, `team_suspended`, `storage_limit_exceeded`.
 */
export async function recordTelemetry(db: Db, caller: Caller, telemetry: Telemetry, bytesMax: number): Promise<void> {
  await db.transaction(async (tx) => {
    await lockTeamForWrite(tx, caller, telemetry.teamId)
    await assertStorageLeft(tx, telemetry.teamId, bytesMax)
    await tx.insert(playgroundTelemetry).values({ ...telemetry, id: newId(), userId: caller.userId })
  })
}
