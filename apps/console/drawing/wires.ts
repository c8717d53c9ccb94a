// The wires of a drawing: one for each qubit, below them one for each classical register.
import type { Circuit } from '../circuit/circuit.js'

export interface ClassicalWire {
  name: string
  /** Bit 0 of the register first. */
  clbits: readonly number[]
}

export interface BitPlace {
  /** Index into the classical wires. */
  wire: number
  /** Which bit of its register; `null` where the register is this one bit. */
  bit: number | null
}

/** Bits whose names follow each other, `c[0]` and `c[1]`, are one register; any other bit is a wire of its own. */
export function classicalWires({ clbits, clbitNames }: Pick<Circuit, 'clbits' | 'clbitNames'>): ClassicalWire[] {
  const wires: { name: string; clbits: number[]; isRegister: boolean }[] = []
  for (let clbit = 0; clbit < clbits; clbit++) {
    const name = clbitNames[clbit] ?? `bit ${clbit}`
    const [, register, index] = /^(.*)\[(\d{1,9})\]$/su.exec(name) ?? []
    const last = wires.at(-1)
    if (register === undefined) wires.push({ name, clbits: [clbit], isRegister: false })
    else if (last?.isRegister && last.name === register && last.clbits.length === Number(index)) last.clbits.push(clbit)
    // A register that does not begin with bit 0 cannot be counted through, so its bits keep their full names.
    else if (Number(index) === 0) wires.push({ name: register, clbits: [clbit], isRegister: true })
    else wires.push({ name, clbits: [clbit], isRegister: false })
  }
  return wires
}

/** Where each classical bit is found. */
export function bitPlaces(wires: readonly ClassicalWire[]): ReadonlyMap<number, BitPlace> {
  const places = new Map<number, BitPlace>()
  for (const [wire, { clbits }] of wires.entries())
    for (const [bit, clbit] of clbits.entries()) places.set(clbit, { wire, bit: clbits.length > 1 ? bit : null })
  return places
}
