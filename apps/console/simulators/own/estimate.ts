// What a run will take, before it starts.
import type { Circuit } from '../../circuit/circuit.js'
import { MEMORY_MAX, SECONDS_MAX, SLOWER_MACHINE } from '../limits.js'
import { checkRun, type RunEstimate, SimulationRefused } from '../simulation.js'
import { type Plan, planOf } from './plan.js'

/** Measured for what each run has: its plan, its samples and its facts, before they are compiled. */
const SECONDS_ONCE = SLOWER_MACHINE * 1e-2

/** Measured for one amplitude in one pass. */
const SECONDS_PER_AMPLITUDE = SLOWER_MACHINE * 4e-9

/** Up to so many branches, and so many seconds, all of them are followed: the outcomes' probabilities are then exact. */
const EXACT = { branches: 1024, seconds: 5 }

export interface Estimate extends RunEstimate {
  /** The most branches that measurements, resets and conditions in the middle can make. */
  branches: number
  /** Whether every branch is followed, also those that no shot takes. */
  isExact: boolean
}

/** An upper bound of time and memory. Throws SimulationRefused for a run that is not started. */
export function estimate(circuit: Circuit, shots: number): Estimate {
  checkRun(circuit, shots)
  return estimateOf(planOf(circuit), shots)
}

export function estimateOf(plan: Plan, shots: number): Estimate {
  const states = 2 ** plan.branchings
  const size = 2 ** plan.qubits
  const secondsOf = (count: number): number => SECONDS_ONCE + count * (plan.passes + 2) * size * SECONDS_PER_AMPLITUDE
  const isExact = states === 1 || (states <= EXACT.branches && secondsOf(states) <= EXACT.seconds)
  const branches = isExact ? states : Math.min(states, shots)
  const seconds = secondsOf(branches)
  // The state and its cumulative sums; and half a state for each branching whose other side waits.
  const waiting = plan.branchings
  const bytes = size * (16 + 8 + 8 * waiting)
  if (seconds > SECONDS_MAX) {
    throw new SimulationRefused(
      `the run would take up to ${Math.ceil(seconds / 60)} minutes here: ${branches} branches of ${plan.passes} passes ` +
        `over ${size} amplitudes; run it on the server`
    )
  }
  if (bytes > MEMORY_MAX) {
    const [needed, has] = [bytes, MEMORY_MAX].map((value) => Math.ceil(value / 2 ** 20))
    throw new SimulationRefused(
      `the run would need up to ${needed} MiB here, at most ${has} MiB are used: its ${plan.branchings} measurements and ` +
        'resets before the end each keep half a state; run it on the server'
    )
  }
  return { seconds, bytes, branches, isExact }
}
