// Brings work that was open in a backup to an end. Between the backup and the loss of its database, an open job may have
// run, and a provider may have been sent it.
import type { BackupHead } from '../../domain/operations/backup.js'
import { newId } from '../ids.js'
import type { BackupTx } from './sessions.js'

/** Longer than a batch of checkpoints takes to be written to their file. */
const EXPORT_SECONDS = 60

const open = `status in ('pending', 'running', 'cancelling')`

/**
 * Durable jobs get a workflow of the next generation, so that one which Temporal may still have cannot write any more.
 * Direct jobs that were waiting are delivered again by their outbox rows; those that ran have lost their lease, and the
 * lease sweep fails them. In the transaction of the restore, with the tables of this version.
 */
export async function reopenWork(tx: BackupTx, head: BackupHead): Promise<void> {
  // Submissions look here whether they must look for an earlier one first (db/provider-jobs/provider-jobs.ts).
  await tx`insert into restores (id, backup_id, taken_at) values (${newId()}, ${head.id}, ${head.created_at})`
  await tx.unsafe(`
    update jobs set generation = generation + 1, missing_since = null, checked_at = null where durable and ${open}`)
  await tx.unsafe('update outbox set next_at = clock_timestamp(), unreachable_since = null')
  await tx.unsafe(`
    insert into outbox (job_id, kind, mode, generation, due_at, next_at, team_id, backend)
      select id, 'start', 'temporal', generation, clock_timestamp(), clock_timestamp(), team_id, backend from jobs
      where durable and ${open}
      on conflict (job_id, kind) do update set generation = excluded.generation, deliveries = 0, held_reason = null`)
  await tx.unsafe(`
    update outbox set generation = jobs.generation from jobs
    where jobs.id = outbox.job_id and outbox.kind = 'cancel' and jobs.durable and ${open}`)
  // The silence of a provider counts from now: this service has sent it no request since the backup.
  await tx.unsafe(`
    update provider_tasks set seen_at = clock_timestamp(),
      last_sent_at = case when state = 'intended' then clock_timestamp() else last_sent_at end
    where state in ('intended', 'accepted')`)
  // The checkpoint file of the backup may lack them.
  if (head.checkpoints_read_at)
    await tx`
      update audit_checkpoints set exported_at = null
      where exported_at >= ${head.checkpoints_read_at}::timestamptz - make_interval(secs => ${EXPORT_SECONDS})`
}
