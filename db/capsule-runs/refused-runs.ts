// Runs that a schedule could not create: each is recorded with the reason, and the first of a series sends an alert.
import { sql } from 'drizzle-orm'
import { appendAudit } from '../audit/audit.js'
import type { Tx } from '../client.js'
import { newId } from '../ids.js'
import { capsuleRuns } from '../tables/capsules.js'
import { afterRefusal } from './capsule-alerts.js'
import { lockForRun, type NewRun } from './capsule-runs.js'

/**
 * Records a run that was due and could not be created, with the reason.
 * @returns its id, or `null` when the same time has one already.
 */
export async function recordRefusedRun(
  tx: Tx,
  run: Pick<NewRun, 'capsuleId' | 'mode' | 'trigger' | 'actor' | 'scheduledAt' | 'confirms'> & {
    owner: { userId: string | null }
    reason: string
  }
): Promise<string | null> {
  const capsule = await lockForRun(tx, run.capsuleId)
  const { teamId, definition, definitionSha256, state } = capsule
  const runId = newId()
  const made = await tx
    .insert(capsuleRuns)
    .values({
      id: runId,
      capsuleId: capsule.id,
      teamId,
      mode: run.mode,
      trigger: run.trigger,
      userId: run.owner.userId,
      status: 'refused',
      reason: run.reason,
      definition,
      definitionSha256,
      scheduledAt: run.scheduledAt ?? null,
      confirms: run.confirms ?? null,
      completedAt: sql`now()`
    })
    .onConflictDoNothing()
    .returning({ id: capsuleRuns.id })
  if (made.length === 0) return null
  await afterRefusal(tx, runId)
  await appendAudit(tx, {
    teamId,
    capsuleId: capsule.id,
    action: 'capsule.run',
    actor: run.actor,
    previousState: state,
    newState: state,
    metadata: {
      run_id: runId,
      mode: run.mode,
      trigger: run.trigger,
      refused: run.reason,
      ...(run.scheduledAt && { scheduled_at: run.scheduledAt.toISOString() }),
      ...(run.confirms && { confirms: run.confirms })
    }
  })
  return runId
}
