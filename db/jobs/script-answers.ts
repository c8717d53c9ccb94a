// The texts of a job's requests and the results of its tasks, as its executions take them. Their sizes are summed in the
// database, so that a worker knows how much it will load before it loads anything.
import { and, eq, sql } from 'drizzle-orm'
import { type GraphBody, taskKey } from '../../domain/jobs/script-requests.js'
import { anyTextOf, type DbOrTx, listText } from '../client.js'
import { type Places, query } from '../statement.js'
import { jobTasks, scriptRequests, taskValues } from '../tables/jobs.js'
import { valueColumns, valueText } from './task-values.js'

/** The most that one query for bodies loads, unless a single body has more. */
const BATCH_BYTES = 16 * 1024 * 1024

interface Tasks {
  jobId: string
  /** As one text. */
  keys: string
}

const resultsOf = ({ jobId, keys }: Places<Tasks>) =>
  and(eq(jobTasks.jobId, jobId), anyTextOf(jobTasks.key, keys), eq(jobTasks.state, 'completed'))

const withResult = and(eq(taskValues.jobId, jobTasks.jobId), eq(taskValues.sha256, jobTasks.resultSha256))

/** Bytes of these tasks' results together. A result that several tasks have counts for each, as it is sent for each. */
export async function resultBytes(db: DbOrTx, jobId: string, keys: readonly string[]): Promise<number> {
  if (keys.length === 0) return 0
  const [row] = await bytesOfResults(db, { jobId, keys: listText(keys) })
  return row!.bytes
}

const bytesOfResults = query((tasks: Places<Tasks>, on) =>
  on
    .select({ bytes: sql<number>`coalesce(sum(${taskValues.sizeBytes}), 0)::float8` })
    .from(jobTasks)
    .innerJoin(taskValues, withResult)
    .where(resultsOf(tasks))
)

/** The same for the tasks of several graphs, by the number of the graph. A graph without any is missing. */
export async function resultBytesByGraph(
  db: DbOrTx,
  jobId: string,
  keys: readonly string[]
): Promise<Map<number, number>> {
  if (keys.length === 0) return new Map()
  const rows = await bytesByGraph(db, { jobId, keys: listText(keys) })
  return new Map(rows.map(({ number, bytes }) => [number, bytes]))
}

const bytesByGraph = query((tasks: Places<Tasks>, on) =>
  on
    .select({ number: jobTasks.ask, bytes: sql<number>`sum(${taskValues.sizeBytes})::float8` })
    .from(jobTasks)
    .innerJoin(taskValues, withResult)
    .where(resultsOf(tasks))
    .groupBy(jobTasks.ask)
)

/** The stored results of tasks by key, as the exact JSON text that arrived. The caller has compared their size. */
export async function taskResults(db: DbOrTx, jobId: string, keys: readonly string[]): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map()
  const rows = await resultRows(db, { jobId, keys: listText(keys) })
  const results = new Map<string, string>()
  for (const { key, ...value } of rows) results.set(key, await valueText(db, jobId, value))
  return results
}

const resultRows = query((tasks: Places<Tasks>, on) =>
  on
    .select({ key: jobTasks.key, ...valueColumns })
    .from(jobTasks)
    .innerJoin(taskValues, withResult)
    .where(resultsOf(tasks))
)

const requestsOf = (jobId: string, task: string) => and(eq(scriptRequests.jobId, jobId), eq(scriptRequests.task, task))

/** Bytes of all stored answers to the circuits that a script or task has requested. */
export async function circuitAnswerBytes(db: DbOrTx, jobId: string, task: string): Promise<number> {
  const [row] = await db
    .select({ bytes: sql<number>`coalesce(sum(octet_length(${scriptRequests.answer})), 0)::float8` })
    .from(scriptRequests)
    .where(requestsOf(jobId, task))
  return row!.bytes
}

/** The stored answer to a circuit: JSON text of its counts, or of the reason why there are none. */
export async function circuitAnswer(db: DbOrTx, jobId: string, task: string, number: number): Promise<string> {
  const [row] = await db
    .select({ answer: scriptRequests.answer })
    .from(scriptRequests)
    .where(and(requestsOf(jobId, task), eq(scriptRequests.number, number)))
  if (!row?.answer) throw new Error(`request ${number} of job ${jobId} (${task || 'its script'}) has no answer`)
  return row.answer
}

/** What the script's graph of this number returns. */
export async function graphBody(db: DbOrTx, jobId: string, number: number): Promise<GraphBody> {
  const [row] = await db
    .select({ body: scriptRequests.body })
    .from(scriptRequests)
    .where(and(requestsOf(jobId, ''), eq(scriptRequests.number, number)))
  return JSON.parse(row!.body) as GraphBody
}

/** For each graph of a script, by its number: the keys of the tasks whose results its workflow returns. */
export async function returnedKeys(db: DbOrTx, jobId: string): Promise<Map<number, string[]>> {
  const graphs = await db
    .select({ number: scriptRequests.number, bytes: sql<number>`octet_length(${scriptRequests.body})` })
    .from(scriptRequests)
    .where(and(requestsOf(jobId, ''), eq(scriptRequests.kind, 'graph')))
    .orderBy(scriptRequests.number)
  const keys = new Map<number, string[]>()
  for (const numbers of batchesOf(graphs)) {
    const rows = await db
      .select({ number: scriptRequests.number, body: scriptRequests.body })
      .from(scriptRequests)
      .where(
        and(
          requestsOf(jobId, ''),
          sql`${scriptRequests.number} = any(string_to_array(${numbers.join(',')}, ',')::int[])`
        )
      )
      .orderBy(scriptRequests.number)
    for (const { number, body } of rows)
      keys.set(
        number,
        (JSON.parse(body) as GraphBody).returns.map((id) => taskKey(number, id))
      )
  }
  return keys
}

function batchesOf(graphs: { number: number; bytes: number }[]): number[][] {
  const batches: number[][] = []
  let left = 0
  for (const { number, bytes } of graphs) {
    if (batches.length === 0 || bytes > left) {
      batches.push([])
      left = BATCH_BYTES
    }
    batches.at(-1)!.push(number)
    left -= bytes
  }
  return batches
}
