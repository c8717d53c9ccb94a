// The report of a chaos run, for a terminal.
import type { ChaosReport } from './chaos.js'
import { invariants } from './job-proof.js'

const SHOWN_MAX = 10

const row = (label: string, value: string | number) => `  ${label.padEnd(56)} ${value}`

/** Kills by part, jobs by mode and final status, and the number of violations of each invariant. */
export function reportText({
  kills,
  deeds,
  load,
  ends,
  capsules,
  moved,
  findings,
  settledSeconds
}: ChaosReport): string {
  const count = (holds: (submission: (typeof load.submissions)[number]) => boolean) =>
    load.submissions.filter(holds).length
  const lost = load.submissions.reduce((total, submission) => total + submission.lost, 0)
  return [
    'killed',
    ...Object.entries(kills).map(([part, times]) => row(part, times)),
    '',
    'deeds',
    ...Object.entries(deeds).map(([deed, times]) => row(deed, times)),
    '',
    'submissions',
    row(
      'accepted',
      count(({ ids }) => ids.length > 0)
    ),
    row(
      'refused because of the budget',
      count(({ refused }) => refused)
    ),
    row('responses lost', lost),
    row(
      'without any response',
      count(({ ids, refused }) => ids.length === 0 && !refused)
    ),
    '',
    'jobs',
    ...ends.map(({ mode, backend, status, error, count: jobs }) => row(`${mode} ${backend} ${status} ${error}`, jobs)),
    row(
      'all final after',
      settledSeconds === null ? 'not within the deadline' : `${settledSeconds.toFixed(0)} s after the recovery`
    ),
    '',
    'capsules',
    ...capsules.map(({ what, count: some }) => row(what, some)),
    row('contents in the store alone', moved),
    '',
    'violations',
    ...invariants.map((invariant) => row(invariant, findings[invariant].length)),
    ...invariants.flatMap((invariant) =>
      findings[invariant].slice(0, SHOWN_MAX).map((finding) => `\n${invariant}: ${finding}`)
    )
  ].join('\n')
}
