// Compares a run in this browser with a job, by the rules by which the service compares two jobs, which never sees the run.
import { compareResults } from '../../../../../domain/verification/compare-results.js'
import { browserAndJob } from '../../../../../domain/verification/relation.js'
import { BROWSER_SAMPLED, type RunFacts } from '../../../../../domain/verification/run-counts.js'
import type { components } from '../../../api/schema.js'
import { BROWSER } from '../compare-search.js'

type JobComparison = components['schemas']['JobComparison']

export interface BrowserSide {
  /** For the legend: the simulator, and what it ran with. */
  where: string
  /** JSON text: counts and metadata in the shape of a job's result. */
  result: string
}

export interface JobSide {
  id: string
  /** Slug. */
  backend: string
  /** JSON text. */
  result: string
  facts: RunFacts
}

/**
 * In the shape of `POST /api/jobs/compare`. @param margin `null` for the default.
 * @throws Error when the result of the job is not a JSON object.
 */
export function browserComparison(run: BrowserSide, job: JobSide, margin: number | null): JobComparison {
  const facts: RunFacts = { hardware: false, local: true, completedAt: null }
  const { report, statement, a, b, circuits, circuits_left_out } = compareResults(
    { id: BROWSER, backend: 'this browser', point: null, result: { text: ofBrowser(run.result), facts } },
    { id: job.id, backend: job.backend, point: null, result: { text: job.result, facts: job.facts } },
    { margin, seedText: `${run.result}\n${job.id}`, relation: browserAndJob }
  )
  const { hardware, completedAt } = job.facts
  return {
    ...report,
    needed_shots: report.needed_shots ?? null,
    statement,
    a: { job_id: BROWSER, point: null, backend: 'this browser', hardware: false, completed_at: null, ...a },
    b: { job_id: job.id, point: null, backend: job.backend, hardware, completed_at: completedAt, ...b },
    circuits: circuits.map(({ hardware: machine, ...circuit }) => ({
      ...circuit,
      hardware: machine && {
        a_calibration_id: machine.sealed_calibration_id,
        b_calibration_id: machine.rerun_calibration_id,
        elapsed_seconds: machine.elapsed_seconds
      }
    })),
    circuits_left_out
  }
}

/** The result of the browser has the words of the service, which vouches for its own counts alone. */
function ofBrowser(result: string): string {
  const { metadata, ...others } = JSON.parse(result) as { metadata: object }
  return JSON.stringify({ ...others, metadata: { ...metadata, count_source: BROWSER_SAMPLED } })
}
