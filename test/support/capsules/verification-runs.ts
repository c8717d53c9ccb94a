// Runs for verdicts: distributions of circuit results, samples of them, and results as they are stored.

import type { RunCounts } from '../../../domain/verification/run-counts.js'
import type { Counts } from '../../../domain/verification/statistics/count-pair.js'
import { lawOf, spread } from '../../../domain/verification/statistics/discrete-law.js'
import type { Random } from '../../../domain/verification/statistics/random.js'

/** Uniform noise of `epsilon`, the rest on the first and the last outcome. */
export function bell(outcomes: number, epsilon: number): number[] {
  const law = new Array<number>(outcomes).fill(epsilon / outcomes)
  law[0]! += (1 - epsilon) / 2
  law[outcomes - 1]! += (1 - epsilon) / 2
  return law
}

/** Uniform, shifted by a total variation distance of `by`. */
export const shifted = (outcomes: number, by: number): number[] =>
  Array.from({ length: outcomes }, (_, k) => (k < outcomes / 2 ? 1 + 2 * by : 1 - 2 * by) / outcomes)

/** Exponential weights, like those of a random circuit. */
export const porterThomas = (outcomes: number, random: Random): number[] =>
  Array.from({ length: outcomes }, () => -Math.log(1 - random.uniform()))

export function sampler(weights: readonly number[], random: Random): (shots: number) => Counts {
  const law = lawOf(0, weights)
  const width = Math.max(1, Math.ceil(Math.log2(weights.length)))
  const names = weights.map((_, k) => k.toString(2).padStart(width, '0'))
  return (shots) => {
    const found = new Float64Array(weights.length)
    spread(law, shots, found, 0, random)
    const counts: Record<string, number> = {}
    found.forEach((count, k) => {
      if (count > 0) counts[names[k]!] = count
    })
    return counts
  }
}

export const shotsOf = (counts: Counts): number => Object.values(counts).reduce((sum, count) => sum + count, 0)

/** A run of a local simulator without a seed. */
export const runOf = (counts: Counts, changes: Partial<RunCounts> = {}): RunCounts => ({
  counts,
  shots: shotsOf(counts),
  madeBy: 'service',
  countSource: 'simulator_sampled',
  bitOrder: 'qubit 0 leftmost',
  registers: [{ name: 'c', size: 2 }],
  circuitSha256: 'a'.repeat(64),
  engine: 'statevector',
  engineVersion: '0.17.2',
  frameworkVersion: '2.5.2',
  seed: null,
  deterministic: false,
  hardware: false,
  local: true,
  calibrationId: null,
  completedAt: '2026-03-01T00:00:00.000Z',
  ...changes
})

/** The stored result of a circuit, with changes to its metadata. */
export const resultOf = (counts: Counts, metadata: Record<string, unknown> = {}): string =>
  JSON.stringify({
    counts,
    shots: shotsOf(counts),
    backend: 'local',
    execution_time_ms: 12.5,
    circuit_info: { num_qubits: 2 },
    metadata: {
      bit_order: 'qubit 0 leftmost',
      seed: null,
      engine: 'statevector',
      engine_version: '0.17.2',
      framework_version: '2.5.2',
      optimization_level: 1,
      provider_job_id: null,
      calibration_id: null,
      count_source: 'simulator_sampled',
      shots_requested: shotsOf(counts),
      shots_observed: shotsOf(counts),
      registers: [{ name: 'c', size: 2 }],
      circuit_sha256: 'a'.repeat(64),
      ...metadata
    },
    warnings: []
  })
