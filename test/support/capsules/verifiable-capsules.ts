// Capsules that can have a schedule, as rows: made from a job and sealed, without the content of a seal.
import { eq, sql } from 'drizzle-orm'
import { actorText } from '../../../db/audit/audit.js'
import { createCapsule } from '../../../db/capsules/capsule-changes.js'
import type { Db } from '../../../db/client.js'
import { jobs } from '../../../db/tables/jobs.js'
import { type CapsuleTask, MAIN_TASK } from '../../../domain/capsules/capsule-definition.js'
import { bellQasm3 } from '../jobs/builders.js'
import { addJob, forceStatus, type Person } from '../jobs/rows.js'

export interface VerifiableCapsule {
  id: string
  teamId: string
  jobId: string
}

/** @param changes of the only task. */
export async function addVerifiableCapsule(
  db: Db,
  owner: Person,
  given: { teamId?: string | null; task?: Partial<CapsuleTask>; maxBudget?: bigint | null; sealed?: boolean } = {}
): Promise<VerifiableCapsule> {
  const { teamId: named = null, task = {}, maxBudget = null, sealed = true } = given
  const jobId = await addJob(db, owner, { submission: { teamId: named } })
  await forceStatus(db, jobId, { status: 'completed' })
  const [job] = await db.select({ teamId: jobs.teamId }).from(jobs).where(eq(jobs.id, jobId))
  const { teamId } = job!
  const id = await db.transaction((tx) =>
    createCapsule(
      tx,
      {
        teamId,
        ownerId: owner.userId,
        state: 'runnable',
        sourceJobId: jobId,
        name: 'a bell pair',
        description: '',
        tags: [],
        definition: {
          tasks: [
            {
              name: MAIN_TASK,
              source: { kind: 'inline', framework: 'openqasm', text: bellQasm3() },
              backend: 'local',
              parameters: { shots: 100 },
              execution_mode: 'direct',
              timeout_seconds: 60,
              circuit_count: 1,
              ...task
            }
          ]
        },
        maxBudget,
        retentionYears: null,
        regulatoryFramework: null
      },
      { actor: actorText({ ...owner, key: null }) }
    )
  )
  if (sealed) await db.execute(sql`update capsules set state = 'sealed' where id = ${id}`)
  return { id, teamId, jobId }
}
