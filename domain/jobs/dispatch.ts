// The names under which a job is handed to an engine. Queue entries and workflow inputs carry ids and generations alone.

/** What the outbox asks of a dispatch target. */
export const dispatchKinds = ['start', 'cancel'] as const
export type DispatchKind = (typeof dispatchKinds)[number]

/** Input of a job's workflow and of an entry in the direct queue. */
export interface JobHandOver {
  jobId: string
  generation: number
}

/** Workflow types: a job on an engine of our own, and one at a provider. */
export const RUN_JOB_WORKFLOW = 'runJob'
export const RUN_JOB_AT_PROVIDER_WORKFLOW = 'runJobAtProvider'
export const DIRECT_QUEUE = 'direct-jobs'

/** Jobs that a team may have under way at once, unless TEAM_RUNNING_JOBS_MAX says otherwise; more of them wait. */
export const TEAM_RUNNING_JOBS = 1_000

/** @param text the setting, if there is one. @throws Error naming it. */
export function readTeamRunningMax(text: string | undefined): number {
  const most = text ? Number(text) : TEAM_RUNNING_JOBS
  if (Number.isInteger(most) && most >= 1 && most <= 1_000_000) return most
  throw new Error(`TEAM_RUNNING_JOBS_MAX must be a whole number from 1 to 1000000 (it is "${text}")`)
}

/** One workflow per job and generation; the first carries the plain name that people look for. */
export const workflowIdOf = (jobId: string, generation: number): string =>
  generation === 1 ? `job-${jobId}` : `job-${jobId}-${generation}`

/** One queue entry per delivery: a second one must not be swallowed as a duplicate of a lost first. */
export const queueEntryIdOf = (jobId: string, delivery: number): string => `${jobId}-${delivery}`

/** Search attributes of a job's workflow: few, of type Keyword, nothing personal. */
export const searchAttributes = {
  team: 'TeamId',
  backend: 'Backend',
  mode: 'JobMode',
  status: 'JobStatus'
} as const

/** UTF-8. A server may take no more than 400. */
const SUMMARY_BYTES_MAX = 300

/** What operators read of a workflow in Temporal: one line. */
export function workflowSummary(backend: string, jobName: string | null): string {
  const text = [backend, jobName]
    .filter(Boolean)
    .join(': ')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
  let bytes = 0
  let summary = ''
  for (const character of text) {
    bytes += utf8Length(character.codePointAt(0)!)
    if (bytes > SUMMARY_BYTES_MAX) return `${summary}…`
    summary += character
  }
  return summary
}

const utf8Length = (codePoint: number): number =>
  codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4
