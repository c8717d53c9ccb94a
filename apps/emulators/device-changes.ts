// What the changes of a device do to a job that waits for it: one rule for the words of every provider.

export interface DeviceChange<Status> {
  /** Milliseconds since 1970, emulated. */
  at: number
  status: Status
}

/** What a status means for a job: it can start, waits, or never starts. */
export type DeviceState = 'working' | 'away' | 'retired'

/** The first time from `due` at which the device works, and when it was retired before that. Infinity: never. */
export function startOf<Status>(
  { due, submittedAt }: { due: number; submittedAt: number },
  changes: readonly DeviceChange<Status>[],
  stateOf: (status: Status) => DeviceState
): { startsAt: number; retiredAt: number } {
  let startsAt = due
  for (const [index, { at, status }] of changes.entries()) {
    // At its turn, the job has started.
    if (at > startsAt) break
    const until = changes[index + 1]?.at ?? Number.POSITIVE_INFINITY
    const state = stateOf(status)
    if (state === 'retired' && until > submittedAt)
      return { startsAt: Number.POSITIVE_INFINITY, retiredAt: Math.max(at, submittedAt) }
    if (state === 'away') startsAt = Math.max(startsAt, until)
  }
  return { startsAt, retiredAt: Number.POSITIVE_INFINITY }
}
