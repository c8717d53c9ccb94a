// The states of a capsule and of its runs, and which may follow which. The database refuses anything else.

export const capsuleStates = ['draft', 'runnable', 'sealed', 'published', 'archived'] as const
export type CapsuleState = (typeof capsuleStates)[number]

/** Who may do what in which state is decided in one place (domain/capsules/capsule-actions.ts); this is the order of states alone. */
export const capsuleTransitions: Readonly<Record<CapsuleState, readonly CapsuleState[]>> = {
  draft: ['sealed'],
  runnable: ['sealed'],
  sealed: ['published', 'archived'],
  published: [],
  archived: []
}

export const capsuleRunModes = ['verify', 'template'] as const
export type CapsuleRunMode = (typeof capsuleRunModes)[number]
/** Why a run was made: asked for, due by the schedule, back-filled by request, or to confirm a surprising verdict. */
export const capsuleRunTriggers = ['request', 'schedule', 'backfill', 'confirmation'] as const
export type CapsuleRunTrigger = (typeof capsuleRunTriggers)[number]

/** `refused`: never made (suspended team, budget, a backend that is gone); the reason is recorded. */
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
