// Deletes a team's capsules. A sealed capsule is kept until its retention is over, and only then deleted with its team.
import { and, asc, desc, eq, isNotNull, sql } from 'drizzle-orm'
import { retainedUntil } from '../../domain/capsules/retention.js'
import { ServiceError } from '../../domain/errors.js'
import { appendAudit } from '../audit/audit.js'
import { anyOf, type DbOrTx, type Tx } from '../client.js'
import { capsuleSeals, capsules } from '../tables/capsules.js'
import { lookAgain } from '../teams/content-retention.js'

/**
 * Deletes all capsules of a team that the caller has locked for `update`, including published ones. Their audit trail
 * stays, and records the deletions.
 * @param actor who deletes the team, as the audit trail names them.
 * @throws ServiceError `conflict` naming a sealed capsule within its retention.
 */
export async function deleteCapsulesOfTeam(tx: Tx, teamId: string, actor: string): Promise<void> {
  await assertRetentionOver(tx, teamId)
  // The triggers allow the deletion in this transaction until the setting is reset below.
  await tx.execute(sql`select set_config('qjs.retention_over', 'yes', true)`)
  const gone = await tx.delete(capsules).where(eq(capsules.teamId, teamId)).returning({
    id: capsules.id,
    name: capsules.name,
    state: capsules.state,
    definitionSha256: capsules.definitionSha256
  })
  await tx.execute(sql`select set_config('qjs.retention_over', '', true)`)
  await lookAgain(tx, teamId)
  for (const { id, name, state, definitionSha256 } of gone)
    await appendAudit(tx, {
      teamId,
      capsuleId: id,
      action: 'capsule.deleted',
      actor,
      previousState: state,
      newState: null,
      metadata: { name, definition_sha256: definitionSha256, with_team: true }
    })
}

async function assertRetentionOver(tx: Tx, teamId: string): Promise<void> {
  // Locked, so that none is sealed between this check and the deletion.
  await tx
    .select({ id: capsules.id })
    .from(capsules)
    .where(eq(capsules.teamId, teamId))
    .orderBy(asc(capsules.id))
    .for('update')
  const fault = (await retainedCapsules(tx, [teamId])).get(teamId)
  if (fault) throw new ServiceError('conflict', fault)
}

/** The refusal that names a team's first sealed capsule within its retention, by the id of each team that has one. */
export async function retainedCapsules(db: DbOrTx, teamIds: string[]): Promise<Map<string, string>> {
  const sealed = await db
    .select({
      id: capsules.id,
      teamId: capsules.teamId,
      name: capsules.name,
      years: capsules.retentionYears,
      sealedAt: capsuleSeals.sealedAt,
      now: sql<string>`clock_timestamp()`
    })
    .from(capsules)
    .innerJoin(capsuleSeals, eq(capsuleSeals.capsuleId, capsules.id))
    .where(and(anyOf(capsules.teamId, teamIds), isNotNull(capsules.retentionYears)))
    .orderBy(desc(capsules.id))
  const faults = new Map<string, string>()
  for (const { id, teamId, name, years, sealedAt, now } of sealed) {
    const until = retainedUntil(sealedAt, years)
    if (until && until > new Date(now))
      faults.set(
        teamId,
        `The capsule ${JSON.stringify(name)} (${id}) has to be kept until ${until.toISOString().slice(0, 10)}: ` +
          `its team can be deleted after that; transfer the team instead`
      )
  }
  return faults
}
