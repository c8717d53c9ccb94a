// Deletes an account. Data of teams stays with the teams; data of the user alone is deleted.
import { and, eq, inArray, sql } from 'drizzle-orm'
import { ServiceError } from '../../domain/errors.js'
import { actorText } from '../audit/audit.js'
import type { Db } from '../client.js'
import { members, teams, users } from '../tables/accounts.js'
import { idempotencyKeys } from '../tables/operations.js'
import { hasOthers } from '../teams/members.js'
import type { Caller } from '../teams/memberships.js'
import { fairTeamLock } from '../teams/team-lock.js'
import { deleteTeam } from './team-deletion.js'

/**
 * Deletes the account, its sessions and keys, the responses stored for it, and the teams that have no other member.
 * @throws ServiceError `conflict` while the user owns a team with other members, or a team of theirs alone cannot be
 * deleted (open jobs, a sealed capsule within its retention).
 */
export async function deleteAccount(db: Db, caller: Caller): Promise<void> {
  await db.transaction(async (tx) => {
    const owned = tx
      .select({ id: members.teamId })
      .from(members)
      .where(and(eq(members.userId, caller.userId), eq(members.role, 'owner')))
    // Ordered, since two concurrent deletions may share teams.
    const mine = await tx
      .select({ id: teams.id, name: teams.name })
      .from(teams)
      .where(and(inArray(teams.id, owned), fairTeamLock('alone')))
      .orderBy(sql`${teams.id}`)
      .for('update')
    for (const team of mine) {
      if (await hasOthers(tx, team.id, caller.userId))
        throw new ServiceError(
          'conflict',
          `You own the team ${JSON.stringify(team.name)}, which has other members: transfer or delete it first`
        )
      await deleteTeam(tx, team.id, actorText(caller))
    }
    await tx.delete(idempotencyKeys).where(eq(idempotencyKeys.principal, `user:${caller.userId}`))
    await tx.delete(users).where(eq(users.id, caller.userId))
  })
}
