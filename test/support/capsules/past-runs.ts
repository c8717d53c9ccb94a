// Runs of a capsule that are over, written as they are kept: a year of them cannot be run in a test.
import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../../db/client.js'

/**
 * @param runs rows of (status, verdict, ended, report, trigger): texts, a time, JSON.
 */
export async function addPastRuns(db: Db, capsuleId: string, runs: SQL): Promise<void> {
  await db.transaction(async (tx) => {
    // A trigger lets a run begin as pending or refused alone.
    await tx.execute(sql`set local session_replication_role = replica`)
    await tx.execute(sql`insert into capsule_runs (id, capsule_id, team_id, mode, trigger, user_id, status, definition,
        definition_sha256, verdict, verification, completed_at)
      select gen_random_uuid(), id, team_id, 'verify', run.trigger, owner_id, run.status, definition, definition_sha256,
        run.verdict, run.report::jsonb, run.ended::timestamptz
      from capsules, (${runs}) as run(status, verdict, ended, report, trigger)
      where id = ${capsuleId}`)
  })
}
