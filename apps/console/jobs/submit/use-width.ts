// How wide the program of a form is, so that a backend that is too narrow is refused before the press.
import { useEffect, useState } from 'react'
import type { SubmitForm } from './submission.js'
import { useQuiet } from './use-quiet.js'

type Source = Pick<SubmitForm, 'program' | 'framework' | 'format'>

/** A longer text is read on the page's thread for too long. */
const READ_CHARACTERS_MAX = 128 * 1024
/** The most that a request can name. */
const QUBITS_MAX = 10_000

/** The qubits of a circuit in OpenQASM, or the sites of an analog program; `null` where the text does not show them. */
export function useWidth({ program, framework, format }: Source): number | null {
  const quiet = useQuiet(program)
  const [width, setWidth] = useState<number | null>(null)
  useEffect(() => {
    let isLeft = false
    widthOf({ program: quiet, framework, format }).then((found) => isLeft || setWidth(found))
    return () => {
      isLeft = true
    }
  }, [quiet, framework, format])
  return width
}

async function widthOf({ program, framework, format }: Source): Promise<number | null> {
  if (program.length > READ_CHARACTERS_MAX) return null
  const width =
    format === 'ahs' ? sitesOf(program) : isOpenqasm({ program, framework }) ? await qubitsOf(program) : null
  return width === null || width < 1 ? null : Math.min(width, QUBITS_MAX)
}

/** Of a text whose language is to be detected, all that imports nothing is read; another language has faults. */
const isOpenqasm = ({ program, framework }: Pick<Source, 'program' | 'framework'>): boolean =>
  framework === '' ? !/^\s*(?:import|from)\s/m.test(program) : framework === 'openqasm'

/** The reader is as large as the form, and the form works without it. */
async function qubitsOf(program: string): Promise<number | null> {
  const reader = await import('../../openqasm/read-circuit.js').catch(() => null)
  const reading = reader?.readCircuit(program)
  return reading && 'circuit' in reading ? reading.circuit.qubits : null
}

function sitesOf(program: string): number | null {
  try {
    const { setup } = JSON.parse(program) as { setup?: { ahs_register?: { sites?: unknown } } }
    const sites = setup?.ahs_register?.sites
    return Array.isArray(sites) ? sites.length : null
  } catch {
    return null
  }
}
