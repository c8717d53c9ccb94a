// Creates the runs of capsules, each with all its jobs in one transaction. db/capsule-runs/capsule-run-steps.ts
// advances a run, and db/capsule-runs/capsule-run-records.ts reads it.
//
// Locks are taken in the order team, capsule, run, jobs, the capsule's budget, key's day, day, month, audit trail.
import { eq } from 'drizzle-orm'
import { assertParams, assertUsable, type Backend, isAtProvider } from '../../domain/backends/backend.js'
import {
  assertParameters,
  assertTasks,
  authoredParameters,
  type CapsuleDefinition,
  type CapsuleTask,
  definitionText,
  readDefinition,
  submissionOfTask
} from '../../domain/capsules/capsule-definition.js'
import type { CapsuleRunMode, CapsuleRunTrigger } from '../../domain/capsules/capsule-state.js'
import { knownParameters, orderOf } from '../../domain/capsules/capsule-suite.js'
import { ServiceError, validationError } from '../../domain/errors.js'
import { widthOfSource } from '../../domain/jobs/declared-width.js'
import type { ExecutionMode } from '../../domain/jobs/job-status.js'
import { circuitsOf } from '../../domain/jobs/params/circuits.js'
import { type ProgramKind, programKindOf } from '../../domain/jobs/source.js'
import type { JobSource, Submission } from '../../domain/jobs/submission.js'
import { jsonFields, jsonObject } from '../../domain/json/json-text.js'
import { type BudgetRefusal, budgetError, checkOwnCap } from '../../domain/money/budget.js'
import { type MicroUsd, usdFromMicro } from '../../domain/money/money.js'
import { appendAudit } from '../audit/audit.js'
import { assertFits, findBackend } from '../backends/backends.js'
import { assertCredentials } from '../backends/provider-workers.js'
import { definitionDigest } from '../capsules/capsule-changes.js'
import type { CapsuleRow } from '../capsules/capsules.js'
import type { DbOrTx, Tx } from '../client.js'
import { newId } from '../ids.js'
import { reserveSuite } from '../money/budget.js'
import { widthOfScriptVersion } from '../scripts/scripts.js'
import { estimateOf, insertJob, submissionBytes } from '../submissions/create-job.js'
import { capsuleRuns, capsuleRunTasks, capsules } from '../tables/capsules.js'
import { assertStorageLeft } from '../teams/team-storage.js'

/** Parameters as a caller wrote them: `text` is their JSON, in which `1.0` is a float. */
interface WrittenParams {
  value: Readonly<Record<string, unknown>>
  text: string
}

/** What a run overrides in the capsule's definition. Parameters are merged over those of every task. */
export interface RunOverrides {
  params?: WrittenParams
  backend?: string
  shots?: number
  executionMode?: ExecutionMode
}

export interface NewRun {
  capsuleId: string
  mode: CapsuleRunMode
  trigger: CapsuleRunTrigger
  overrides?: RunOverrides | null
  /** The owner of the jobs. */
  owner: { userId: string | null; keyId: string | null; keyDailyLimit?: MicroUsd | null }
  /** The requester, as the audit trail names them (`actorText`). */
  actor: string
  at: Date
  /** The time that a schedule named. */
  scheduledAt?: Date | null
  /** The run whose verdict this one confirms. */
  confirms?: string | null
  requestId?: string
  traceParent?: string | null
  /** Refuses a backend that the requester may not use. */
  mayUse?: (backend: Backend) => void
  /** Called with a refusal by a budget before it is thrown. */
  refused?: (refusal: BudgetRefusal, backend: string) => void
}

export interface MadeRun {
  runId: string
  /** In starting order. */
  jobIds: string[]
  /** The execution mode of the first one, which waits for no other. */
  mode: ExecutionMode
}

/**
 * Creates a run and all its jobs, reserved together. The caller has locked the team (`lockTeamForWrite`).
 * @throws ServiceError `not_found` for a deleted capsule, `validation_error` for a definition that cannot run,
 * `backend_unknown`, `backend_retired`, `backend_unavailable`, `budget_exceeded`, `spend_limit_exceeded`,
 * `storage_limit_exceeded`, and whatever `mayUse` throws; the transaction must then be rolled back.
 */
