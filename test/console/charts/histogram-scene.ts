// Counts and results as the charts get them.

import type { HistogramData, HistogramOptions } from '../../../apps/console/charts/histogram/histogram-layout.js'
import { type Counts, countsFrom, type Register } from '../../../apps/console/results/counts.js'

export const counts = (entries: Record<string, number | bigint>): Counts => countsFrom(Object.entries(entries))

export const bellPair = counts({ '00': 503, '11': 497 })

export const register = (name: string, size: number): Register => ({ name, size, qubits: null })

/** Counts whose head alone was kept. */
export const cut = (kept: Record<string, number>, leftOut: { outcomes: number; count: bigint }): Counts => {
  const whole = counts(kept)
  return { ...whole, total: whole.total + leftOut.count, leftOut }
}

export const dataOf = (sets: Record<string, Counts>, registers: readonly Register[] = []): HistogramData => ({
  sets: Object.entries(sets).map(([name, counts]) => ({ name, counts })),
  order: 'qubit 0 leftmost',
  registers
})

export const options = (given: Partial<HistogramOptions> = {}): HistogramOptions => ({
  width: 640,
  top: 20,
  sort: 'count',
  axis: 'linear',
  turned: false,
  ...given
})
