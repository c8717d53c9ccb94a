// The classical registers of counts, as the metadata of a result states them.

import { storableText } from '../json/json-guard.js'
import { isDeepEqual } from './deep-equal.js'

interface Register {
  name: string
  size: number
}

/** How many registers a message names, and how many characters of each. */
const NAMED_MAX = 8
const NAME_MAX = 40

/**
 * Whether the bits of two runs stand for the same registers by their place. Frameworks name the same register
 * differently, so other names are accepted; the same names in another order mean other bits.
 * @param one `null` where no registers are stated, as for counts that a program returned.
 */
export function haveLikeRegisters(one: unknown, other: unknown): boolean {
  const [before, after] = [registersOf(one), registersOf(other)]
  if (before === null || after === null) return true
  const [sizes, otherSizes] = [before, after].map((registers) => registers.map(({ size }) => size))
  if (!isDeepEqual(sizes, otherSizes)) return false
  const [names, otherNames] = [namesOf(before), namesOf(after)]
  return isDeepEqual(names, otherNames) || !isDeepEqual([...names].sort(), [...otherNames].sort())
}

/** Whether both runs state registers, under other names. */
export function haveOtherNames(one: unknown, other: unknown): boolean {
  const [before, after] = [registersOf(one), registersOf(other)]
  return before !== null && after !== null && !isDeepEqual(namesOf(before), namesOf(after))
}

/** As messages show them: `c[2], d[1]`. */
export function registersText(registers: unknown): string {
  const all = registersOf(registers) ?? []
  const shown = all.slice(0, NAMED_MAX).map(({ name, size }) => `${storableText(name.slice(0, NAME_MAX))}[${size}]`)
  return [...shown, ...(all.length > NAMED_MAX ? [`${all.length - NAMED_MAX} more`] : [])].join(', ') || 'none'
}

const namesOf = (registers: readonly Register[]): string[] => registers.map(({ name }) => name)

function registersOf(stated: unknown): Register[] | null {
  if (!Array.isArray(stated)) return null
  const registers = stated.flatMap((register: unknown) => {
    const { name, size } = (register ?? {}) as Partial<Record<string, unknown>>
    return typeof name === 'string' && typeof size === 'number' ? [{ name, size }] : []
  })
  return registers.length === stated.length ? registers : null
}
