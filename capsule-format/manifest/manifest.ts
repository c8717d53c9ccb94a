// The manifest of a capsule, `capsule.yaml`: its fields, its one-line text, and how it is made from what was run.
import { canonicalJson } from '../../domain/json/canonical-json.js'
import { manifestDigest, sha256 } from '../checksums.js'
import type { PackageFile } from '../payload-file.js'
import { type Requirements, requirementsOf } from '../requirements.js'

/** Facts about one execution that the evidence covers. */
export interface TaskExecution {
  /** Lower-case UUID: the id of the job. */
  taskId: string
  /** Name of the task in the workflow. */
  name: string
  provider: string
  /** Slug. */
  backend: string
  /** Null if there were no counts (only a state vector). */
  shots: number | null
  startedAt: Date | null
  endedAt: Date | null
  wallSeconds: number | null
  costUsd: number | null
  jobId: string
  /** Whether the result was sampled, so that another run differs by chance. */
  sampled: boolean
  /** Whether the program itself stated the result, so that only the program vouches for it. Default: no. */
  programReported?: boolean
  /** Whether it ran on hardware, whose calibration drifts. Default: no. */
  hardware?: boolean
}

/** The input from which a package is made. */
export interface PackageInput {
  name: string
  description: string
  tags: readonly string[]
  createdAt: Date
  /** Never an e-mail address: `user:<id>`. */
  createdBy: string
  /** `mqc:1:<hex>` of the sealed capsule that this one continues. */
  derivedFrom: string | null
  /** JSON text of the definition, exactly as stored. */
  definition: string
  backends: readonly string[]
  maxBudgetUsd: number | null
  retentionYears: number | null
  regulatoryFramework: string | null
  /** More about its origin (source job, what an import claimed), as plain JSON. */
  provenance?: Record<string, unknown>
  tasks: readonly TaskExecution[]
  /** The evidence, without the files that the package adds. */
  files: readonly PackageFile[]
  /** Default: read from the results among the files. */
  requirements?: Requirements
}

export interface SealInput extends PackageInput {
  sealedAt: Date
  sealedBy: string
  exitCode: number
  exitMessage: string | null
  /** The total variation distance that a verification tolerates, 0 to 1. */
  margin: number
}

/** The fields that this code reads; other fields are kept unchanged. */
export interface Manifest {
  version: '1.0.0'
  name: string
  lifecycle_state: 'draft' | 'runnable' | 'sealed' | 'archived'
  description?: string
  created_at?: string
  created_by?: string
  sealed_at?: string
  sealed_by?: string
  checksums_digest?: string
  derived_from?: string
  requirements?: Requirements
  task_executions?: Record<string, unknown>[]
  digests?: Record<string, string | null>
  parameters?: Record<string, unknown>
  tags?: string[]
  max_budget_usd?: number | null
  exit_code?: number
  exit_message?: string
  extensions?: Record<string, unknown>
  [field: string]: unknown
}

/** This service's part of a manifest's `extensions`. */
export const EXTENSION = 'quantum-job-service'
/** The file that holds the definition byte for byte: Unicode normalization changes a manifest's own strings. */
export const DEFINITION_NAME = 'definition.json'

export interface Extension {
  /** Name of the file. */
  definition: string
  definition_sha256: string
  backends: readonly string[]
  retention_years: number | null
  regulatory_framework: string | null
  margin: number | null
  provenance: Record<string, unknown>
  /** The name of the task in the definition, by task id. */
  task_names: Record<string, string>
  /** Names of the tasks whose results only their own programs vouch for; absent when there are none. */
  program_reported?: string[]
}

/** The evidence together with the files that this service adds to every package. */
export const packagedFiles = (input: Pick<PackageInput, 'definition' | 'files'>): PackageFile[] => [
  ...input.files,
  { name: DEFINITION_NAME, content: Buffer.from(input.definition) }
]

/**
 * Makes the manifest of a sealed capsule. Pure.
 * @param checksumsDigest `sha256:<hex>` of `.checksums` over `packagedFiles(input)`.
 */
export function buildManifest(input: SealInput, checksumsDigest: string): Manifest {
  return {
    ...commonFields(input, 'sealed', input.margin),
    requirements: input.requirements ?? requirementsOf(input.files),
    checksums_digest: checksumsDigest,
    sealed_at: input.sealedAt.toISOString(),
    sealed_by: input.sealedBy,
    exit_code: input.exitCode,
    ...(input.exitMessage === null ? {} : { exit_message: input.exitMessage })
  }
}

