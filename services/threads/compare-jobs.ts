// Compares the results of two jobs: the work of a comparing thread.
import { createHash } from 'node:crypto'
import { pointOf } from '../../domain/jobs/sweep.js'
import { type ComparedJob, type Comparison, compareResults } from '../../domain/verification/compare-results.js'
import type { RunFacts } from '../../domain/verification/run-counts.js'

/** A result as the bytes that are stored: a text of 15 MiB would be copied on the event loop. */
export interface StoredResult {
  content: Uint8Array
  facts: RunFacts
}

export interface CompareInput {
  a: ComparedJob<StoredResult>
  b: ComparedJob<StoredResult>
  /** Total variation distance that is tolerated; `null`: the default. */
  margin: number | null
}

/** The same input gives the same comparison, to the last digit. @throws Error when a result is not a JSON object. */
export function compareJobs({ a, b, margin }: CompareInput): Comparison {
  const seedText = createHash('sha256').update(sha256(a.result.content)).update(sha256(b.result.content)).digest('hex')
  return compareResults(withText(a), withText(b), { margin, seedText })
}

function withText({ result: { content, facts }, ...job }: ComparedJob<StoredResult>): ComparedJob {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('utf8')
  return { ...job, result: { text: job.point === null ? text : pointOf(text, job.point), facts } }
}

const sha256 = (content: Uint8Array): Buffer => createHash('sha256').update(content).digest()
