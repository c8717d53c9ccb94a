// Formats the estimate of a job for people.
import { listing, table } from '../terminal/layout.js'
import { money } from '../terminal/output.js'
import type { Choice } from './job-record.js'
import { choiceText } from './job-text.js'

export interface Estimate {
  estimated_cost_usd: number
  breakdown: {
    task_fee: number
    per_shot: number
    /** Of the run that has most. */
    shots: number
    /** Circuits of all runs together. */
    tasks: number
    minimum_cost: number
    per_second?: number
    seconds_max?: number
  }
  budget: { day: { remaining_usd: number }; month: { remaining_usd: number } }
  /** Why a submission would be refused now. */
  refusals: { check: string; message: string }[]
  /** Where the backend is left open. */
  choice: EstimateChoice | null
}

interface EstimateChoice extends Choice {
  chosen: string
  candidates: (Choice['candidates'][number] & {
    backend: string
    estimated_cost_usd: number
    wait_seconds: number | null
    max_qubits: number | null
  })[]
}

/** @param isSweep whether its points can have fewer shots than the one that has most. */
export function estimateText({ estimated_cost_usd, breakdown, budget, refusals, choice }: Estimate, isSweep: boolean) {
  const facts = listing([
    ['backend', choice?.chosen],
    ['chosen', choice && choiceText(choice)],
    ['estimate', money(estimated_cost_usd)],
    ['circuits', `${breakdown.tasks} at ${money(breakdown.task_fee)}`],
    ['shots', `${isSweep ? 'at most ' : ''}${breakdown.shots} at ${money(breakdown.per_shot)} each, for every circuit`],
    ['time', timeText(breakdown)],
    ['at least', breakdown.minimum_cost > 0 ? money(breakdown.minimum_cost) : null],
    ['left today', money(budget.day.remaining_usd)],
    ['left this month', money(budget.month.remaining_usd)],
    ...refusals.map(({ message }): [string, string] => ['refused now', message])
  ])
  return choice ? `${facts}\n\n${candidatesText(choice)}` : facts
}

const timeText = ({ per_second, seconds_max }: Estimate['breakdown']): string | null =>
  per_second === undefined ? null : `at most ${seconds_max} s at ${money(per_second)} each, for every circuit`

const candidatesText = ({ candidates }: EstimateChoice): string =>
  table(
    [
      { heading: 'BACKEND', least: 16 },
      { heading: 'COST', right: true },
      { heading: 'QUEUE', right: true, yields: 2 },
      { heading: 'QUBITS', right: true, yields: 3 },
      { heading: 'USABLE', yields: 1 },
      { heading: 'WHY', least: 16 }
    ],
    candidates.map(({ backend, estimated_cost_usd, wait_seconds, max_qubits, usable, reason }) => [
      backend,
      money(estimated_cost_usd),
      wait_seconds === null ? '' : `${wait_seconds} s`,
      String(max_qubits ?? ''),
      usable ? 'yes' : 'no',
      reason
    ])
  )
