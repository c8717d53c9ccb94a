// The states of a capsule and of its runs, and which can follow which. A database trigger refuses every other change.

export const capsuleStates = ['draft', 'runnable', 'sealed', 'published', 'archived'] as const
export type CapsuleState = (typeof capsuleStates)[number]

/** Only the order of states. domain/capsules/capsule-actions.ts decides who can do what in which state. */
export const capsuleTransitions: Readonly<Record<CapsuleState, readonly CapsuleState[]>> = {
  draft: ['sealed'],
  runnable: ['sealed'],
  sealed: ['published', 'archived'],
  published: [],
  archived: []
}

export const capsuleRunModes = ['verify', 'template'] as const
export type CapsuleRunMode = (typeof capsuleRunModes)[number]
/**
 * Why a run was created: by request, by the schedule, as a backfill by request, or to confirm an unexpected verdict.
 */
export const capsuleRunTriggers = ['request', 'schedule', 'backfill', 'confirmation'] as const
export type CapsuleRunTrigger = (typeof capsuleRunTriggers)[number]

/** `refused`: the run was never created (suspended team, budget, or missing backend), and the reason is recorded. */
export const capsuleRunStatuses = [
  'pending',
  'running',
  'judging',
  'completed',
  'failed',
  'cancelled',
  'refused'
] as const
export type CapsuleRunStatus = (typeof capsuleRunStatuses)[number]

export const runTransitions: Readonly<Record<CapsuleRunStatus, readonly CapsuleRunStatus[]>> = {
  pending: ['running', 'failed', 'cancelled'],
  running: ['judging', 'completed', 'failed', 'cancelled'],
  judging: ['completed', 'failed'],
  completed: [],
  failed: [],
  cancelled: [],
  refused: []
}
