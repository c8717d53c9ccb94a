// Which colour a status of a job, or a state of a task or an attempt, is drawn in. A state is always named next to it.

export type StateClass = 'good' | 'bad' | 'active' | 'waiting' | 'ended'

const classOf: ReadonlyMap<string, StateClass> = new Map([
  ['completed', 'good'],
  ['failed', 'bad'],
  ['lost', 'bad'],
  ['dispatch_failed', 'bad'],
  ['running', 'active'],
  ['pending', 'waiting'],
  ['cancelling', 'waiting'],
  ['cancelled', 'ended'],
  ['skipped', 'ended']
])

/** A state of a newer service is drawn like one that has ended. */
export const stateClass = (state: string): StateClass => classOf.get(state) ?? 'ended'
