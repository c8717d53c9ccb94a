// The colours of statuses, states and verdicts.
import type { CapsuleRunStatus, CapsuleState } from '../../../domain/capsules/capsule-state.js'
import type { AttemptState, JobStatus, TaskState } from '../../../domain/jobs/job-status.js'
import type { Verdict } from '../../../domain/verification/verdict.js'
import type { Colour } from './screen.js'

type Status = JobStatus | TaskState | AttemptState | CapsuleState | CapsuleRunStatus | Verdict

const colours: Record<Status, Colour | null> = {
  pending: null,
  running: 'cyan',
  judging: 'cyan',
  cancelling: 'yellow',
  completed: 'green',
  failed: 'red',
  dispatch_failed: 'red',
  lost: 'red',
  refused: 'red',
  cancelled: 'yellow',
  skipped: 'gray',
  draft: null,
  runnable: null,
  sealed: 'green',
  published: 'green',
  archived: 'gray',
  exact: 'green',
  consistent: 'green',
  not_testable: 'yellow',
  drifted: 'red',
  different: 'red'
}

/** The colour of a word; null for a word that is none of these. */
export const colourOf = (word: string): Colour | null => (Object.hasOwn(colours, word) ? colours[word as Status] : null)
