// A capsule as the API shows it (decisions, section 7).

import type { PublicCapsule } from '../../../db/capsules/capsule-seals.js'
import {
  type CapsuleFileInfo,
  type CapsuleParts,
  type CapsulePublication,
  type CapsuleRow,
  type CapsuleSchedule,
  type CapsuleSeal,
  type CapsuleSummary,
  countExecutions
} from '../../../db/capsules/capsules.js'
import { readDefinition, workflowView } from '../../../domain/capsules/capsule-definition.js'
import { retainedUntil } from '../../../domain/capsules/retention.js'
import { usdFromMicro } from '../../../domain/money/money.js'

/** The whole record. */
export function capsuleView(capsule: CapsuleRow, parts: CapsuleParts) {
  const workflow = workflowView(readDefinition(capsule.definition))
  // Made from a job: one task, which is the job.
  const main = capsule.sourceJobId === null ? undefined : workflow?.tasks[0]
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
    updated_at: capsule.updatedAt.toISOString()
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

const evidenceView = ({ taskExecutions, files }: Pick<CapsuleParts, 'taskExecutions' | 'files'>) => ({
  task_executions: taskExecutions,
  artifacts: files.map(({ name, sha256, sizeBytes, mediaType }) => ({
    name,
    sha256,
    size_bytes: sizeBytes,
    media_type: mediaType
  }))
})

/** The item of a list. */
export const capsuleSummaryView = (capsule: CapsuleSummary) => ({
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
  created_at: capsule.createdAt.toISOString(),
  updated_at: capsule.updatedAt.toISOString()
})

/** `digests`: of each file of the sealed payload, as its checksums list them. */
const sealView = (seal: CapsuleSeal, { retentionYears }: Pick<CapsuleRow, 'retentionYears'>) => ({
  ...publicSealView(seal),
  exit_code: seal.exitCode,
  exit_message: seal.exitMessage,
  margin: Number(seal.margin),
  warnings: seal.warnings,
  sealed_by: seal.sealedBy,
  retained_until: retainedUntil(seal.sealedAt, retentionYears)?.toISOString() ?? null
})

/** What anybody may know of a seal. */
export const publicSealView = (seal: CapsuleSeal) => ({
  digests: digestsOf(seal.checksums),
  root_digest: seal.rootDigest,
  capsule_digest: seal.capsuleDigest,
  sealed_at: seal.sealedAt.toISOString(),
  signature: { key_id: seal.keyId, algorithm: 'ed25519', envelope: JSON.parse(seal.envelope) as unknown }
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

/** The item of the public catalogue. Nothing in it names a person or a team. */
export const publicSummaryView = ({ capsule, publication, seal }: PublicCapsule) => ({
  id: capsule.id,
  slug: publication.slug,
  title: publication.title,
  description: publication.description,
  license: publication.license,
  category: publication.category,
  tags: publication.tags,
  published_at: publication.publishedAt.toISOString(),
  backends: capsule.backends,
  capsule_digest: seal.capsuleDigest,
  sealed_at: seal.sealedAt.toISOString()
})

/** A published capsule with all that it publishes: programs, parameters, digests of its evidence, seal. */
export const publicCapsuleView = (found: PublicCapsule, files: CapsuleFileInfo[]) => ({
  ...publicSummaryView(found),
  name: found.capsule.name,
  readme: found.publication.readme,
  workflow: workflowView(readDefinition(found.capsule.definition)),
  regulatory_framework: found.capsule.regulatoryFramework,
  evidence: evidenceView({ taskExecutions: countExecutions(files), files }),
  seal: { ...publicSealView(found.seal), exit_code: found.seal.exitCode, margin: Number(found.seal.margin) }
})
