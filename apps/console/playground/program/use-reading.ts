// The circuit of the program, or its faults, read while its author types.
import { useEffect, useState } from 'react'
import { type ReadCircuit, readCircuit } from '../../openqasm/read-circuit.js'

/** A long program takes a moment, which must not come between two keys. */
const QUIET_MS = 150

export interface Reading {
  /** The text that was read: what is typed since has no reading yet. */
  program: string
  result: ReadCircuit
}

/** `null` for what is not OpenQASM. */
export function useReading(program: string, isOpenqasm: boolean): Reading | null {
  const [reading, setReading] = useState<Reading | null>(null)
  useEffect(() => {
    if (!isOpenqasm) return setReading(null)
    const timer = setTimeout(() => setReading({ program, result: readCircuit(program) }), QUIET_MS)
    return () => clearTimeout(timer)
  }, [program, isOpenqasm])
  return reading
}
