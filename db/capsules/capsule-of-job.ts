// Makes a capsule of a completed job: its definition is what the job ran, and it has its evidence from the beginning.
import { and, eq, isNull } from 'drizzle-orm'
import type { AuditAction } from '../../domain/audit/audit-action.js'
import { assertSize, definitionText, MAIN_TASK, taskOfJob } from '../../domain/capsules/capsule-definition.js'
import { assertEvidenceFits } from '../../domain/capsules/capsule-size.js'
import { codeOf } from '../../domain/errors.js'
import { storableText } from '../../domain/json/json-guard.js'
import type { MicroUsd } from '../../domain/money/money.js'
import type { Tx } from '../client.js'
import { loadSource } from '../jobs/jobs.js'
import { jobs } from '../tables/jobs.js'
import { createCapsule, type EvidenceFile } from './capsule-changes.js'
import { collectEvidence } from './capsule-evidence.js'

export interface CapsuleOfJob {
  jobId: string
  teamId: string
  ownerId: string | null
  /** `null` to take the job's name. */
  name: string | null
  description?: string
  tags?: string[]
  maxBudget?: MicroUsd | null
  retentionYears?: number | null
  regulatoryFramework?: string | null
}

/**
 * Packages a completed job, for a team that the transaction has locked.
 * @returns the capsule's id, and its evidence.
 * @throws ServiceError `validation_error` when the job has not completed or its evidence is too large, `conflict`.
 */
export async function createCapsuleOfJob(
  tx: Tx,
  { jobId, name, description = '', tags = [], ...rest }: CapsuleOfJob,
  audit: { actor: string; action?: AuditAction },
  /** Called when all but the audit entry is written. */
  beforeAudit: () => Promise<unknown> = async () => {}
): Promise<{ id: string; files: EvidenceFile[] }> {
  const files = await collectEvidence(tx, jobId, MAIN_TASK)
  const [job] = await tx
    .select({
      name: jobs.name,
      backend: jobs.backend,
      params: jobs.params,
      mode: jobs.mode,
      timeoutSeconds: jobs.timeoutSeconds,
      circuitCount: jobs.circuitCount,
      actualCost: jobs.actualCost
    })
    .from(jobs)
    .where(eq(jobs.id, jobId))
  const definition = { tasks: [taskOfJob(job!, await loadSource(tx, jobId))] }
  assertSize(definition)
  // The size that a seal will have: what could never be sealed is refused now.
  assertEvidenceFits([
    ...files.map(({ name, content }) => ({ name, size: content.length })),
    { name: 'definition.json', size: Buffer.byteLength(definitionText(definition)) }
  ])
  const id = await createCapsule(
    tx,
    {
      teamId: rest.teamId,
      ownerId: rest.ownerId,
      state: 'runnable',
      name: name ?? job!.name ?? `Job ${jobId}`,
      description,
      tags,
      definition,
      maxBudget: rest.maxBudget ?? null,
      retentionYears: rest.retentionYears ?? null,
      regulatoryFramework: rest.regulatoryFramework ?? null,
      sourceJobId: jobId,
      files
    },
    {
      ...audit,
      metadata: { cost_micro_usd: job!.actualCost === null ? null : String(job!.actualCost) },
      before: async (capsuleId) => {
        await tx
          .update(jobs)
          .set({ capsuleId })
          .where(and(eq(jobs.id, jobId), isNull(jobs.capsuleId)))
        await beforeAudit()
      }
    }
  )
  return { id, files }
}

/**
 * Creates the capsule that `create_capsule` requested, in the transaction that completes the job, and settles the job.
 * A job with a result completes even when the capsule cannot be made; its `status_reason` then says why.
 * @param settleJob called once the files are written, which can take seconds for 60 MiB: it locks counters of the team,
 * and the audit entry after it locks the end of the team's trail.
 */
export async function createRequestedCapsule(
  tx: Tx,
  jobId: string,
  settleJob: (tx: Tx) => Promise<unknown>
): Promise<void> {
  const [job] = await tx
    .select({ teamId: jobs.teamId, userId: jobs.userId, apiKeyId: jobs.apiKeyId, name: jobs.capsuleName })
    .from(jobs)
    .where(eq(jobs.id, jobId))
  const { teamId, userId, apiKeyId, name } = job!
  const actor = apiKeyId ? `key:${apiKeyId}` : userId ? `user:${userId}` : 'system'
  try {
    await tx.transaction((savepoint) =>
      createCapsuleOfJob(savepoint, { jobId, teamId, ownerId: userId, name }, { actor }, () => settleJob(savepoint))
    )
  } catch (error) {
    // The savepoint is rolled back. A lost connection fails the whole step, which is then retried.
    await settleJob(tx)
    const why = codeOf(error) ? (error as Error).message : 'it could not be recorded'
    await tx
      .update(jobs)
      .set({
        statusReason: storableText(`no capsule was made of this job: ${why}; one can still be made of it`)
      })
      .where(eq(jobs.id, jobId))
  }
}
