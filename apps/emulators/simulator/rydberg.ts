// Atoms that a laser drives between their ground state and a Rydberg state, with the full interaction of every pair:
//
//   H(t) = sum_k [ Omega/2 (e^(i phi) |r><g| + h.c.) - (Delta + local_k) n_k ] + sum_(j<k) C6/r_jk^6 n_j n_k
//
// Each step applies the drive of every atom exactly between two halves of the diagonal part (Strang splitting). Bit k of a
// state's index is one when atom k is in the Rydberg state.

export interface Drive {
  /** The sum of all fields: Omega e^(i phi), in rad/s. */
  re: number
  im: number
  /** In rad/s. */
  detuning: number
  /** The local detuning before the weights of the atoms, in rad/s. */
  local: number
}

export interface RydbergProblem {
  /** Of each atom, in m. */
  positions: readonly (readonly [x: number, y: number])[]
  /** How strongly each atom feels the local detuning. */
  weights: readonly number[]
  /** In rad m^6/s. */
  c6: number
  /** Ascending, in s; between two of them every value is linear or constant. */
  times: readonly number[]
  drive(time: number): Drive
}

/** 2^10 amplitudes are some seconds for the longest program of the closest atoms. */
export const ATOMS_MAX = 10

/** The largest change of a phase in one step, by what causes it: these keep the error of a probability below 0.001. */
const phaseMax = { flip: 0.2, drive: 0.02, detuning: 0.1 }
const stepsMax = 200_000

/** The probability of every state at the end. @throws RangeError for too many atoms or steps. */
export function evolveRydberg(problem: RydbergProblem): Float64Array {
  const atoms = problem.positions.length
  if (atoms > ATOMS_MAX) throw new RangeError(`${atoms} atoms are more than the ${ATOMS_MAX} of this simulator`)
  const system = new System(problem)
  const flip = strongestFlip(problem)
  let total = 0
  for (let index = 1; index < problem.times.length; index++) {
    const [from, to] = [problem.times[index - 1]!, problem.times[index]!]
    const steps = stepsOf(problem, from, to, flip)
    total += steps
    if (total > stepsMax) throw new RangeError(`the program needs more than ${stepsMax} steps`)
    const step = (to - from) / steps
    for (let count = 0; count < steps; count++) system.step(problem.drive(from + (count + 0.5) * step), step)
  }
  return system.probabilities()
}

/** The largest energy that one atom's excitation can cost, in rad/s. */
function strongestFlip({ positions, c6 }: RydbergProblem): number {
  const costs = positions.map((one, j) =>
    positions.reduce((sum, other, k) => (j === k ? sum : sum + pairEnergy(one, other, c6)), 0)
  )
  return Math.max(0, ...costs)
}

function stepsOf({ drive, weights }: RydbergProblem, from: number, to: number, flip: number): number {
  const length = to - from
  // Linear between the ends, so the ends are the extremes; a little inside, since constants jump there.
  const ends = [drive(from + 1e-6 * length), drive(to - 1e-6 * length)]
  const amplitude = Math.max(...ends.map(({ re, im }) => Math.hypot(re, im)))
  const strongest = Math.max(0, ...weights.map(Math.abs))
  const detuning = Math.max(...ends.map((end) => Math.abs(end.detuning) + Math.abs(end.local) * strongest))
  const rate = Math.max(flip / phaseMax.flip, amplitude / phaseMax.drive, detuning / phaseMax.detuning)
  return Math.max(1, Math.ceil(rate * length))
}

const pairEnergy = (
  [x, y]: readonly [number, number],
  [otherX, otherY]: readonly [number, number],
  c6: number
): number => c6 / Math.hypot(x - otherX, y - otherY) ** 6

class System {
  private readonly re: Float64Array
  private readonly im: Float64Array
  private readonly energy: Float64Array
  private readonly excited: Float64Array
  private readonly weight: Float64Array

  constructor({ positions, weights, c6 }: RydbergProblem) {
    const size = 2 ** positions.length
    this.re = new Float64Array(size)
    this.im = new Float64Array(size)
    this.re[0] = 1
    this.energy = new Float64Array(size)
    this.excited = new Float64Array(size)
    this.weight = new Float64Array(size)
    for (let state = 1; state < size; state++) {
      const up = positions.flatMap((_, atom) => ((state >> atom) & 1 ? [atom] : []))
      this.excited[state] = up.length
      this.weight[state] = up.reduce((sum, atom) => sum + weights[atom]!, 0)
      this.energy[state] = up.reduce(
        (sum, j, at) =>
          sum + up.slice(at + 1).reduce((part, k) => part + pairEnergy(positions[j]!, positions[k]!, c6), 0),
        0
      )
    }
  }

  step(drive: Drive, length: number): void {
    this.turnPhases(drive, length / 2)
    this.turnAtoms(drive, length)
    this.turnPhases(drive, length / 2)
  }

  probabilities(): Float64Array {
    return this.re.map((real, index) => real * real + this.im[index]! * this.im[index]!)
  }

  private turnPhases({ detuning, local }: Drive, length: number): void {
    const { re, im, energy, excited, weight } = this
    for (let state = 1; state < re.length; state++) {
      const angle = -length * (energy[state]! - detuning * excited[state]! - local * weight[state]!)
      const [cos, sin] = [Math.cos(angle), Math.sin(angle)]
      const [real, imaginary] = [re[state]!, im[state]!]
      re[state] = cos * real - sin * imaginary
      im[state] = cos * imaginary + sin * real
    }
  }

  // exp(-i length Omega/2 (cos(phi) X + sin(phi) Y)) of every atom.
  private turnAtoms({ re: driveRe, im: driveIm }: Drive, length: number): void {
    const amplitude = Math.hypot(driveRe, driveIm)
    if (amplitude === 0) return
    const cos = Math.cos((amplitude * length) / 2)
    const sin = Math.sin((amplitude * length) / 2)
    // -i sin e^(i phi), from ground to Rydberg; its partner has the other sign of phi.
    const upRe = (sin * driveIm) / amplitude
    const upIm = (-sin * driveRe) / amplitude
    const downRe = -upRe
    const downIm = upIm
    const { re, im } = this
    for (let bit = 1; bit < re.length; bit <<= 1) {
      for (let ground = 0; ground < re.length; ground++) {
        if (ground & bit) continue
        const rydberg = ground | bit
        const [gRe, gIm, rRe, rIm] = [re[ground]!, im[ground]!, re[rydberg]!, im[rydberg]!]
        re[ground] = cos * gRe + downRe * rRe - downIm * rIm
        im[ground] = cos * gIm + downRe * rIm + downIm * rRe
        re[rydberg] = cos * rRe + upRe * gRe - upIm * gIm
        im[rydberg] = cos * rIm + upRe * gIm + upIm * gRe
      }
    }
  }
}
