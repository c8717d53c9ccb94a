import { expect, test } from '@jest/globals'
import { readCircuit } from '../../../apps/console/openqasm/read-circuit.js'
import { changedPrograms } from '../support/fixtures.js'
import { difference } from '../support/meaning.js'

/** Programs that are refused here alone: a part of the refusal, and why. */
const refusedHere: [part: string, reason: string][] = []

test('a program changed by one token is refused by both, or runs with the meaning that it has on the server', async () => {
  const wrong: string[] = []
  for (const program of changedPrograms) {
    const found = readCircuit(program.text)
    if ('faults' in found) {
      const { message } = found.faults[0]!
      if ('refused' in program || refusedHere.some(([part]) => message.includes(part))) continue
      wrong.push(`refused here alone: ${message}\n${program.text}`)
    } else if ('refused' in program) wrong.push(`accepted here alone; the server: ${program.refused}\n${program.text}`)
    else {
      const differs = await difference(found.circuit, program)
      if (differs !== null) wrong.push(`${differs}\n${program.text}`)
    }
  }
  expect(wrong).toEqual([])
})
