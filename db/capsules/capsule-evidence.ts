// The evidence of a completed job: its source, backend, parameters, result, cost and times. Sources, parameters and
// results are stored byte for byte. Files that are written here are RFC 8785 text, so the same job always gives the
// same files.
import canonicalize from 'canonicalize'
import { and, eq, sql } from 'drizzle-orm'
import { idWithoutAccount } from '../../domain/backends/provider-job.js'
import { assertEvidenceFits } from '../../domain/capsules/capsule-size.js'
import { evidenceFolder } from '../../domain/capsules/evidence-folder.js'
import { ServiceError, validationError } from '../../domain/errors.js'
import { programKindOf } from '../../domain/jobs/source.js'
import type { StoredSource } from '../../domain/jobs/submission.js'
import { jsonFields, jsonObject } from '../../domain/json/json-text.js'
import { usdFromMicro } from '../../domain/money/money.js'
import { assertKept, evidenceKinds } from '../../domain/teams/content-retention.js'
import { backendFactsAt } from '../backends/backend-history.js'
import type { DbOrTx } from '../client.js'
import { removedOf } from '../contents/removed-contents.js'
import { type ArtifactInfo, findArtifact, listArtifacts, sha256Of } from '../jobs/artifacts.js'
import { type AttemptRow, listAttempts, resultText } from '../jobs/attempts.js'
import { loadSource, recordColumns } from '../jobs/jobs.js'
import { listShownResults, type ShownResult } from '../jobs/task-results.js'
import { valueTexts } from '../jobs/task-values.js'
import { type StoredContent, wholeOf } from '../stored-content.js'
import { capsuleFiles } from '../tables/capsules.js'
import { jobs } from '../tables/jobs.js'
import type { EvidenceFile } from './capsule-changes.js'
import { type CapsuleFileInfo, type CapsuleRow, evidenceRun } from './capsules.js'

const jobQuery = (db: DbOrTx) => db.select({ ...recordColumns, shots: jobs.shots }).from(jobs)
type EvidenceJob = Awaited<ReturnType<typeof jobQuery>>[number]

async function completedJob(db: DbOrTx, jobId: string): Promise<EvidenceJob> {
  const [job] = await jobQuery(db).where(eq(jobs.id, jobId))
  if (!job) throw new ServiceError('conflict', `the job ${jobId}, whose result should become the evidence, was deleted`)
  if (job.status !== 'completed' || job.resultSha256 === null)
    throw validationError(`job_id: must be a completed job (it is ${job.status})`)
  return job
}

/**
 * The files of one completed job, in the folder of its task.
 * @param task its name.
 * @throws ServiceError `validation_error` when it has not completed, or its evidence is too large; `contents_removed`.
 */
export async function collectEvidence(db: DbOrTx, jobId: string, task: string): Promise<EvidenceFile[]> {
  const job = await completedJob(db, jobId)
  const source = await loadSource(db, jobId)
  const made = await listArtifacts(db, jobId)
  const result = (await resultText(db, jobId, job.resultSha256!)) ?? ''
  const ofTasks = await listShownResults(db, jobId)
  assertEvidenceFits([
    ...made.map((artifact) => ({ name: `${evidenceFolder(task)}/${placeOf(artifact)}`, size: artifact.sizeBytes })),
    { name: `${evidenceFolder(task)}/result.json`, size: Buffer.byteLength(result) },
    {
      name: `${evidenceFolder(task)}/tasks.json`,
      size: ofTasks.reduce((sum, { display }) => sum + (display?.sizeBytes ?? 0), 0)
    }
  ])
  const attempts = await listAttempts(db, jobId)
  const facts = await backendFactsAt(db, job.backend, job.startedAt ?? job.createdAt)
  const texts: Record<string, string> = {
    [sourceName(source)]: source.text,
    'parameters.json': job.params,
    ...(source.native && { 'input.json': source.native.input }),
    'result.json': result,
    ...(ofTasks.length > 0 && { 'tasks.json': await shownText(db, jobId, ofTasks) }),
    'backend.json': written({ backend: job.backend, ...facts }),
    'environment.json': environment(job.framework, result),
    'timing.json': written(timing(job, attempts)),
    'job.json': written(record(job, source))
  }
  const files = Object.entries(texts).map(([name, text]) => file(task, name, Buffer.from(text, 'utf8')))
  for (const { name } of made) {
    const found = await findArtifact(db, jobId, name)
    const content = found && (await wholeOf(db, found.stored))
    if (content) files.push(file(task, placeOf(found), content, found.mediaType))
  }
  // Last: it also notices what was removed while the rest was read.
  assertKept(await removedOf(db, jobId), evidenceKinds)
  return files.sort((one, other) => (one.name < other.name ? -1 : 1))
}

/**
 * The circuit and its compiled form are stored next to the source; all other files of the job have a folder of their
 * own.
 */
const placeOf = ({ name }: ArtifactInfo): string =>
  name === 'circuit.qasm' || /^compiled[.-]/.test(name) ? name : `artifacts/${name}`

function sourceName(source: StoredSource): string {
  const { kind, framework } = source
  if (kind === 'circuits') return 'circuits.json'
  if (programKindOf(source) === 'analog') return 'source.json'
  return kind === 'circuit' || framework === 'openqasm' ? 'source.qasm' : 'source.py'
}

const mediaTypes: Readonly<Record<string, string>> = {
  json: 'application/json',
  py: 'text/x-python; charset=utf-8',
  qasm: 'text/plain; charset=utf-8'
}

