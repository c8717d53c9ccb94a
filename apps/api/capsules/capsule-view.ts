// A capsule as the API shows it (decisions, section 7).
import { type Static, Type } from 'typebox'
import type {
  CapsuleSummary as CapsuleListItem,
  CapsuleParts,
  CapsulePublication,
  CapsuleRow,
  CapsuleSchedule,
  CapsuleSeal
} from '../../../db/capsules/capsules.js'
import { readDefinition, workflowView } from '../../../domain/capsules/capsule-definition.js'
import { capsuleStates } from '../../../domain/capsules/capsule-state.js'
import { retainedUntil } from '../../../domain/capsules/retention.js'
import { recordedFrameworks } from '../../../domain/jobs/framework.js'
import { executionModes } from '../../../domain/jobs/job-status.js'
import { circuitFormats } from '../../../domain/jobs/source.js'
import { oneOf } from '../../../domain/json/one-of.js'
import { usdFromMicro } from '../../../domain/money/money.js'
import { verdicts } from '../../../domain/verification/verdict.js'
import { anything, count, nullable, sha256, text, time, usd, uuid } from '../http/response.js'
import { CapsuleActions } from './capsule-actions.js'
import { engineView, nextRuns, ScheduleEngine } from './schedule-view.js'

export const capsuleDigest = Type.String({ pattern: '^mqc:1:[0-9a-f]{64}$' })

const ownFields = {
  id: uuid,
  team_id: uuid,
  owner_id: nullable(uuid),
  name: text,
  description: text,
  tags: Type.Array(text),
  state: oneOf(capsuleStates),
  backends: Type.Array(text),
  max_budget_usd: nullable(usd),
  retention_years: nullable(count),
  regulatory_framework: nullable(text),
  source_job_id: nullable(uuid),
  cloned_from: nullable(uuid),
  created_at: time,
  updated_at: time
}

const program = {
  script_id: nullable(uuid),
  script_version: nullable(Type.Integer()),
  framework: oneOf([...recordedFrameworks, 'auto']),
  inline_code: Type.Optional(text),
  circuit: Type.Optional(Type.Object({ format: oneOf(circuitFormats), payload: text }))
}

export const CapsuleWorkflow = Type.Object(
  {
    tasks: Type.Array(
      Type.Object({
        name: text,
        ...program,
        backend: text,
        parameters: anything,
        parameters_text: Type.Optional(
          Type.String({
            description: 'JSON text of the parameters, where their values say less: `1.0`, or an integer beyond 2^53'
          })
        ),
        execution_mode: oneOf(executionModes),
        timeout_seconds: Type.Integer({ minimum: 1 }),
        authorable: Type.Boolean({
          description:
            'Whether a create or change request can hold this task: not a circuit, a native call, or a task with a cost limit of its own'
        })
      })
    )
  },
  { $id: 'CapsuleWorkflow' }
)

export const CapsuleEvidence = Type.Object(
  {
    task_executions: count,
    artifacts: Type.Array(Type.Object({ name: text, sha256, size_bytes: count, media_type: text }))
  },
  { $id: 'CapsuleEvidence' }
)

const sealProof = {
  digests: Type.Record(Type.String(), Type.String({ pattern: '^sha256:[0-9a-f]{64}$' })),
  root_digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  capsule_digest: capsuleDigest,
  sealed_at: time,
  signature: Type.Object({ key_id: text, algorithm: Type.Literal('ed25519'), envelope: anything })
}
const SealProof = Type.Object(sealProof)

const publicSeal = {
  ...sealProof,
  exit_code: Type.Integer(),
  margin: Type.Number({ description: 'Total variation distance that a verification tolerates' })
}
export const PublicSeal = Type.Object(publicSeal)

const Seal = Type.Object({
  ...publicSeal,
  exit_message: nullable(text),
  warnings: Type.Array(text, {
    description:
      'For each task whose sealed shots are too few for the margin, or whose result no re-run can be compared with'
  }),
  sealed_by: uuid,
  retained_until: nullable(time)
})

