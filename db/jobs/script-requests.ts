// What scripts and tasks request from the service while they run, and the answers. A request is recorded before
// anything is done about it, so that a script that runs again gets the answer from here.
import { and, asc, eq, getTableColumns, sql } from 'drizzle-orm'
import type { PgInsertValue } from 'drizzle-orm/pg-core'
import type { JobError } from '../../domain/errors.js'
import type { RequestedCircuit, RequestedGraph } from '../../domain/jobs/script-requests.js'
import { taskKey } from '../../domain/jobs/script-requests.js'
import { JOB_VALUES_BYTES_MAX } from '../../domain/jobs/value-limits.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { now } from '../clock.js'
import { allowTimeFor, sendContent } from '../stored-content.js'
import { jobs, jobTasks, scriptRequests, taskValues } from '../tables/jobs.js'
import { sha256Of } from './artifacts.js'
import { type Fence, fenceHolds } from './fence.js'

/** A request without its texts: they can have many MiB, and script-answers.ts reads them where they are needed. */
export type ScriptRequest = Omit<typeof scriptRequests.$inferSelect, 'body' | 'answer'>

const { body: _body, answer: _answer, ...withoutTexts } = getTableColumns(scriptRequests)

/** Rows per INSERT: Postgres accepts 65,535 parameters. */
const CHUNK = 500

/** All requests of a task (`''` for the script), in order. */
export async function listScriptRequests(db: DbOrTx, jobId: string, task: string): Promise<ScriptRequest[]> {
  return db
    .select(withoutTexts)
    .from(scriptRequests)
    .where(and(eq(scriptRequests.jobId, jobId), eq(scriptRequests.task, task)))
    .orderBy(asc(scriptRequests.number))
}

export async function loadScriptRequest(
  db: DbOrTx,
  jobId: string,
  task: string,
  number: number
): Promise<ScriptRequest | null> {
  const [row] = await db
    .select(withoutTexts)
    .from(scriptRequests)
    .where(requestAt(jobId, task, number))
  return row ?? null
}

/** Who makes a request, as which of its requests, and where its run waits for the answer. */
export interface ScriptRequester {
  task: string
  number: number
  series: number
  parkedAs: string | null
  /** The id of the executor where it waits. */
  executor?: string | null
}

/**
 * What became of a value or request. `lost`: this worker has lost the job, or another one was first. `full`: the job
 * has as many stored values as it may.
 */
export type Stored = 'stored' | 'lost' | 'full'

/** Records the request of a run, and for a graph its tasks. `lost` also when a request has this number already. */
export async function recordScriptRequest(
  db: Db,
  jobId: string,
  fence: Fence,
  by: ScriptRequester,
  asked: RequestedGraph | RequestedCircuit
): Promise<Stored> {
  const body = bodyOf(asked)
  const { tasks, values } = asked.kind === 'graph' ? rowsOf(jobId, by.number, asked) : { tasks: [], values: [] }
  const bytes = values.reduce((sum, { sizeBytes }) => sum + sizeBytes, Buffer.byteLength(body))
  return db.transaction(async (tx) => {
    await allowTimeFor(tx, bytes)
    const [mine] = await tx
      .select({ stored: jobs.valuesBytes })
      .from(jobs)
      .where(and(eq(jobs.id, jobId), eq(jobs.status, 'running'), fenceHolds(fence)))
      .for('no key update')
    if (!mine) return 'lost'
    const { kind, digest, final } = asked
    const written = await tx
      .insert(scriptRequests)
      .values({ jobId, ...by, kind, digest, final, body, state: 'open' })
      .onConflictDoNothing()
      .returning({ number: scriptRequests.number })
    if (written.length === 0) return 'lost'
    if (mine.stored + bytes > JOB_VALUES_BYTES_MAX) {
      await tx.delete(scriptRequests).where(requestAt(jobId, by.task, by.number))
      return 'full'
    }
    await storeTasks(tx, tasks, values)
    await tx
      .update(jobs)
      .set({ valuesBytes: sql`${jobs.valuesBytes} + ${bytes}` })
      .where(eq(jobs.id, jobId))
    return 'stored'
  })
}

