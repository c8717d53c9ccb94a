// What scripts and tasks request from the service while they run, and the answers. A request is recorded before
// anything is done about it, so that a script that runs again gets the answer from here.
import { and, asc, eq, inArray, sql } from 'drizzle-orm'
import type { JobError } from '../../domain/errors.js'
import type { RequestedCircuit, RequestedGraph } from '../../domain/jobs/script-requests.js'
import { taskKey } from '../../domain/jobs/script-requests.js'
import type { Db, DbOrTx, Tx } from '../client.js'
import { now } from '../clock.js'
import { jobs, jobTasks, scriptRequests, taskValues } from '../tables/jobs.js'
import { sha256Of } from './artifacts.js'
import { type Fence, fenceHolds } from './fence.js'

export type ScriptRequest = typeof scriptRequests.$inferSelect

/** Rows per INSERT: Postgres accepts 65,535 parameters. */
const CHUNK = 500

/** All requests of a task (`''` for the script), in order. */
export async function listScriptRequests(db: DbOrTx, jobId: string, task: string): Promise<ScriptRequest[]> {
  return db
    .select()
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
    .select()
    .from(scriptRequests)
    .where(and(eq(scriptRequests.jobId, jobId), eq(scriptRequests.task, task), eq(scriptRequests.number, number)))
  return row ?? null
}

/** Who makes a request, as which of its requests, and where its run waits for the answer. */
export interface ScriptRequester {
  task: string
  number: number
  series: number
  parkedAs: string | null
}

/**
 * Records the request of a run, and for a graph its tasks.
 * @returns `false` when this worker has lost the job, or another one has recorded a request with this number.
 */
export async function recordScriptRequest(
  db: Db,
  jobId: string,
  fence: Fence,
  by: ScriptRequester,
  asked: RequestedGraph | RequestedCircuit
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [mine] = await tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(eq(jobs.id, jobId), eq(jobs.status, 'running'), fenceHolds(fence)))
      .for('no key update')
    if (!mine) return false
    const written = await tx
      .insert(scriptRequests)
      .values({
        jobId,
        ...by,
        kind: asked.kind,
        digest: asked.digest,
        final: asked.final,
        body: bodyOf(asked),
        state: 'open'
      })
      .onConflictDoNothing()
      .returning({ number: scriptRequests.number })
    if (written.length === 0) return false
    if (asked.kind === 'graph') await storeTasks(tx, jobId, by.number, asked)
    return true
  })
}

function bodyOf(asked: RequestedGraph | RequestedCircuit): string {
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

async function storeTasks(tx: Tx, jobId: string, ask: number, { graph }: RequestedGraph): Promise<void> {
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
  const contents = [...values].map(([sha256, content]) => ({ jobId, sha256, sizeBytes: content.length, content }))
  for (let at = 0; at < contents.length; at += CHUNK)
    await tx
      .insert(taskValues)
      .values(contents.slice(at, at + CHUNK))
      .onConflictDoNothing()
  for (let at = 0; at < tasks.length; at += CHUNK) await tx.insert(jobTasks).values(tasks.slice(at, at + CHUNK))
}

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
        eq(scriptRequests.jobId, jobId),
        eq(scriptRequests.task, task),
        eq(scriptRequests.number, number),
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

/** The stored results of tasks by key, as the exact JSON text that arrived. */
export async function taskResults(db: DbOrTx, jobId: string, keys: string[]): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map()
  const rows = await db
    .select({ key: jobTasks.key, content: taskValues.content })
    .from(jobTasks)
    .innerJoin(taskValues, and(eq(taskValues.jobId, jobTasks.jobId), eq(taskValues.sha256, jobTasks.resultSha256)))
    .where(and(eq(jobTasks.jobId, jobId), inArray(jobTasks.key, keys), eq(jobTasks.state, 'completed')))
  return new Map(rows.map(({ key, content }) => [key, content.toString('utf8')]))
}