export async function createRun(tx: Tx, run: NewRun): Promise<MadeRun> {
  const { mode, trigger, owner, at } = run
  const capsule = await lockForRun(tx, run.capsuleId)
  const own = readDefinition(capsule.definition)
  assertRunnable(capsule, own, run)
  const definition = withOverrides(own, run.overrides ?? {})
  const order = orderOf(definition.tasks)
  const { id: capsuleId, teamId } = capsule
  const planned = await planAll(tx, capsule, mode, definition, order, run.mayUse)
  const text = run.overrides ? definitionText(definition) : capsule.definition
  await assertStorageLeft(
    tx,
    teamId,
    planned.reduce((sum, { submission }) => sum + submissionBytes(submission), Buffer.byteLength(text))
  )
  const startsAt = at
  const key = owner.keyId && owner.keyDailyLimit != null ? { id: owner.keyId, dailyLimit: owner.keyDailyLimit } : null
  const refusal =
    planned.map(({ estimate, submission }) => checkOwnCap(estimate, submission.maxCost)).find(Boolean) ??
    (await reserveSuite(tx, { teamId, startsAt, maxCost: null, key, capsuleId, jobs: planned }))
  if (refusal) {
    run.refused?.(refusal, planned[0]!.backend.slug)
    throw budgetError(refusal)
  }
  const runId = newId()
  const sha256 = run.overrides ? definitionDigest(text) : capsule.definitionSha256
  await tx.insert(capsuleRuns).values({
    id: runId,
    capsuleId,
    teamId,
    mode,
    trigger,
    userId: owner.userId,
    apiKeyId: owner.keyId,
    status: 'pending',
    definition: text,
    definitionSha256: sha256,
    scheduledAt: run.scheduledAt ?? null,
    confirms: run.confirms ?? null
  })
  await tx
    .insert(capsuleRunTasks)
    .values(planned.map(({ id, task }, position) => ({ runId, position, name: task.name, jobId: id })))
  for (const [position, { id, estimate, submission, backend, task }] of planned.entries())
    await insertJob(
      tx,
      { ...submission, id, estimate },
      {
        owner,
        backend,
        ...(run.requestId && { requestId: run.requestId }),
        traceParent: run.traceParent ?? null,
        run: { capsuleId, runId, task: task.name, deferred: position > 0 }
      }
    )
  await appendAudit(tx, {
    teamId,
    capsuleId,
    action: 'capsule.run',
    actor: run.actor,
    previousState: capsule.state,
    newState: capsule.state,
    metadata: {
      run_id: runId,
      mode,
      trigger,
      definition_sha256: sha256,
      estimated_cost_usd: usdFromMicro(planned.reduce((sum, { estimate }) => sum + estimate, 0n)),
      tasks: planned.map(({ id, task, backend }) => ({ name: task.name, job_id: id, backend: backend.slug })),
      ...(run.overrides && { changed: changesOf(run.overrides) }),
      ...(run.scheduledAt && { scheduled_at: run.scheduledAt.toISOString() }),
      ...(run.confirms && { confirms: run.confirms })
    }
  })
  return { runId, jobIds: planned.map(({ id }) => id), mode: planned[0]!.submission.mode }
}

/** A shared lock: others can run the capsule at the same time, but not change or delete it. */
export async function lockForRun(tx: Tx, capsuleId: string): Promise<CapsuleRow> {
  const [capsule] = await tx.select().from(capsules).where(eq(capsules.id, capsuleId)).for('share')
  if (!capsule) throw new ServiceError('not_found', 'no such capsule')
  return capsule
}

/**
 * Refuses what a run of the capsule as it is would be refused for, before its budgets and limits.
 * @throws ServiceError as `createRun` does.
 */
export async function assertCanRun(
  db: DbOrTx,
  capsule: CapsuleRow,
  mode: CapsuleRunMode,
  mayUse: NewRun['mayUse']
): Promise<void> {
  const definition = readDefinition(capsule.definition)
  assertRunnable(capsule, definition, { mode })
  await planAll(db, capsule, mode, definition, orderOf(definition.tasks), mayUse)
}

/** Not the name of the capsule alone, which is often that of the job that it was made from. */
const titles: Record<CapsuleRunMode, string> = { template: 'Run of', verify: 'Verification of' }

/** @returns the jobs of a run, in starting order. */
async function planAll(
  db: DbOrTx,
  capsule: CapsuleRow,
  mode: CapsuleRunMode,
  definition: CapsuleDefinition,
  order: readonly number[],
  mayUse: NewRun['mayUse']
): Promise<PlannedJob[]> {
  const usable = backendsFor(db, capsule.teamId, mayUse)
  const title = `${titles[mode]} ${capsule.name}`
  const planned: PlannedJob[] = []
  for (const place of order) planned.push(await plan(db, usable, { title, teamId: capsule.teamId }, definition, place))
  return planned
}

function assertRunnable(
  capsule: CapsuleRow,
  { tasks }: CapsuleDefinition,
  { mode, overrides }: Pick<NewRun, 'mode' | 'overrides'>
): void {
  if (tasks.length === 0) throw validationError('workflow: this capsule has no tasks, so there is nothing to run')
  if (mode === 'template') return
  if (capsule.sourceJobId === null)
    throw validationError(
      'mode: only a capsule that was made from a job can be verified, since only that has a result to compare with; run it with mode template'
    )
  for (const name of ['params', 'backend'] as const)
    if (overrides?.[name] !== undefined)
      throw validationError(
        `${name}: a verification runs with identical parameters on the same backend; use mode template to change them`
      )
}

