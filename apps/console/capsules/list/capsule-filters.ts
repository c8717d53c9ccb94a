// The filters and the page of the list of capsules, as its address holds them. The service decides what they mean.
import { readPage } from '../../shell/page-number.js'

const states = ['draft', 'runnable', 'sealed', 'published', 'archived'] as const

export interface CapsuleFilters {
  state?: (typeof states)[number]
  q?: string
  tag?: string
  mine?: boolean
  /** From 1; absent: the first. */
  page?: number
}

export const capsuleStates = states

export function readCapsuleFilters({ state, q, tag, mine, page }: Record<string, unknown>): CapsuleFilters {
  const known = states.find((one) => one === state)
  const texts = Object.entries({ q, tag }).filter(([, value]) => typeof value === 'string' && value !== '')
  return {
    ...(Object.fromEntries(texts) as CapsuleFilters),
    ...(known && { state: known }),
    ...(mine === true && { mine }),
    ...readPage({ page })
  }
}
