// Checkpoints: signed statements that a team's chain had a certain hash at a certain entry. Rewriting or truncating the
// chain contradicts them, and new ones cannot be signed without the key.
import { and, asc, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { type Checkpoint, checkpointText } from '../../domain/audit/audit-checkpoint.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { auditCheckpoints, auditHeads } from '../tables/audit.js'

/** The part of a signing key that is needed here. */
export interface CheckpointSigner {
  keyId: string
  sign(bytes: Buffer): Buffer
}

/** Signs the current end of the team's chain. In the transaction of an entry, it signs that entry. */
export async function checkpoint(tx: DbOrTx, teamId: string, signer: CheckpointSigner): Promise<void> {
  const [head] = await tx
    .select({
      seq: auditHeads.seq,
      hash: auditHeads.hash,
      at: sql<string>`to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
    })
    .from(auditHeads)
    .where(eq(auditHeads.teamId, teamId))
  if (!head || head.seq === 0) return
  const signature = signer.sign(Buffer.from(checkpointText({ teamId, ...head }))).toString('base64')
  await tx
    .insert(auditCheckpoints)
    .values({ teamId, ...head, keyId: signer.keyId, signature })
    .onConflictDoNothing()
}

/** Teams whose chain has grown since their last checkpoint, when that is older than `seconds`. */
export async function teamsToCheckpoint(db: DbOrTx, seconds: number, limit: number): Promise<string[]> {
  const rows = await db.execute<{ team_id: string }>(sql`
    select head.team_id from ${auditHeads} as head
    left join lateral (
      select seq, at from ${auditCheckpoints} as point where point.team_id = head.team_id order by seq desc, at desc limit 1
    ) as last on true
    where head.seq > coalesce(last.seq, 0)
      and (last.at is null or last.at::timestamptz < now() - make_interval(secs => ${seconds}))
    -- In random order: trails that fail their check stay due, and must not block the others.
    order by random() limit ${limit}`)
  return rows.map((row) => row.team_id)
}

/** Whether any checkpoint of any team was ever exported. */
export async function isAnyExported(db: DbOrTx): Promise<boolean> {
  const rows = await db
    .select({ seq: auditCheckpoints.seq })
    .from(auditCheckpoints)
    .where(isNotNull(auditCheckpoints.exportedAt))
    .limit(1)
  return rows.length > 0
}

/**
 * Passes checkpoints that were not exported yet to `append`, and marks them as exported when it has succeeded. Only one
 * process at a time; when it dies in between, the checkpoints are exported again. Returns how many, or `null` while
 * another process exports.
 */
export async function exportCheckpoints(
  db: Db,
  limit: number,
  append: (points: Checkpoint[]) => Promise<void>
): Promise<number | null> {
  return db.transaction(async (tx: Tx) => {
    const [lock] = await tx.execute<{ taken: boolean }>(
      sql`select pg_try_advisory_xact_lock(hashtextextended('audit checkpoints', 0)) as taken`
    )
    if (!lock!.taken) return null
    const points = await tx
      .select({
        teamId: auditCheckpoints.teamId,
        seq: auditCheckpoints.seq,
        hash: auditCheckpoints.hash,
        at: auditCheckpoints.at,
        keyId: auditCheckpoints.keyId,
        signature: auditCheckpoints.signature
      })
      .from(auditCheckpoints)
      .where(isNull(auditCheckpoints.exportedAt))
      .orderBy(asc(auditCheckpoints.at), asc(auditCheckpoints.teamId), asc(auditCheckpoints.seq))
      .limit(limit)
    if (points.length === 0) return 0
    await append(points)
    for (const { teamId, seq, at } of points)
      await tx
        .update(auditCheckpoints)
        .set({ exportedAt: sql`now()` })
        .where(and(eq(auditCheckpoints.teamId, teamId), eq(auditCheckpoints.seq, seq), eq(auditCheckpoints.at, at)))
    return points.length
  })
}
