// How many bytes each team stores, and how many it can. Triggers write entries (db/tables/storage.ts); a sweep adds them to the
// sums, so that reading a team's figures does not grow with what it stores.
import { eq, type SQL, sql } from 'drizzle-orm'
import {
  STORAGE_DEFAULT_BYTES,
  type StorageKind,
  storageKindNames,
  storageRefusal,
  type TeamStorage
} from '../../domain/teams/team-storage.js'
import type { Db, DbOrTx } from '../client.js'
import { operatorLimit } from '../operator-limit.js'
import type { Given } from '../statement.js'
import { storageEntries, teamStorage, teamStorageLimits } from '../tables/storage.js'

/** The limit of a team in SQL: its own, or else the default of this process. */
const limitOf = (teamId: Given<string>) => sql`coalesce(
  (select limit_bytes from ${teamStorageLimits} where team_id = ${teamId}),
  ${operatorLimit('teamStorageMax')}::bigint, ${STORAGE_DEFAULT_BYTES}::bigint)`

const entriesOf = (teamId: Given<string>) => sql`(
  select kind, bytes from ${teamStorage} where team_id = ${teamId}
  union all select kind, bytes from ${storageEntries} where team_id = ${teamId})`

/** What a team stores and can store. */
export async function storageOf(db: DbOrTx, teamId: string): Promise<TeamStorage> {
  const rows = await db.execute<{ kind: StorageKind | null; bytes: string; limit: string }>(sql`
    select kind, sum(bytes)::text as bytes, ${limitOf(teamId)}::text as limit
    from (select kind, bytes from ${entriesOf(teamId)} figures union all select null, 0) with_limit group by kind`)
  const bytesOf = (kind: StorageKind) => Number(rows.find((row) => row.kind === kind)?.bytes ?? 0)
  const byKind = Object.fromEntries(storageKindNames.map((kind) => [kind, bytesOf(kind)])) as TeamStorage['byKind']
  const used = Object.values(byKind).reduce((sum, bytes) => sum + bytes, 0)
  return { used, limit: Number(rows[0]!.limit), byKind }
}

export type StorageFigures = { used: string; limit: string }

/** A query of what a team stores in all, and can store. A statement that writes does not see its own writes there. */
export const storageFigures = (teamId: Given<string>): SQL => sql`
  select coalesce(sum(bytes), 0)::text as used, ${limitOf(teamId)}::text as limit from ${entriesOf(teamId)} figures`

/**
 * Refuses a write that would exceed the team's limit. Writes that commit at the same moment do not see each other, so the limit
 * can be exceeded by one write for each connection to the database.
 * @param adding bytes that the transaction is about to store.
 * @throws ServiceError `storage_limit_exceeded`.
 */
export async function assertStorageLeft(tx: DbOrTx, teamId: string, adding: number): Promise<void> {
  const [figures] = await tx.execute<StorageFigures>(storageFigures(teamId))
  assertFits(figures!, adding)
}

/** @throws ServiceError `storage_limit_exceeded`. */
export function assertFits({ used, limit }: StorageFigures, adding: number): void {
  const refusal = storageRefusal({ used: Number(used), limit: Number(limit) }, adding)
  if (refusal) throw refusal
}

/** Sets the limit of a team; `null` for the default. */
export async function setStorageLimit(tx: DbOrTx, teamId: string, bytes: number | null): Promise<void> {
  if (bytes === null) await tx.delete(teamStorageLimits).where(eq(teamStorageLimits.teamId, teamId))
  else
    await tx
      .insert(teamStorageLimits)
      .values({ teamId, bytes })
      .onConflictDoUpdate({ target: teamStorageLimits.teamId, set: { bytes, updatedAt: sql`now()` } })
}

/** How many entries one statement adds to the sums. */
const AT_ONCE = 5_000
/** Any number that no other advisory lock of this product uses. */
const STORAGE_LOCK = 7_261_102

/**
 * Adds entries to the sums. Concurrent readers see each entry in exactly one of the two places. Only one worker at a time: two
 * that raise the same sums in different orders could deadlock.
 * @returns how many entries were added, and whether there may be more.
 */
export async function sumStorage(db: Db): Promise<{ summed: number; more: boolean }> {
  return db.transaction(async (tx) => {
    const [lock] = await tx.execute(sql`select pg_try_advisory_xact_lock(${STORAGE_LOCK}) as taken`)
    if (!lock!.taken) return { summed: 0, more: false }
    const [done] = await tx.execute<{ summed: number }>(sql`
      with taken as (delete from ${storageEntries} where ctid = any(array(select ctid from ${storageEntries} limit ${AT_ONCE}))
          returning team_id, kind, bytes),
        raised as (insert into ${teamStorage} (team_id, kind, bytes)
          select team_id, kind, sum(bytes) from taken group by 1, 2
          on conflict (team_id, kind) do update set bytes = team_storage.bytes + excluded.bytes)
      select count(*)::int as summed from taken`)
    const { summed } = done!
    return { summed, more: summed === AT_ONCE }
  })
}