function bodyOf(asked: RequestedGraph | RequestedCircuit): string {
  // `shots` is last: the steps at a provider read it without the rest (db/provider-jobs/provider-runs.ts).
  if (asked.kind === 'circuit')
    return JSON.stringify({
      openqasm3: asked.openqasm3,
      facts: asked.facts,
      registers: asked.registers,
      shots: asked.shots
    })
  const { name, output, returns, dot } = asked.graph
  return JSON.stringify({ name, output, returns, dot })
}

function rowsOf(jobId: string, ask: number, { graph }: RequestedGraph) {
  const values = new Map<string, Buffer>()
  const stored = (content: Buffer): string => {
    const sha256 = sha256Of(content)
    values.set(sha256, content)
    return sha256
  }
  const levels = new Map(graph.levels.flatMap((ids, level) => ids.map((id) => [id, level] as const)))
  const tasks = graph.nodes.map((node, position) => ({
    jobId,
    key: taskKey(ask, node.node_id),
    ask,
    position,
    name: node.name,
    funcName: node.func_name,
    dependsOn: [...new Set(node.dependencies)].map((id) => taskKey(ask, id)),
    level: levels.get(node.node_id) ?? 0,
    retries: node.retries,
    timeoutSeconds: node.timeout_seconds,
    state: 'pending' as const,
    functionSha256: stored(Buffer.from(node.function, 'utf8')),
    argumentsSha256: stored(Buffer.from(node.arguments, 'utf8'))
  }))
  return {
    tasks,
    values: [...values].map(([sha256, content]) => ({ jobId, sha256, sizeBytes: content.length, content }))
  }
}

type GraphRows = ReturnType<typeof rowsOf>

async function storeTasks(tx: Tx, tasks: GraphRows['tasks'], values: GraphRows['values']): Promise<void> {
  for (let at = 0; at < values.length; at += CHUNK) {
    const rows: PgInsertValue<typeof taskValues>[] = []
    for (const value of values.slice(at, at + CHUNK))
      rows.push({ ...value, content: await sendContent(tx, value.content) })
    await tx.insert(taskValues).values(rows).onConflictDoNothing()
  }
  for (let at = 0; at < tasks.length; at += CHUNK) await tx.insert(jobTasks).values(tasks.slice(at, at + CHUNK))
}

const requestAt = (jobId: string, task: string, number: number) =>
  and(eq(scriptRequests.jobId, jobId), eq(scriptRequests.task, task), eq(scriptRequests.number, number))

/** Records the answer to a request. @returns whether the request was open, and the job is this worker's. */
export async function answerScriptRequest(
  db: DbOrTx,
  jobId: string,
  task: string,
  number: number,
  fence: Fence,
  answer: string | null
): Promise<boolean> {
  const answered = await db
    .update(scriptRequests)
    .set({ state: 'answered', answer, answeredAt: now })
    .where(
      and(
        requestAt(jobId, task, number),
        eq(scriptRequests.state, 'open'),
        sql`exists (select 1 from ${jobs} where ${jobs.id} = ${jobId} and ${jobs.generation} = ${fence.generation})`
      )
    )
    .returning({ number: scriptRequests.number })
  return answered.length > 0
}

export interface OpenTasks {
  /** Tasks that have not completed, in the order of the script. */
  tasks: string[]
  /** For each task, the positions in `tasks` of the tasks that it waits for. */
  waitsFor: number[][]
  /** A task that failed for good, with its reason. */
  failed: JobError | null
}

/** The unfinished tasks of a graph. */
export async function openTasks(db: DbOrTx, jobId: string, ask: number): Promise<OpenTasks> {
  const rows = await db
    .select({
      key: jobTasks.key,
      dependsOn: jobTasks.dependsOn,
      state: jobTasks.state,
      errorCode: jobTasks.errorCode,
      errorMessage: jobTasks.errorMessage
    })
    .from(jobTasks)
    .where(and(eq(jobTasks.jobId, jobId), eq(jobTasks.ask, ask)))
    .orderBy(asc(jobTasks.position))
  const left = rows.filter(({ state }) => state !== 'completed')
  const places = new Map(left.map(({ key }, place) => [key, place]))
  const failed = left.find(({ state }) => state === 'failed')
  return {
    tasks: left.map(({ key }) => key),
    waitsFor: left.map(({ dependsOn }) => dependsOn.flatMap((key) => places.get(key) ?? [])),
    failed: failed ? { code: failed.errorCode as JobError['code'], message: failed.errorMessage! } : null
  }
}