export const CapsuleSummary = Type.Object(
  {
    ...ownFields,
    capsule_digest: nullable(capsuleDigest),
    sealed_at: nullable(time),
    slug: nullable(text),
    last_verification: nullable(Type.Object({ verdict: oneOf(verdicts), completed_at: time })),
    schedule: nullable(
      Type.Object({
        cron: text,
        timezone: text,
        paused: Type.Boolean(),
        next_run_at: nullable(time, 'None while it is paused'),
        engine: ScheduleEngine
      })
    ),
    runs_under_way: count
  },
  { $id: 'CapsuleSummary' }
)

export const Capsule = Type.Object(
  {
    ...ownFields,
    workflow: nullable(CapsuleWorkflow),
    definition_sha256: sha256,
    spent_usd: usd,
    reserved_usd: usd,
    derived_from: nullable(capsuleDigest),
    imported: nullable(anything),
    script: nullable(Type.Object(program)),
    parameters: nullable(anything),
    evidence: CapsuleEvidence,
    seal: nullable(Seal),
    publication: nullable(
      Type.Object({
        slug: text,
        title: text,
        description: text,
        readme: nullable(text),
        license: nullable(text),
        category: nullable(text),
        tags: Type.Array(text),
        published_at: time,
        taken_down_at: nullable(time),
        takedown_reason: nullable(text)
      })
    ),
    schedule: nullable(
      Type.Object(
        {
          cron: text,
          timezone: text,
          paused: Type.Boolean(),
          alert: Type.Object({ emails: Type.Array(text), on: Type.Array(text) })
        },
        { $id: 'CapsuleScheduleSummary' }
      )
    ),
    can: Type.Optional(CapsuleActions)
  },
  { $id: 'Capsule' }
)

/** The full record of a capsule. */
export function capsuleView(
  capsule: CapsuleRow,
  parts: CapsuleParts,
  can?: Static<typeof CapsuleActions>
): Static<typeof Capsule> {
  const workflow = workflowView(readDefinition(capsule.definition))
  // A capsule of a job has one task, which is the job; so has its clone.
  const isOfJob = capsule.sourceJobId !== null || (capsule.clonedFrom !== null && workflow?.tasks.length === 1)
  const main = isOfJob ? workflow?.tasks[0] : undefined
  return {
    id: capsule.id,
    team_id: capsule.teamId,
    owner_id: capsule.ownerId,
    name: capsule.name,
    description: capsule.description,
    tags: capsule.tags,
    state: capsule.state,
    workflow,
    definition_sha256: capsule.definitionSha256,
    backends: capsule.backends,
    max_budget_usd: capsule.maxBudget === null ? null : usdFromMicro(capsule.maxBudget),
    spent_usd: usdFromMicro(parts.spent),
    reserved_usd: usdFromMicro(parts.reserved),
    retention_years: capsule.retentionYears,
    regulatory_framework: capsule.regulatoryFramework,
    source_job_id: capsule.sourceJobId,
    cloned_from: capsule.clonedFrom,
    derived_from: capsule.derivedFrom,
    imported: capsule.imported,
    script: main ? scriptOf(main) : null,
    parameters: main?.parameters ?? null,
    evidence: evidenceView(parts),
    seal: parts.seal && sealView(parts.seal, capsule),
    publication: parts.publication && publicationView(parts.publication),
    schedule: parts.schedule && scheduleView(parts.schedule),
    created_at: capsule.createdAt.toISOString(),
    updated_at: capsule.updatedAt.toISOString(),
    ...(can && { can })
  }
}

type TaskView = NonNullable<ReturnType<typeof workflowView>>['tasks'][number]

const scriptOf = (task: TaskView) => ({
  script_id: task.script_id,
  script_version: task.script_version,
  framework: task.framework,
  ...('inline_code' in task && { inline_code: task.inline_code }),
  ...('circuit' in task && { circuit: task.circuit })
})

