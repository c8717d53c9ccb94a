import { expect, test } from '@jest/globals'
import { readCircuit } from '../../../apps/console/openqasm/read-circuit.js'
import { changedPrograms, type JudgedProgram, programs } from '../support/fixtures.js'
import { difference } from '../support/meaning.js'

/** What the server runs and the reader refuses: a part of the refusal, and why it is one. */
const refusedHere: Record<string, string> = {
  'a loop without a turn':
    'the server keeps its measurements as ones that may write a bit, which an unrolled loop cannot',
  "'delay'": 'no time passes in a simulator without noise, so a program that waits means something else',
  "'while'": 'its number of turns is not known before the run',
  'is not available here; run the program on the server': 'break and continue belong to loops that cannot be unrolled',
  'of registers in a condition': 'conditions compare the numbers of registers, and compute none',
  "'~' of a register": 'conditions compare the numbers of registers, and compute none',
  'a number above 2^53': 'conditions hold plain numbers',
  'which acts on several qubits': 'its principal power has no gates that could be drawn and run'
}

test.each([
  ['a program that uses the language', programs],
  ['a program changed by one token', changedPrograms]
])('%s is refused here and on the server, or runs with the meaning that it has there', async (_, judged) => {
  const ran = { here: 0, refused: 0 }
  const wrong: string[] = []
  for (const program of judged) {
    const found = readCircuit(program.text)
    if ('faults' in found) {
      ran.refused++
      const { message } = found.faults[0]!
      const isListed = Object.keys(refusedHere).some((part) => message.includes(part))
      if (!('refused' in program) && !isListed) wrong.push(`refused here alone: ${message}\n${program.text}`)
    } else {
      ran.here++
      const differs = await differenceFrom(found.circuit, program)
      if (differs !== null) wrong.push(`${differs}\n${program.text}`)
    }
  }
  expect(wrong).toEqual([])
  expect(Math.min(ran.here, ran.refused)).toBeGreaterThan(100)
})

async function differenceFrom(
  circuit: Parameters<typeof difference>[0],
  program: JudgedProgram
): Promise<string | null> {
  return 'refused' in program ? `accepted here alone; the server: ${program.refused}` : difference(circuit, program)
}

test('a fault stands at the line that the server names, for nine programs of ten', () => {
  const named = [...programs, ...changedPrograms].flatMap((program) => {
    const found = readCircuit(program.text)
    const isBoth = 'refused' in program && program.line !== null && 'faults' in found
    return isBoth ? [found.faults[0]!.line === program.line] : []
  })
  expect(named.length).toBeGreaterThan(200)
  expect(named.filter(Boolean).length / named.length).toBeGreaterThan(0.9)
})
