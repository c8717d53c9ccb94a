// Where a capsule stands, and what each next step makes final.
import type { CapsuleState } from './words.js'

export interface Stage {
  state: CapsuleState
  /** What holds from here on. */
  text: string
}

const stages: Readonly<Record<CapsuleState, string>> = {
  draft: 'Its owner can change and delete it. Nothing is final.',
  runnable: 'It holds the result of a job and cannot be changed. It can be deleted.',
  sealed: 'Its content is final: digests and a signature fix it, and it can never be deleted.',
  published: 'Everyone can read it, for good. It can no longer be archived.',
  archived: 'It stays readable for its team. Its schedule has ended, and it can no longer be published.'
}

/** @param ofJob whether it was made from a job: a draft is not. @param present its state. */
export function lifeOf(present: CapsuleState, ofJob: boolean): Stage[] {
  const first: CapsuleState = present === 'draft' || !ofJob ? 'draft' : 'runnable'
  const ends: CapsuleState[] = present === 'archived' || present === 'published' ? [present] : ['published', 'archived']
  return [first, 'sealed' as const, ...ends].map((state) => ({ state, text: stages[state] }))
}
