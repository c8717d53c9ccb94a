// The verdicts of a verification, the worst last.

export const verdicts = ['exact', 'consistent', 'not_testable', 'drifted', 'different'] as const
export type Verdict = (typeof verdicts)[number]

/** A capsule has the worst verdict of its circuits. */
export const worstOf = (all: readonly Verdict[]): Verdict =>
  all.reduce((worst, one) => (verdicts.indexOf(one) > verdicts.indexOf(worst) ? one : worst), 'exact')
