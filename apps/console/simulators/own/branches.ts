// Follows a circuit through every way that its measurements and resets may go, one state at a time. The shots are divided
// binomially, so that each way is simulated once, however many shots take it.
import { drawBinomial } from '../../../../domain/verification/statistics/discrete-law.js'
import type { Random } from '../../../../domain/verification/statistics/random.js'
import { holds } from '../../circuit/conditions.js'
import type { OnProgress } from '../simulation.js'
import { applyKernel, type State } from './kernels.js'
import type { Plan, Step } from './plan.js'

/** The squared norm of a branch that rounding alone has made. */
const NEGLIGIBLE = 1e-24

/** A list of steps that is being followed, and the one around it. */
interface Frame {
  steps: readonly Step[]
  next: number
  around: Frame | null
}

/** How a way ends: its state, its bits, how probable it is, and how many shots took it. */
export interface Leaf {
  state: State
  bits: Uint8Array
  probability: number
  shots: number
}

interface Way {
  bits: Uint8Array
  probability: number
  shots: number
  frame: Frame | null
}

/** A way that is followed later: the half of the state in which the qubit is 1. */
interface Waiting extends Way {
  half: State
  at: number
  isReset: boolean
}

/** @param all also follow ways that no shot takes. */
export function followBranches(
  plan: Plan,
  clbits: number,
  shots: number,
  all: boolean,
  random: Random,
  onLeaf: (leaf: Leaf) => void,
  onProgress: OnProgress
): void {
  const size = 2 ** plan.qubits
  const state: State = { re: new Float64Array(size), im: new Float64Array(size) }
  state.re[0] = 1
  const waiting: Waiting[] = []
  let way: Way = { bits: new Uint8Array(clbits), probability: 1, shots, frame: rootOf(plan) }
  let [finished, passes, reported] = [0, 0, 0]
  // A split halves what a way counts for, so that the plain share could fall.
  const report = (share: number): void => {
    reported = Math.max(reported, Math.min(1, share))
    onProgress(reported)
  }
  while (true) {
    for (let step = take(way); step !== null; step = take(way)) {
      if (step.kind === 'kernels') {
        for (const kernel of step.kernels) {
          applyKernel(state, kernel)
          passes++
          report(finished + way.probability * Math.min(1, passes / (plan.passes + 1)))
        }
      } else if (step.kind === 'if') {
        const steps = holds(step.condition, way.bits) ? step.held : step.otherwise
        way.frame = { steps, next: 0, around: way.frame }
      } else split(step, way)
    }
    onLeaf({ state, bits: way.bits, probability: way.probability, shots: way.shots })
    finished += way.probability
    report(finished)
    const later = waiting.pop()
    if (later === undefined) return
    restore(state, later)
    way = { bits: later.bits, probability: later.probability, shots: later.shots, frame: later.frame }
    passes = 0
  }

  /** Continues with one value of the qubit, and leaves the other for later. */
  function split(step: Step & { kind: 'measure' | 'reset' }, current: Way): void {
    const [zero, one] = weights(state, step.at)
    const share = one <= NEGLIGIBLE ? 0 : zero <= NEGLIGIBLE ? 1 : one / (zero + one)
    const shotsOfOne = drawBinomial(current.shots, share, random)
    const shotsOfZero = current.shots - shotsOfOne
    const followsOne = share > 0 && (all || shotsOfOne > 0)
    const followsZero = share < 1 && (all || shotsOfZero > 0)
    if (followsZero && followsOne) {
      const bits = current.bits.slice()
      if (step.kind === 'measure') bits[step.clbit] = 1
      waiting.push({
        half: halfOf(state, step.at, 1 / Math.sqrt(one)),
        at: step.at,
        isReset: step.kind === 'reset',
        bits,
        probability: current.probability * share,
        shots: shotsOfOne,
        frame: copy(current.frame)
      })
    }
    const value = followsZero ? 0 : 1
    collapse(state, step.at, value, 1 / Math.sqrt(value === 1 ? one : zero))
    if (step.kind === 'measure') current.bits[step.clbit] = value
    else if (value === 1) restoreAsZero(state, step.at)
    current.probability *= value === 1 ? share : 1 - share
    current.shots = value === 1 ? shotsOfOne : shotsOfZero
  }
}

const rootOf = (plan: Plan): Frame | null => ({ steps: plan.steps, next: 0, around: null })

/** The next step of a way; null at its end. */
function take(way: Way): Step | null {
  while (way.frame !== null && way.frame.next >= way.frame.steps.length) way.frame = way.frame.around
  return way.frame === null ? null : way.frame.steps[way.frame.next++]!
}

const copy = (frame: Frame | null): Frame | null => frame && { ...frame, around: copy(frame.around) }

/** The squared norms of the two halves. */
function weights({ re, im }: State, at: number): [number, number] {
  const step = 1 << at
  let [zero, one] = [0, 0]
  for (let block = 0; block < re.length; block += 2 * step) {
    for (let i = block; i < block + step; i++) {
      zero += re[i]! * re[i]! + im[i]! * im[i]!
      one += re[i + step]! * re[i + step]! + im[i + step]! * im[i + step]!
    }
  }
  return [zero, one]
}

function collapse({ re, im }: State, at: number, value: 0 | 1, factor: number): void {
  const step = 1 << at
  const [kept, lost] = value === 1 ? [step, 0] : [0, step]
  for (let block = 0; block < re.length; block += 2 * step) {
    for (let i = block; i < block + step; i++) {
      re[i + kept]! *= factor
      im[i + kept]! *= factor
      re[i + lost] = 0
      im[i + lost] = 0
    }
  }
}

/** Moves the half in which a qubit is 1 to where it is 0. */
function restoreAsZero({ re, im }: State, at: number): void {
  const step = 1 << at
  for (let block = 0; block < re.length; block += 2 * step) {
    for (let i = block; i < block + step; i++) {
      re[i] = re[i + step]!
      im[i] = im[i + step]!
      re[i + step] = 0
      im[i + step] = 0
    }
  }
}

function halfOf({ re, im }: State, at: number, factor: number): State {
  const step = 1 << at
  const half = { re: new Float64Array(re.length / 2), im: new Float64Array(re.length / 2) }
  for (let block = 0, k = 0; block < re.length; block += 2 * step) {
    for (let i = block + step; i < block + 2 * step; i++, k++) {
      half.re[k] = re[i]! * factor
      half.im[k] = im[i]! * factor
    }
  }
  return half
}

function restore({ re, im }: State, { half, at, isReset }: Waiting): void {
  const step = 1 << at
  const [kept, lost] = isReset ? [0, step] : [step, 0]
  for (let block = 0, k = 0; block < re.length; block += 2 * step) {
    for (let i = block; i < block + step; i++, k++) {
      re[i + kept] = half.re[k]!
      im[i + kept] = half.im[k]!
      re[i + lost] = 0
      im[i + lost] = 0
    }
  }
}
