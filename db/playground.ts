// Records of the playground: what browser simulations report.
import type { Db } from './client.js'
import { newId } from './ids.js'
import { playgroundTelemetry } from './tables/playground.js'
import { lockTeamForWrite } from './teams.js'

export type Telemetry = Omit<typeof playgroundTelemetry.$inferInsert, 'id' | 'userId' | 'createdAt'>

/** @throws ServiceError `not_found` for a team of others, `team_suspended`. */
export async function recordTelemetry(
  db: Db,
  user: { id: string; email: string },
  telemetry: Telemetry
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockTeamForWrite(tx, { userId: user.id, email: user.email, teamId: telemetry.teamId })
    await tx.insert(playgroundTelemetry).values({ ...telemetry, id: newId(), userId: user.id })
  })
}
