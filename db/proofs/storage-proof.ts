// Proves that the counters of stored bytes equal what the tables hold; it corrects nothing. It reads one snapshot, in which they
// must agree to the byte, since they only change together.
import { sql } from 'drizzle-orm'
import { sizeText } from '../../domain/teams/team-storage.js'
import type { Db, DbOrTx } from '../client.js'
import { FINDINGS_MAX } from '../service/sweeps.js'
import { storageEntries, teamStorage } from '../tables/storage.js'

/** Any number that no other advisory lock of this product uses. */
const PROOF_LOCK = 7_104_003
/** Reading everything takes longer than a request's statement is allowed to. */
const TIMEOUT = '10min'

/** Findings about every counter; `null` when another worker is proving. */
export const proveStorage = (db: Db): Promise<string[] | null> =>
  db.transaction(
    async (tx) => {
      const [lock] = await tx.execute(sql`select pg_try_advisory_xact_lock(${PROOF_LOCK}) as taken`)
      if (!lock!.taken) return null
      await tx.execute(sql.raw(`set local statement_timeout = '${TIMEOUT}'`))
      return storageMismatches(tx)
    },
    { isolationLevel: 'repeatable read', accessMode: 'read only' }
  )

/** One sentence for each team and kind whose counter is wrong. There must never be any. */
export async function storageMismatches(tx: DbOrTx): Promise<string[]> {
  const rows = await tx.execute<{ team: string; kind: string; counted: string; stored: string }>(sql`
    with counters as (select team_id, kind, sum(bytes) as bytes from (
        select team_id, kind, bytes from ${teamStorage} union all select team_id, kind, bytes from ${storageEntries}
      ) figures group by 1, 2),
      actual as (select team_id, kind, sum(bytes) as bytes from stored_bytes group by 1, 2)
    select coalesce(c.team_id, a.team_id) as team, coalesce(c.kind, a.kind) as kind,
      coalesce(c.bytes, 0)::text as counted, coalesce(a.bytes, 0)::text as stored
    from counters c full join actual a on a.team_id = c.team_id and a.kind = c.kind
    where coalesce(c.bytes, 0) <> coalesce(a.bytes, 0) order by 1, 2 limit ${FINDINGS_MAX}`)
  return rows.map(
    ({ team, kind, counted, stored }) =>
      `team ${team}: ${counted} bytes counted for ${kind} (${sizeText(Number(counted))}), but ${stored} are stored`
  )
}
