import { describe, expect, test } from '@jest/globals'
import { readCircuit } from '../../../apps/console/openqasm/read-circuit.js'
import { conformance, texts } from '../support/fixtures.js'
import { circuitOf, difference } from '../support/meaning.js'

describe('the conformance table has the exact probabilities and the registers of the server', () => {
  test.each(['openqasm2', 'openqasm3', 'converted'] as const)('as %s', async (form) => {
    const rows = conformance.filter((row) => row[form] !== undefined)
    expect(rows.length).toBeGreaterThan(100)
    for (const row of rows) {
      const found = await difference(circuitOf(row[form]!), row)
      expect([row.name, found]).toEqual([row.name, null])
    }
  })
})

/** What the server runs and the reader refuses, each with a part of the refusal. */
const refusedHere: Record<string, string> = {
  'a loop until a bit is set': "'while'"
}

test('programs that use more of the language mean what they mean on the server', async () => {
  for (const row of texts) {
    if ('refusal' in row || refusedHere[row.name]) continue
    expect([row.name, await difference(circuitOf(row.text), row)]).toEqual([row.name, null])
  }
})

test('what the server refuses is refused by the same name, and what is refused here alone says why', () => {
  for (const row of texts) {
    const wanted = 'refusal' in row ? row.refusal : refusedHere[row.name]
    if (wanted === undefined) continue
    expect([row.name, readCircuit(row.text)]).toEqual([
      row.name,
      { faults: [{ message: expect.stringContaining(wanted), line: expect.any(Number), column: expect.any(Number) }] }
    ])
  }
})
