// Whether a circuit of ours means what the server says of a program.

import type { Circuit } from '../../../apps/console/circuit/circuit.js'
import { readCircuit } from '../../../apps/console/openqasm/read-circuit.js'
import { simulate } from '../../../apps/console/simulators/own/simulate.js'
import type { Meaning } from './fixtures.js'

/** The largest difference of a probability. */
export const EXACT = 1e-10

export function circuitOf(text: string): Circuit {
  const found = readCircuit(text)
  if ('faults' in found) throw new Error(`${JSON.stringify(found.faults)}\n${text}`)
  return found.circuit
}

/** What differs between a program as we run it and what the server says of it; null where nothing does. */
export async function difference(circuit: Circuit, meaning: Meaning): Promise<string | null> {
  const { probabilities, metadata } = await simulate(circuit, 10, 1, () => {})
  if (JSON.stringify(metadata.registers) !== JSON.stringify(meaning.registers)) {
    return `registers ${JSON.stringify(metadata.registers)} instead of ${JSON.stringify(meaning.registers)}`
  }
  if (probabilities === undefined) return 'no probabilities'
  return distance(probabilities, meaning.probabilities, EXACT)
}

export function distance(
  found: Record<string, number>,
  expected: Record<string, number>,
  allowed: number
): string | null {
  for (const key of new Set([...Object.keys(found), ...Object.keys(expected)])) {
    const [own, theirs] = [found[key] ?? 0, expected[key] ?? 0]
    if (!(Math.abs(own - theirs) <= allowed)) return `'${key}' has probability ${own} instead of ${theirs}`
  }
  return null
}