/** @throws ServiceError `validation_error` for parameters that no job could have. */
function withOverrides(definition: CapsuleDefinition, overrides: RunOverrides): CapsuleDefinition {
  const { params, backend, shots, executionMode } = overrides
  if (shots !== undefined && params?.value.shots !== undefined && params.value.shots !== shots)
    throw validationError(`shots: ${shots} and params.shots differ; send one of them`)
  const changed = new Map(params ? jsonFields(params.text) : [])
  if (shots !== undefined) changed.set('shots', String(shots))
  const circuits = params?.value.circuit_count
  const tasks = definition.tasks.map((task) => ({
    ...(changed.size > 0 ? withParameters(task, changed) : task),
    ...(typeof circuits === 'number' && { circuit_count: circuits }),
    ...(backend !== undefined && { backend }),
    ...(executionMode !== undefined && { execution_mode: executionMode })
  }))
  try {
    assertTasks(tasks, 'workflow.tasks')
  } catch (error) {
    // With one task, the fault is in the request's own `params`.
    if (tasks.length > 1 || !(error instanceof ServiceError)) throw error
    throw validationError(error.message.replaceAll('workflow.tasks[0].parameters', 'params'))
  }
  return { tasks }
}

/** @param changed JSON texts by name. A number keeps its text where its value would say less. */
function withParameters(
  { parameters, parameters_text: text, ...task }: CapsuleTask,
  changed: Map<string, string>
): CapsuleTask {
  const merged = jsonObject(new Map([...jsonFields(text ?? JSON.stringify(parameters)), ...changed]))
  return { ...task, ...authoredParameters(JSON.parse(merged) as Record<string, unknown>, merged) }
}

interface PlannedJob {
  id: string
  task: CapsuleTask
  submission: Submission & { teamId: string }
  backend: Backend
  estimate: MicroUsd
}

/**
 * Finds a backend that the team can use. Cached, since tasks mostly share one.
 * @throws ServiceError as `createRun` does.
 */
function backendsFor(tx: DbOrTx, teamId: string, mayUse: NewRun['mayUse']) {
  const found = new Map<string, Backend>()
  return async (slug: string, run: { shots: number; program: ProgramKind }): Promise<Backend> => {
    const backend = found.get(slug) ?? (await findBackend(tx, slug))
    assertUsable(backend, slug, run)
    if (!found.has(slug)) {
      mayUse?.(backend)
      await assertCredentials(tx, teamId, backend)
      found.set(slug, backend)
    }
    return backend
  }
}

async function plan(
  db: DbOrTx,
  usable: ReturnType<typeof backendsFor>,
  { title, teamId }: { title: string; teamId: string },
  { tasks }: CapsuleDefinition,
  place: number
): Promise<PlannedJob> {
  const task = tasks[place]!
  const name = (tasks.length === 1 ? title : `${title}: ${task.name}`).slice(0, 200)
  // References in the parameters are replaced by results once the tasks that they name have completed.
  const submission = submissionOfTask(task, { teamId, name })
  const parameters = submission.params.value
  try {
    assertParameters({ ...knownParameters(parameters), shots: parameters.shots }, 'parameters')
    const backend = await usable(task.backend, { shots: parameters.shots, program: programKindOf(task.source) })
    const params = knownParameters(parameters)
    assertParams(backend, params)
    await assertFits(db, backend, await widthOf(db, submission.source), { source: task.source, params })
    // A task that was made from a job counts them already.
    const circuits = circuitsOf(params, isAtProvider(backend))
    const counted = { ...submission, circuitCount: Math.max(submission.circuitCount, circuits) }
    return { id: newId(), task, submission: counted, backend, estimate: estimateOf(counted, backend) }
  } catch (error) {
    if (tasks.length === 1 || !(error instanceof ServiceError)) throw error
    throw new ServiceError(error.code, `task ${JSON.stringify(task.name)}: ${error.message}`, error.fields)
  }
}

/** As far as its text shows it; of a saved script, what was read from the version that the task has. */
const widthOf = async (db: DbOrTx, source: JobSource): Promise<number | null> =>
  widthOfSource(source) ?? (source.kind === 'script' ? widthOfScriptVersion(db, source.scriptId, source.version) : null)

const changesOf = ({ params, backend, shots, executionMode }: RunOverrides) => ({
  ...(params && { params: params.value }),
  ...(backend !== undefined && { backend }),
  ...(shots !== undefined && { shots }),
  ...(executionMode && { execution_mode: executionMode })
})
