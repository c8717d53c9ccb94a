// The tabs of the page of a capsule, and the run that is read in it; its address names both.
import { readPage } from '../shell/page-number.js'

export const capsuleTabs = {
  definition: 'Definition',
  evidence: 'Evidence',
  runs: 'Runs',
  verifications: 'Verifications',
  schedule: 'Schedule'
} as const

export type CapsuleTab = keyof typeof capsuleTabs

export interface CapsuleSearch {
  tab?: CapsuleTab
  /** Id of the run whose report is open. */
  run?: string
  /** Of runs or verifications, from 1. */
  page?: number
}

const isTab = (value: unknown): value is CapsuleTab => typeof value === 'string' && Object.hasOwn(capsuleTabs, value)

export const readCapsuleSearch = ({ tab, run, page }: Record<string, unknown>): CapsuleSearch => ({
  ...(isTab(tab) && { tab }),
  ...(typeof run === 'string' && /^[0-9a-f-]{36}$/i.test(run) && { run }),
  ...readPage({ page })
})
