// The report of a chaos run, for a terminal.
import type { ChaosReport } from './chaos.js'
import { promises } from './job-proof.js'

const SHOWN_MAX = 10

const row = (label: string, value: string | number) => `  ${label.padEnd(56)} ${value}`

/** Kills by part, jobs by mode and end, and each promise with how often it was broken. */
export function reportText({ kills, load, ends, capsules, findings, settledSeconds }: ChaosReport): string {
  const count = (holds: (submission: (typeof load.submissions)[number]) => boolean) =>
    load.submissions.filter(holds).length
  const lost = load.submissions.reduce((total, submission) => total + submission.lost, 0)
  return [
    'killed',
    ...Object.entries(kills).map(([part, times]) => row(part, times)),
    '',
    'submissions',
    row(
      'answered with a job',
      count(({ ids }) => ids.length > 0)
    ),
    row(
      'refused for the budget',
      count(({ refused }) => refused)
    ),
    row('answers lost', lost),
    row(
      'never answered',
      count(({ ids, refused }) => ids.length === 0 && !refused)
    ),
    '',
    'jobs',
    ...ends.map(({ mode, backend, status, error, count: jobs }) => row(`${mode} ${backend} ${status} ${error}`, jobs)),
    row(
      'all final after',
      settledSeconds === null ? 'not within the deadline' : `${settledSeconds.toFixed(0)} s of calm`
    ),
    '',
    'capsules',
    ...capsules.map(({ what, count: some }) => row(what, some)),
    '',
    'promises broken',
    ...promises.map((promise) => row(promise, findings[promise].length)),
    ...promises.flatMap((promise) => findings[promise].slice(0, SHOWN_MAX).map((finding) => `\n${promise}: ${finding}`))
  ].join('\n')
}
