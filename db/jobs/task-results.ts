// The return values of a job's tasks for outside readers: size, digest and plain JSON. A stored result can hold pickled
// values, which only the sandbox opens.
import { and, asc, eq, isNotNull, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/pg-core'
import { type GraphBody, taskKey } from '../../domain/jobs/script-requests.js'
import type { DbOrTx } from '../client.js'
import type { StoredContent } from '../stored-content.js'
import { jobTasks, scriptRequests, taskValues } from '../tables/jobs.js'
import type { ArtifactInfo } from './artifacts.js'
import { valueContent } from './task-values.js'

/** A task whose result the job's workflow returns. */
export interface ReturnedResult {
  /** The id in its graph. */
  nodeId: string
  sha256: string
  sizeBytes: number
  /** Its plain JSON if there is one; otherwise `displayProblem` is the reason. */
  display: { sha256: string; sizeBytes: number } | null
  displayProblem: string | null
}

/**
 * The results that the return value of a job's last graph refers to, without repetition, in the order of the
 * references.
 * @throws Error when the job has no such graph, or a task has no result.
 */
export async function returnedResults(db: DbOrTx, jobId: string): Promise<ReturnedResult[]> {
  const [last] = await db
    .select({ number: scriptRequests.number, body: scriptRequests.body })
    .from(scriptRequests)
    .where(
      and(
        eq(scriptRequests.jobId, jobId),
        eq(scriptRequests.task, ''),
        eq(scriptRequests.kind, 'graph'),
        eq(scriptRequests.final, true)
      )
    )
  if (!last) throw new Error(`job ${jobId} has requested no graph whose output is its result`)
  const returns = [...new Set((JSON.parse(last.body) as GraphBody).returns)]
  if (returns.length === 0) return []
  const shown = alias(taskValues, 'shown')
  const rows = await db
    .select({
      key: jobTasks.key,
      sha256: taskValues.sha256,
      sizeBytes: taskValues.sizeBytes,
      displaySha256: shown.sha256,
      displayBytes: shown.sizeBytes,
      displayProblem: jobTasks.displayProblem
    })
    .from(jobTasks)
    .innerJoin(taskValues, and(eq(taskValues.jobId, jobId), eq(taskValues.sha256, jobTasks.resultSha256)))
    .leftJoin(shown, and(eq(shown.jobId, jobId), eq(shown.sha256, jobTasks.displaySha256)))
    .where(and(eq(jobTasks.jobId, jobId), eq(jobTasks.ask, last.number), eq(jobTasks.state, 'completed')))
  const byKey = new Map(rows.map((row) => [row.key, row]))
  return returns.map((nodeId) => {
    const row = byKey.get(taskKey(last.number, nodeId))
    if (!row) throw new Error(`task ${nodeId} of job ${jobId} has no result`)
    const { sha256, sizeBytes, displaySha256, displayBytes, displayProblem } = row
    const display = displaySha256 === null ? null : { sha256: displaySha256, sizeBytes: displayBytes! }
    return { nodeId, sha256, sizeBytes, display, displayProblem }
  })
}

/** The return value of a task, with its plain JSON if there is one. */
export interface ShownResult {
  key: string
  /** Digest of the stored value, which can hold pickled values. */
  sha256: string
  display: { sha256: string; sizeBytes: number } | null
  displayProblem: string | null
}

export async function listShownResults(db: DbOrTx, jobId: string): Promise<ShownResult[]> {
  const rows = await db
    .select({
      key: jobTasks.key,
      sha256: jobTasks.resultSha256,
      displaySha256: taskValues.sha256,
      displayBytes: taskValues.sizeBytes,
      displayProblem: jobTasks.displayProblem
    })
    .from(jobTasks)
    .leftJoin(taskValues, and(eq(taskValues.jobId, jobId), eq(taskValues.sha256, jobTasks.displaySha256)))
    .where(and(eq(jobTasks.jobId, jobId), isNotNull(jobTasks.resultSha256)))
    .orderBy(asc(jobTasks.ask), asc(jobTasks.position))
  return rows.map(({ key, sha256, displaySha256, displayBytes, displayProblem }) => ({
    key,
    sha256: sha256!,
    display: displaySha256 === null ? null : { sha256: displaySha256, sizeBytes: displayBytes! },
    displayProblem
  }))
}

const MEDIA_TYPE = 'application/json'
const nameOf = (key: string): string => `${key}.json`

/** The results of a job's tasks as files, in the order of the script. */
export async function listTaskFiles(db: DbOrTx, jobId: string): Promise<ArtifactInfo[]> {
  const rows = await db
    .select({ key: jobTasks.key, sha256: taskValues.sha256, sizeBytes: taskValues.sizeBytes })
    .from(jobTasks)
    .innerJoin(taskValues, and(eq(taskValues.jobId, jobId), eq(taskValues.sha256, jobTasks.resultSha256)))
    .where(and(eq(jobTasks.jobId, jobId), isNotNull(jobTasks.resultSha256)))
    .orderBy(asc(jobTasks.ask), asc(jobTasks.position))
  return rows.map(({ key, ...file }) => ({ name: nameOf(key), mediaType: MEDIA_TYPE, ...file }))
}

/** One of these files, by its name. */
export async function findTaskFile(
  db: DbOrTx,
  jobId: string,
  name: string
): Promise<(ArtifactInfo & { stored: StoredContent }) | null> {
  const [row] = await db
    .select({ sha256: taskValues.sha256, sizeBytes: taskValues.sizeBytes })
    .from(jobTasks)
    .innerJoin(taskValues, and(eq(taskValues.jobId, jobId), eq(taskValues.sha256, jobTasks.resultSha256)))
    .where(and(eq(jobTasks.jobId, jobId), sql`${jobTasks.key} || '.json' = ${name}`))
  return row ? { name, mediaType: MEDIA_TYPE, ...row, stored: valueContent(jobId, { ...row, small: null }) } : null
}
