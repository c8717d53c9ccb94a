// Reports of the playground about simulations in the browser.
import type { Db } from '../client.js'
import { newId } from '../ids.js'
import { playgroundTelemetry } from '../tables/playground.js'
import type { Caller } from '../teams/memberships.js'
import { assertStorageLeft } from '../teams/team-storage.js'
import { lockTeamForWrite } from '../teams/teams.js'

/** A report is at most as large as the body that contains it. */
const TELEMETRY_BYTES_MAX = 64 * 1024

export type Telemetry = Omit<typeof playgroundTelemetry.$inferInsert, 'id' | 'userId' | 'createdAt'>

/** @throws ServiceError `not_found` for non-members, `team_suspended`, `storage_limit_exceeded`. */
export async function recordTelemetry(db: Db, caller: Caller, telemetry: Telemetry): Promise<void> {
  await db.transaction(async (tx) => {
    await lockTeamForWrite(tx, caller, telemetry.teamId)
    await assertStorageLeft(tx, telemetry.teamId, TELEMETRY_BYTES_MAX)
    await tx.insert(playgroundTelemetry).values({ ...telemetry, id: newId(), userId: caller.userId })
  })
}