export const evidenceView = ({
  taskExecutions,
  files
}: Pick<CapsuleParts, 'taskExecutions' | 'files'>): Static<typeof CapsuleEvidence> => ({
  task_executions: taskExecutions,
  artifacts: files.map(({ name, sha256, sizeBytes, mediaType }) => ({
    name,
    sha256,
    size_bytes: sizeBytes,
    media_type: mediaType
  }))
})

/** A capsule in a list. */
export const capsuleSummaryView = (capsule: CapsuleListItem, now: Date): Static<typeof CapsuleSummary> => ({
  id: capsule.id,
  team_id: capsule.teamId,
  owner_id: capsule.ownerId,
  name: capsule.name,
  description: capsule.description,
  tags: capsule.tags,
  state: capsule.state,
  backends: capsule.backends,
  max_budget_usd: capsule.maxBudget === null ? null : usdFromMicro(capsule.maxBudget),
  retention_years: capsule.retentionYears,
  regulatory_framework: capsule.regulatoryFramework,
  source_job_id: capsule.sourceJobId,
  cloned_from: capsule.clonedFrom,
  capsule_digest: capsule.capsuleDigest,
  sealed_at: capsule.sealedAt?.toISOString() ?? null,
  slug: capsule.slug,
  last_verification:
    capsule.lastVerdict === null || capsule.lastVerifiedAt === null
      ? null
      : { verdict: capsule.lastVerdict, completed_at: capsule.lastVerifiedAt.toISOString() },
  schedule: capsule.schedule && listedSchedule(capsule.schedule, now),
  runs_under_way: capsule.runsUnderWay ?? 0,
  created_at: capsule.createdAt.toISOString(),
  updated_at: capsule.updatedAt.toISOString()
})

const listedSchedule = (schedule: CapsuleSchedule, now: Date) => ({
  cron: schedule.cron,
  timezone: schedule.timezone,
  paused: schedule.paused,
  next_run_at: nextRuns(schedule, now, 1)[0] ?? null,
  engine: engineView(schedule)
})

/** `digests` holds the digest of each file of the sealed payload, as its checksums list them. */
const sealView = (seal: CapsuleSeal, { retentionYears }: Pick<CapsuleRow, 'retentionYears'>) => ({
  ...publicSealView(seal),
  exit_code: seal.exitCode,
  exit_message: seal.exitMessage,
  margin: Number(seal.margin),
  warnings: seal.warnings,
  sealed_by: seal.sealedBy,
  retained_until: retainedUntil(seal.sealedAt, retentionYears)?.toISOString() ?? null
})

/** The part of a seal that everyone can see. */
export const publicSealView = (seal: CapsuleSeal): Static<typeof SealProof> => ({
  digests: digestsOf(seal.checksums),
  root_digest: seal.rootDigest,
  capsule_digest: seal.capsuleDigest,
  sealed_at: seal.sealedAt.toISOString(),
  signature: {
    key_id: seal.keyId,
    algorithm: 'ed25519',
    envelope: JSON.parse(seal.envelope) as Record<string, unknown>
  }
})

const digestsOf = (checksums: string): Record<string, string> =>
  Object.fromEntries(
    checksums.split('\n').flatMap((line) => {
      const at = line.indexOf('  ')
      return at < 0 ? [] : [[line.slice(at + 2), line.slice(0, at)]]
    })
  )

const publicationView = (publication: CapsulePublication) => ({
  slug: publication.slug,
  title: publication.title,
  description: publication.description,
  readme: publication.readme,
  license: publication.license,
  category: publication.category,
  tags: publication.tags,
  published_at: publication.publishedAt.toISOString(),
  taken_down_at: publication.takenDownAt?.toISOString() ?? null,
  takedown_reason: publication.takedownReason
})

const scheduleView = (schedule: CapsuleSchedule) => ({
  cron: schedule.cron,
  timezone: schedule.timezone,
  paused: schedule.paused,
  alert: { emails: schedule.alertEmails, on: schedule.alertOn }
})