/** Makes the manifest of a capsule that is not sealed: it states no digest. */
export const buildDraftManifest = (input: PackageInput): Manifest => commonFields(input, 'draft', null)

function commonFields(input: PackageInput, state: Manifest['lifecycle_state'], margin: number | null): Manifest {
  const files = packagedFiles(input)
  const reported = input.tasks.filter(({ programReported }) => programReported).map(({ name }) => name)
  const extension: Extension = {
    definition: DEFINITION_NAME,
    definition_sha256: sha256(input.definition),
    backends: input.backends,
    retention_years: input.retentionYears,
    regulatory_framework: input.regulatoryFramework,
    margin,
    provenance: input.provenance ?? {},
    task_names: Object.fromEntries(input.tasks.map(({ taskId, name }) => [taskId, name])),
    ...(reported.length > 0 && { program_reported: reported })
  }
  return {
    version: '1.0.0',
    name: input.name,
    lifecycle_state: state,
    description: input.description,
    created_at: input.createdAt.toISOString(),
    created_by: input.createdBy,
    ...(input.derivedFrom === null ? {} : { derived_from: input.derivedFrom }),
    tags: [...input.tags],
    task_executions: input.tasks.map((task) => executionRecord(task, margin)),
    num_tasks: input.tasks.length,
    total_shots: input.tasks.reduce((sum, { shots }) => sum + (shots ?? 0), 0),
    wall_time_seconds: input.tasks.reduce((sum, { wallSeconds }) => sum + (wallSeconds ?? 0), 0),
    actual_cost_usd: input.tasks.reduce((sum, { costUsd }) => sum + Math.round((costUsd ?? 0) * 1e6), 0) / 1e6,
    max_budget_usd: input.maxBudgetUsd,
    digests: Object.fromEntries(
      files.filter(({ name }) => isPrincipal(name)).map(({ name, content }) => [name, `sha256:${sha256(content)}`])
    ),
    extensions: { [EXTENSION]: extension }
  }
}

/** The facts that a reader looks for first: what was run, and its result. */
const isPrincipal = (name: string): boolean =>
  name === DEFINITION_NAME || /^tasks\/[^/]+\/(result\.json|circuit\.qasm|source\.[^/]+)$/.test(name)

// Below this many shots the public tool's comparison has no power.
const MIN_SHOTS = 100

function executionRecord(task: TaskExecution, margin: number | null): Record<string, unknown> {
  const tolerated = Math.min(1, margin ?? 0.05)
  return {
    task_id: task.taskId,
    status: 'success',
    result_type: task.sampled ? 'probabilistic' : 'deterministic',
    backend: { provider: task.provider, name: task.backend, shots: Math.max(1, task.shots ?? 1) },
    job_id: task.jobId,
    ...(task.startedAt && { start_time: task.startedAt.toISOString() }),
    ...(task.endedAt && { end_time: task.endedAt.toISOString() }),
    ...(task.wallSeconds !== null && { wall_time_seconds: task.wallSeconds }),
    ...(task.costUsd !== null && { cost_usd: task.costUsd }),
    ...(task.sampled && {
      verification_settings: {
        epsilon: tolerated,
        min_shots: MIN_SHOTS,
        tolerance_regime: task.hardware ? 'calibration_drift' : 'strict',
        ...(task.hardware && { epsilon_drift: tolerated })
      }
    })
  }
}

/** The tasks of a manifest whose results only their own programs vouch for. */
export function programReportedTasks(manifest: Manifest): string[] {
  const extension = manifest.extensions?.[EXTENSION] as Partial<Extension> | undefined
  const names: unknown = extension?.program_reported
  return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : []
}

// Readers of YAML 1.1 and 1.2 interpret these characters differently when they are not escaped.
const unsettled = /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g

/** The text of `capsule.yaml`: one line of canonical JSON, which every YAML reader accepts. */
export const manifestText = (manifest: Manifest): string =>
  canonicalJson(manifest).replace(
    unsettled,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  )

/** `mqc:1:<hex>` of a manifest that `manifestText` wrote. */
export const capsuleDigest = (text: string): string => manifestDigest(JSON.parse(text) as unknown)
