// Sealed credentials of providers. Values are passed sealed; this file cannot open them.
import { and, asc, eq, inArray, lt, sql } from 'drizzle-orm'
import type { DbOrTx } from '../client.js'
import { teamSecrets } from '../tables/teams.js'
import { type Caller, teamIdsOf } from './memberships.js'

export type SecretRow = typeof teamSecrets.$inferSelect
export type NewSecret = Pick<
  SecretRow,
  'id' | 'teamId' | 'provider' | 'keyName' | 'ringKeyId' | 'wrappedKey' | 'sealedValue'
>
/** A row without the sealed fields. */
export type SecretItem = Omit<SecretRow, 'ringKeyId' | 'wrappedKey' | 'sealedValue'>

const itemColumns = {
  id: teamSecrets.id,
  teamId: teamSecrets.teamId,
  provider: teamSecrets.provider,
  keyName: teamSecrets.keyName,
  validationStatus: teamSecrets.validationStatus,
  validatedAt: teamSecrets.validatedAt,
  createdAt: teamSecrets.createdAt,
  updatedAt: teamSecrets.updatedAt
}

/** Those of all teams of the caller, a team's together, sorted like those of one team. */
export async function listSecretsOf(db: DbOrTx, caller: Caller): Promise<SecretItem[]> {
  return db
    .select(itemColumns)
    .from(teamSecrets)
    .where(inArray(teamSecrets.teamId, teamIdsOf(db, caller)))
    .orderBy(asc(teamSecrets.teamId), asc(teamSecrets.provider), asc(teamSecrets.keyName))
}

/** Sorted by provider and name. A team has at most as many as the providers have names. */
export async function listSecrets(db: DbOrTx, teamId: string, provider?: string): Promise<SecretItem[]> {
  return db
    .select(itemColumns)
    .from(teamSecrets)
    .where(and(eq(teamSecrets.teamId, teamId), provider === undefined ? undefined : eq(teamSecrets.provider, provider)))
    .orderBy(asc(teamSecrets.provider), asc(teamSecrets.keyName))
}

export async function sealedSecrets(db: DbOrTx, teamId: string, provider: string): Promise<SecretRow[]> {
  return db
    .select()
    .from(teamSecrets)
    .where(and(eq(teamSecrets.teamId, teamId), eq(teamSecrets.provider, provider)))
    .orderBy(asc(teamSecrets.keyName))
}

/**
 * Identifies the current state of a team's credentials for a provider. It changes whenever one of them is written or
 * deleted.
 */
export async function credentialsVersion(db: DbOrTx, teamId: string, provider: string): Promise<string> {
  const [row] = await db
    .select({
      version: sql<string>`coalesce(string_agg(${teamSecrets.id} || '@' || extract(epoch from ${teamSecrets.updatedAt}), ' ' order by ${teamSecrets.id}), '')`
    })
    .from(teamSecrets)
    .where(and(eq(teamSecrets.teamId, teamId), eq(teamSecrets.provider, provider)))
  return row!.version
}

/** The team that a secret belongs to; `null` when there is no such secret. */
export async function teamOfSecret(db: DbOrTx, id: string): Promise<string | null> {
  const [row] = await db.select({ teamId: teamSecrets.teamId }).from(teamSecrets).where(eq(teamSecrets.id, id))
  return row?.teamId ?? null
}

/**
 * Serialises the writers of a team's credentials for a provider, and returns the ids of the stored values by name. A value is
 * sealed for the id of its row, so no other transaction can be allowed to insert that row between the look-up and the write.
 * The rows themselves are locked too: while another transaction updates a row, `on conflict` can miss it, and the insertion
 * would fail at the primary key.
 */
export async function lockSecrets(tx: DbOrTx, teamId: string, provider: string): Promise<Map<string, string>> {
  await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended(${`team_secrets ${teamId} ${provider}`}, 0))`)
  const rows = await tx
    .select({ keyName: teamSecrets.keyName, id: teamSecrets.id })
    .from(teamSecrets)
    .where(and(eq(teamSecrets.teamId, teamId), eq(teamSecrets.provider, provider)))
    .orderBy(teamSecrets.id)
    .for('update')
  return new Map(rows.map(({ keyName, id }) => [keyName, id]))
}

/**
 * Writes values under the ids that they are sealed for. Must run under `lockSecrets`. Resets the result of the last
 * check, which was of another value.
 */
export async function putSecrets(tx: DbOrTx, rows: NewSecret[]): Promise<void> {
  const written = await tx
    .insert(teamSecrets)
    .values(rows.map((row) => ({ ...row, validationStatus: 'untested' as const })))
    .onConflictDoUpdate({
      target: [teamSecrets.teamId, teamSecrets.provider, teamSecrets.keyName],
      set: {
        ringKeyId: sql`excluded.ring_key_id`,
        wrappedKey: sql`excluded.wrapped_key`,
        sealedValue: sql`excluded.sealed_value`,
        validationStatus: sql`excluded.validation_status`,
        validatedAt: null,
        updatedAt: sql`now()`
      },
      // A value under another id could never be opened again.
      setWhere: sql`${teamSecrets.id} = excluded.id`
    })
    .returning({ id: teamSecrets.id })
  if (written.length !== rows.length) throw new Error('a credential was sealed for a row that is not its own')
}

/** Records the provider's verdict on a team's values, except those that were written after they were read. */
export async function recordValidation(
  db: DbOrTx,
  { teamId, provider }: { teamId: string; provider: string },
  status: SecretRow['validationStatus'],
  readAt: Date
): Promise<void> {
  await db
    .update(teamSecrets)
    .set({ validationStatus: status, validatedAt: sql`now()` })
    .where(and(eq(teamSecrets.teamId, teamId), eq(teamSecrets.provider, provider), lt(teamSecrets.updatedAt, readAt)))
}

/** `false` when it was deleted before. */
export async function deleteSecret(tx: DbOrTx, id: string): Promise<boolean> {
  const rows = await tx.delete(teamSecrets).where(eq(teamSecrets.id, id)).returning({ id: teamSecrets.id })
  return rows.length > 0
}
