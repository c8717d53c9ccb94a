// Into how many circuits the observables of a job are grouped. The executor groups them by the same rule (`grouped` in
// apps/executor/qjs_executor/child/engines/observables.py): the number is paid for.
import { productsOf } from './observables.js'

/** A product of letters as two sets of qubits: X is in the first, Z in the second, Y in both. */
interface Letters {
  x: Uint32Array
  z: Uint32Array
}

/** @param observables checked ones. */
export function groupsOf(observables: readonly string[]): number {
  const words = new Set(observables.flatMap((text, at) => productsOf(text, `params.observables[${at}]`)))
  const bases: Letters[] = []
  // The order decides which words meet; words are ASCII, so it is that of their bytes.
  for (const word of [...words].sort()) {
    if (/^I+$/.test(word)) continue
    const letters = lettersOf(word)
    const basis = bases.find((one) => agree(one, letters))
    if (basis) join(basis, letters)
    else bases.push(letters)
  }
  return bases.length
}

function lettersOf(word: string): Letters {
  const size = Math.ceil(word.length / 32)
  const letters = { x: new Uint32Array(size), z: new Uint32Array(size) }
  for (let at = 0; at < word.length; at++) {
    const bit = 1 << (at & 31)
    if (word[at] === 'X' || word[at] === 'Y') letters.x[at >> 5]! |= bit
    if (word[at] === 'Z' || word[at] === 'Y') letters.z[at >> 5]! |= bit
  }
  return letters
}

/** Whether they have the same letter wherever both have one. Observables of different widths cannot meet in a circuit. */
const agree = (one: Letters, other: Letters): boolean =>
  one.x.length === other.x.length &&
  one.x.every((x, at) => {
    const [z, otherX, otherZ] = [one.z[at]!, other.x[at]!, other.z[at]!]
    return ((x | z) & (otherX | otherZ) & ((x ^ otherX) | (z ^ otherZ))) === 0
  })

function join(basis: Letters, { x, z }: Letters): void {
  for (let at = 0; at < x.length; at++) {
    basis.x[at]! |= x[at]!
    basis.z[at]! |= z[at]!
  }
}
