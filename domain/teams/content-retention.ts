// How long the contents of a team's jobs are kept after the end of each job. The records of the jobs stay.

import { ServiceError } from '../errors.js'

/** With the words of a refusal. */
export const contentKinds = {
  results: 'the result and the files',
  task_values: 'the functions, arguments and return values of the tasks',
  output: 'the output'
} as const
export type ContentKind = keyof typeof contentKinds
export const contentKindNames = Object.keys(contentKinds) as ContentKind[]

/** Days by kind; `null`: for ever. */
export type KeptDays = Readonly<Record<ContentKind, number | null>>

export const KEPT_DAYS_MAX = 36_500
/** A team's own number holds from so many hours after its last change, so that a mistake can be undone. */
export const CHANGE_HOURS = 24

/** How long the operator keeps contents at most. @throws Error naming the variable that is malformed. */
export function readKeptDays(env: Readonly<Record<string, string | undefined>>): KeptDays {
  const days = (name: string, text: string | undefined): number | null => {
    if (!text) return null
    const value = Number(text)
    if (!/^\d{1,5}$/.test(text) || value < 1 || value > KEPT_DAYS_MAX)
      throw new Error(`${name} must be a whole number of days from 1 to ${KEPT_DAYS_MAX} (got ${text})`)
    return value
  }
  return {
    results: days('KEEP_RESULTS_DAYS', env.KEEP_RESULTS_DAYS),
    task_values: days('KEEP_TASK_VALUES_DAYS', env.KEEP_TASK_VALUES_DAYS),
    output: days('KEEP_OUTPUT_DAYS', env.KEEP_OUTPUT_DAYS)
  }
}

/** The shorter of the two times. */
export const daysInForce = (team: number | null, platform: number | null): number | null =>
  team === null ? platform : platform === null ? team : Math.min(team, platform)

/** When each kind of content of a job was removed; empty while the job has all that it stored. */
export type RemovedAt = Partial<Record<ContentKind, Date>>

/** @throws ServiceError `contents_removed` when something of these kinds was removed. */
export function assertKept(removed: RemovedAt, kinds: readonly ContentKind[]): void {
  const kind = kinds.find((name) => removed[name])
  if (!kind) return
  const day = removed[kind]!.toISOString().slice(0, 10)
  throw new ServiceError(
    'contents_removed',
    `Removed on ${day}: ${contentKinds[kind]} of this job. Teams keep them for a limited time, which the settings of the team have (qjob retention)`
  )
}

/** What a capsule needs of a job. */
export const evidenceKinds: readonly ContentKind[] = ['results', 'task_values']
