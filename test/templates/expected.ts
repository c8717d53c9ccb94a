// What the templates have to answer, from theory and by other means than their own code, and how far sampling may stray.
import { expect } from '@jest/globals'

/**
 * Standard errors that a sampled value may lie from the true one: a normal value does so once in 1.7 million. The counts
 * here are large enough for the binomial to be that; nothing is tried again.
 */
export const SIGMAS = 5

/** That an outcome of this probability was seen as often as chance allows, at most one false alarm in a million. */
export function expectShare(seen: number, total: number, probability: number): void {
  const allowed = SIGMAS * Math.sqrt(total * probability * (1 - probability)) + 1
  expect({ seen, of: total, probability, strays: Math.abs(seen - total * probability) > allowed }).toEqual({
    seen,
    of: total,
    probability,
    strays: false
  })
}

/** That a mean is as near to the true one as its standard error allows. */
export function expectNear(value: number, truth: number, standardError: number): void {
  const strays = Math.abs(value - truth) > SIGMAS * standardError
  expect({ value, truth, standardError, strays }).toEqual({ value, truth, standardError, strays: false })
}

/** Hartree: STO-3G, 0.735 angstrom, full configuration interaction; and Hartree-Fock's. */
export const H2 = { ground: -1.1373060357534, hartreeFock: -1.116998996754, best: -0.2235369982676592 }

/** Halves of the gap between two pairs of levels of the Hamiltonian, on the states that the circuit can make. */
const Z_PART = 2 * 0.39793742484318045
const X_PART = 0.18093119978423156
const MIDDLE = H2.hartreeFock + Z_PART

/** The energy at an angle, and the standard error of one that is sampled with so many shots for each of two bases. */
export function h2Energy(theta: number, shots: number): { energy: number; standardError: number } {
  const [z, x] = [Math.cos(theta), Math.sin(theta)]
  const variance = Z_PART ** 2 * (1 - z ** 2) + X_PART ** 2 * (1 - x ** 2)
  return { energy: MIDDLE - Z_PART * z + X_PART * x, standardError: Math.sqrt(variance / shots) }
}

/** Mean and standard deviation of the cut that one shot of QAOA on a ring gives, from all of its amplitudes. */
export function ringQaoa(size: number, layers: number): { mean: number; deviation: number; largest: number } {
  const cuts = Array.from({ length: 2 ** size }, (_, split) => {
    let cut = 0
    for (let node = 0; node < (size > 2 ? size : 1); node++) {
      cut += ((split >> node) ^ (split >> ((node + 1) % size))) & 1
    }
    return cut
  })
  let real = cuts.map(() => 2 ** (-size / 2))
  let imaginary = cuts.map(() => 0)
  for (let layer = 0; layer < layers; layer++) {
    const progress = (layer + 0.5) / layers
    const [gamma, beta] = [(Math.PI / 2) * progress, (Math.PI / 4) * (1 - progress)]
    // exp(-i gamma cut), then cos(beta) - i sin(beta) X on every node.
    const turned = cuts.map((cut, at) => {
      const [c, s] = [Math.cos(gamma * cut), -Math.sin(gamma * cut)]
      return [real[at]! * c - imaginary[at]! * s, real[at]! * s + imaginary[at]! * c] as const
    })
    real = turned.map(([re]) => re)
    imaginary = turned.map(([, im]) => im)
    const [c, s] = [Math.cos(beta), Math.sin(beta)]
    for (let node = 0; node < size; node++) {
      const flipped = (at: number) => at ^ (1 << node)
      const next = real.map((re, at) => c * re + s * imaginary[flipped(at)]!)
      imaginary = imaginary.map((im, at) => c * im - s * real[flipped(at)]!)
      real = next
    }
  }
  const probability = cuts.map((_, at) => real[at]! ** 2 + imaginary[at]! ** 2)
  const mean = cuts.reduce((sum, cut, at) => sum + cut * probability[at]!, 0)
  const square = cuts.reduce((sum, cut, at) => sum + cut * cut * probability[at]!, 0)
  return { mean, deviation: Math.sqrt(square - mean ** 2), largest: Math.max(...cuts) }
}

/**
 * The least standard error that any estimate of alpha can have from sequences of these lengths (Cramer-Rao), when the right
 * answer comes with probability 1/2 + amplitude alpha^m. The template's weighted fit reaches it.
 */
export function decayError(alpha: number, amplitude: number, lengths: number[], shotsEach: number): number {
  let [aa, ab, bb] = [0, 0, 0]
  for (const m of lengths) {
    const right = 0.5 + amplitude * alpha ** m
    const [byAmplitude, byAlpha] = [alpha ** m, amplitude * m * alpha ** (m - 1)]
    const weight = shotsEach / (right * (1 - right))
    aa += weight * byAmplitude ** 2
    ab += weight * byAmplitude * byAlpha
    bb += weight * byAlpha ** 2
  }
  return Math.sqrt(aa / (aa * bb - ab ** 2))
}
