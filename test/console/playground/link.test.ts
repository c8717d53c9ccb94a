import { expect, test } from '@jest/globals'
import { fragmentOf, sharedIn } from '../../../apps/console/playground/link.js'

test.each([
  { program: 'OPENQASM 3.0;\nqubit[2] q;\n// Grüße ⟩ 🙂 %41+&=#', shots: '77', seed: '' },
  { program: '', shots: 'many', seed: '5' }
])('a link brings back what it was made of, in characters that no part of the way changes', (shared) => {
  const fragment = fragmentOf(shared)!
  expect(fragment).toMatch(/^run\.[\w-]+$/)
  expect(sharedIn(`#${fragment}`)).toEqual(shared)
})

test('a program that is too long for an address has no link', () => {
  expect(fragmentOf({ program: 'x'.repeat(40_000), shots: '1', seed: '' })).toBeNull()
})

test.each([
  ['of another kind', '#page'],
  ['that was cut off', '#run.eyJwcm9n'],
  ['that is not base64', '#run.%%%'],
  ['without a program', `#run.${btoa('{"shots":"1","seed":""}')}`],
  ['with a program that is not a text', `#run.${btoa('{"program":{},"shots":"1","seed":""}')}`],
  ['of null', `#run.${btoa('null')}`]
])('a fragment %s does not link to a program', (_kind, fragment) => {
  expect(sharedIn(fragment)).toBeNull()
})
