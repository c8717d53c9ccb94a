// The functions, arguments and results of a job's tasks, each content once.
import { and, eq } from 'drizzle-orm'
import { anyTextOf, type DbOrTx, listText } from '../client.js'
import { type Places, query } from '../statement.js'
import { type StoredContent, smallContent, wholeOf } from '../stored-content.js'
import { taskValues } from '../tables/jobs.js'

export const valueColumns = {
  sha256: taskValues.sha256,
  sizeBytes: taskValues.sizeBytes,
  small: smallContent(taskValues.content, taskValues.sizeBytes)
}

export interface ValueRow {
  sha256: string
  sizeBytes: number
  /** Null for a large value. */
  small: Buffer | null
}

export const valueContent = (jobId: string, { sha256, sizeBytes, small }: ValueRow): StoredContent => ({
  table: 'task_values',
  where: and(eq(taskValues.jobId, jobId), eq(taskValues.sha256, sha256))!,
  sizeBytes,
  small
})

/** The exact text that arrived. @throws Error when the value has been removed since its row was read. */
export async function valueText(db: DbOrTx, jobId: string, row: ValueRow): Promise<string> {
  const content = await wholeOf(db, valueContent(jobId, row))
  if (!content) throw new Error(`value ${row.sha256} of job ${jobId} was removed while it was read`)
  return content.toString('utf8')
}

/** Values by digest. One that is not stored is missing. */
export async function valueTexts(db: DbOrTx, jobId: string, digests: readonly string[]): Promise<Map<string, string>> {
  if (digests.length === 0) return new Map()
  const rows = await valueRows(db, { jobId, digests: listText(digests) })
  const texts = new Map<string, string>()
  for (const row of rows) texts.set(row.sha256, await valueText(db, jobId, row))
  return texts
}

const valueRows = query(({ jobId, digests }: Places<{ jobId: string; digests: string }>, on) =>
  on
    .select(valueColumns)
    .from(taskValues)
    .where(and(eq(taskValues.jobId, jobId), anyTextOf(taskValues.sha256, digests)))
)

/** Which of these values the job has stored already. */
export async function storedDigests(db: DbOrTx, jobId: string, digests: readonly string[]): Promise<Set<string>> {
  const rows = await db
    .select({ sha256: taskValues.sha256 })
    .from(taskValues)
    .where(and(eq(taskValues.jobId, jobId), anyTextOf(taskValues.sha256, digests)))
  return new Set(rows.map(({ sha256 }) => sha256))
}