function file(task: string, name: string, content: Buffer, mediaType?: string): EvidenceFile {
  const ending = name.slice(name.lastIndexOf('.') + 1)
  return {
    name: `${evidenceFolder(task)}/${name}`,
    mediaType: mediaType ?? mediaTypes[ending]!,
    content,
    sha256: sha256Of(content)
  }
}

/** By key: the digest of a task's return value, and its plain JSON or the reason why it has none. */
async function shownText(db: DbOrTx, jobId: string, results: readonly ShownResult[]): Promise<string> {
  const texts = await valueTexts(db, jobId, [...new Set(results.flatMap(({ display }) => display?.sha256 ?? []))])
  return jsonObject(
    results.map(({ key, sha256, display, displayProblem }) => [
      key,
      jsonObject([
        ['sha256', JSON.stringify(sha256)],
        display ? ['value', texts.get(display.sha256)] : ['problem', JSON.stringify(displayProblem)]
      ])
    ])
  )
}

const written = (value: object): string => canonicalize(value)!

/** Engine, versions, seed and calibration, exactly as the result states them. */
function environment(framework: string, result: string): string {
  return jsonObject([
    ['framework', JSON.stringify(framework)],
    ['metadata', fieldsOf(result).get('metadata') ?? 'null']
  ])
}

/** The fields of a result as text; empty when it is not an object. Split once, since results can be large. */
const fieldsOf = (result: string): Map<string, string> => (result.startsWith('{') ? jsonFields(result) : new Map())

const timing = (job: EvidenceJob, attempts: AttemptRow[]) => ({
  created_at: job.createdAt,
  started_at: job.startedAt,
  completed_at: job.completedAt,
  estimated_cost_usd: usdFromMicro(job.estimatedCost),
  actual_cost_usd: job.actualCost === null ? null : usdFromMicro(job.actualCost),
  attempts: attempts.map((attempt) => ({
    task: attempt.task || null,
    number: attempt.number,
    state: attempt.state,
    started_at: attempt.startedAt,
    ended_at: attempt.endedAt,
    error_code: attempt.errorCode
  }))
})

const record = (job: EvidenceJob, source: StoredSource) => ({
  id: job.id,
  name: job.name,
  labels: job.labels,
  status: job.status,
  backend: job.backend,
  provider: job.provider,
  provider_jobs: job.providerJobs
    .filter(({ id }) => id !== null)
    .map(({ id, status }) => ({ id: idWithoutAccount(id!), status })),
  ...(job.providerJobs.some(({ emulated }) => emulated) && { emulated: true }),
  execution_mode: job.mode,
  framework: job.framework,
  source: {
    kind: source.kind,
    script_id: job.scriptId,
    script_version: job.scriptVersion,
    sha256: job.sourceSha256
  },
  shots: job.shots,
  timeout_seconds: job.timeoutSeconds,
  circuit_count: job.circuitCount,
  ...(source.native
    ? {
        native: {
          programming_model: source.native.model,
          entrypoint: source.native.entrypoint,
          max_cost_usd: usdFromMicro(source.maxCost!)
        }
      }
    : source.maxCost !== null && { max_cost_usd: usdFromMicro(source.maxCost) })
})

/**
 * The jobs that the evidence of a capsule consists of: the job that it was made from, or else those of the newest
 * completed run of its current definition. Empty when there is none.
 */
export async function evidenceJobs(
  db: DbOrTx,
  capsule: Pick<CapsuleRow, 'id' | 'definitionSha256' | 'sourceJobId'>,
  mainTask: string
): Promise<{ task: string; jobId: string }[]> {
  return capsule.sourceJobId === null ? evidenceRun(db, capsule) : [{ task: mainTask, jobId: capsule.sourceJobId }]
}

/** All stored files, sorted by name. */
export async function loadFiles(db: DbOrTx, capsuleId: string): Promise<EvidenceFile[]> {
  const { name, mediaType, sha256, sizeBytes } = capsuleFiles
  const rows = await db
    .select({ name, mediaType, sha256, sizeBytes })
    .from(capsuleFiles)
    .where(eq(capsuleFiles.capsuleId, capsuleId))
  const files: EvidenceFile[] = []
  for (const { sizeBytes, ...row } of rows.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const where = and(eq(capsuleFiles.capsuleId, capsuleId), eq(capsuleFiles.name, row.name))!
    const content = await wholeOf(db, { table: 'capsule_files', where, sizeBytes })
    // Without it the capsule is being deleted; a lock that follows finds it gone.
    if (content) files.push({ ...row, content })
  }
  return files
}

/** One stored file, its content still unread; `null` when there is none of this name. */
export async function findFile(
  db: DbOrTx,
  capsuleId: string,
  name: string
): Promise<(CapsuleFileInfo & { stored: StoredContent }) | null> {
  const where = and(eq(capsuleFiles.capsuleId, capsuleId), eq(capsuleFiles.name, name))!
  const { sha256, sizeBytes, mediaType } = capsuleFiles
  const [row] = await db
    .select({ name: capsuleFiles.name, sha256, sizeBytes, mediaType })
    .from(capsuleFiles)
    .where(where)
  return row ? { ...row, stored: { table: 'capsule_files', where, sizeBytes: row.sizeBytes } } : null
}

/** The size of all stored files together, in bytes. */
export async function evidenceSize(db: DbOrTx, capsuleId: string): Promise<number> {
  const [row] = await db
    .select({ bytes: sql<number>`coalesce(sum(${capsuleFiles.sizeBytes}), 0)::int` })
    .from(capsuleFiles)
    .where(eq(capsuleFiles.capsuleId, capsuleId))
  return row!.bytes
}
