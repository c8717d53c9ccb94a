// The names under which a job reaches a dispatch target (Temporal, or the direct queue in Redis). Queue entries and
// workflow inputs hold only ids and generations.

/** What the outbox asks of a dispatch target. */
export const dispatchKinds = ['start', 'cancel'] as const
export type DispatchKind = (typeof dispatchKinds)[number]

/** The input of a job's workflow, and the content of an entry in the direct queue. */
export interface JobHandOver {
  jobId: string
  generation: number
}

/** The workflow types: one for a job on a local engine, one for a job at a provider. */
export const RUN_JOB_WORKFLOW = 'runJob'
export const RUN_JOB_AT_PROVIDER_WORKFLOW = 'runJobAtProvider'
/** The task queue of the steps at providers, where no simulation keeps them waiting. */
export const providerQueueOf = (taskQueue: string): string => `${taskQueue}-providers`
/** The task queue of scheduled verifications, which thousands of steps at providers must not delay. */
export const scheduleQueueOf = (taskQueue: string): string => `${taskQueue}-schedules`
export const DIRECT_QUEUE = 'direct-jobs'

/** The type of the failure by which an activity reports that it only waits. It is not counted as a fault, however often it is repeated. */
export const NOT_YET = 'not_yet'

/**
 * How many jobs of a team can run at once, unless TEAM_RUNNING_JOBS_MAX sets another limit. Further jobs are deferred.
 */
export const TEAM_RUNNING_JOBS = 1_000
/** The highest limit of running jobs. */
export const RUNNING_JOBS_MAX = 1_000_000

/** @param text the value of TEAM_RUNNING_JOBS_MAX, if it is set. @throws Error naming the variable. */
export function readTeamRunningMax(text: string | undefined): number {
  const most = text ? Number(text) : TEAM_RUNNING_JOBS
  if (Number.isInteger(most) && most >= 1 && most <= RUNNING_JOBS_MAX) return most
  throw new Error(`TEAM_RUNNING_JOBS_MAX must be a whole number from 1 to ${RUNNING_JOBS_MAX} (got "${text}")`)
}

/** One workflow per job and generation. The first has the plain name that operators search for. */
export const workflowIdOf = (jobId: string, generation: number): string =>
  generation === 1 ? `job-${jobId}` : `job-${jobId}-${generation}`

/** The job and generation of a workflow's id; `null` for the id of another kind of workflow. */
export function jobOfWorkflow(workflowId: string): { id: string; generation: number } | null {
  const [, id, generation = '1'] =
    /^job-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-(\d{1,9}))?$/.exec(workflowId) ?? []
  return id === undefined ? null : { id, generation: Number(generation) }
}

/**
 * One queue entry per delivery. With one id for all, BullMQ would drop a second delivery as a duplicate of a lost
 * first.
 */
export const queueEntryIdOf = (jobId: string, delivery: number): string => `${jobId}-${delivery}`

/** The search attribute of a job's workflow that its workflow changes. */
export const STATUS_ATTRIBUTE = 'JobStatus'

/**
 * Search attributes of a job's workflow. All are of type Keyword, and none holds personal data. The prefix keeps them apart from
 * those of other programs in one namespace.
 */
export const searchAttributesWith = (prefix: string) => ({
  team: `${prefix}TeamId`,
  backend: `${prefix}Backend`,
  mode: `${prefix}JobMode`,
  status: `${prefix}${STATUS_ATTRIBUTE}`
})
export type SearchAttributes = ReturnType<typeof searchAttributesWith>

/** @param text the value of TEMPORAL_ATTRIBUTE_PREFIX, if it is set. @throws Error naming the variable. */
export function readSearchAttributes(text: string | undefined): SearchAttributes {
  const prefix = text ?? ''
  if (!/^([A-Za-z][A-Za-z0-9_]{0,30})?$/.test(prefix))
    throw new Error(
      `TEMPORAL_ATTRIBUTE_PREFIX must begin with a letter and have at most 31 letters, digits or _ (got "${text}")`
    )
  return searchAttributesWith(prefix)
}

/** In bytes of UTF-8. A Temporal server limits a summary to 400. */
const SUMMARY_BYTES_MAX = 300

/**
 * The one-line summary of a workflow in the Temporal UI. A team whose name is an address, as that of a personal team is,
 * appears by its id: Temporal gets no personal data.
 */
export function workflowSummary(label: {
  backend: string
  teamId: string
  team: string | null
  shots: number
}): string {
  const team = label.team === null || label.team.includes('@') ? label.teamId : label.team
  const text = [label.backend, team, `${label.shots} shots`].join(' · ').replaceAll(/[\s\p{Cc}]+/gu, ' ')
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
