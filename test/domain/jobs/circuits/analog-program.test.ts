// What a submission of an analog program shows, and what it does not take.
import { describe, expect, test } from '@jest/globals'
import { isAnalogProgram, sitesOf } from '../../../../domain/jobs/circuits/analog-program.js'
import { tooWide, widthOfSource } from '../../../../domain/jobs/declared-width.js'
import { frameworkOfCircuit } from '../../../../domain/jobs/framework.js'
import { programKindOf } from '../../../../domain/jobs/source.js'
import { readSubmission, type SubmitBody } from '../../../../domain/jobs/submission.js'
import { analogProgram } from '../../../support/jobs/analog.js'

const now = new Date('2026-11-21T10:00:00Z')
function read(payload: string, changes: Record<string, unknown> = {}) {
  const circuit = { format: 'ahs', payload }
  const body = { circuit, backend: 'quera-aquila', params: { shots: 10 }, ...changes }
  return readSubmission(body as SubmitBody, JSON.stringify(body), now)
}

test('it is kept byte for byte', () => {
  const text = ` ${analogProgram()}\n`
  expect(read(text).source).toEqual({ kind: 'circuit', format: 'ahs', text })
})

test('its width is the number of its sites', () => {
  const source = read(analogProgram()).source
  expect(source.kind === 'circuit' && [widthOfSource(source), programKindOf(source)]).toEqual([2, 'analog'])
  expect(sitesOf('{}')).toBeNull()
  const few = { slug: 'quera-aquila', maxQubits: 256 }
  expect(
    tooWide(300, few, [{ slug: 'aer-mps', maxQubits: 1000, status: 'online', engine: 'mps' }], 'analog').message
  ).toBe('backend: the analog program has 300 sites, quera-aquila takes at most 256')
})

test('it has no framework of its own', () => {
  expect([frameworkOfCircuit({ format: 'ahs' }), frameworkOfCircuit({ format: 'qasm2' })]).toEqual(['ahs', 'openqasm'])
  for (const framework of ['openqasm', 'braket', 'qiskit'])
    expect(() => read(analogProgram(), { framework })).toThrow(
      `framework: an analog program (ahs) has none (got "${framework}")`
    )
})

describe('a text that is none is refused', () => {
  test.each([
    ['OpenQASM', 'OPENQASM 3.0;'],
    ['a list', '[]'],
    ['nothing', 'null'],
    ['no header', '{}'],
    ['the header of another program', analogProgram({ header: { name: 'braket.ir.openqasm.program', version: '1' } })],
    ['another version', analogProgram({ header: { name: 'braket.ir.ahs.program', version: '2' } })],
    ['deep nesting', '['.repeat(500_000)]
  ])('%s', (_what, payload) => {
    expect(isAnalogProgram(payload)).toBe(false)
    expect(() => read(payload)).toThrow('circuit.payload: an analog program (ahs) is JSON with a braketSchemaHeader')
  })

  test('one without a list of sites', () =>
    expect(() => read(analogProgram({ sites: 'many' }))).toThrow('setup.ahs_register.sites must be a list'))
})

test.each([
  ['observables', ['ZZ']],
  ['observables_method', 'sampled'],
  ['mitigation', { readout: true }],
  ['noise_model', { like: 'iqm-garnet' }],
  ['extract_state_vector', true],
  ['optimization_level', 0],
  ['points', [{ theta: 1 }]]
])('params.%s is refused with the reason', (name, value) => {
  const params = { shots: 10, [name]: value }
  expect(() => read(analogProgram(), { params })).toThrow(`params.${name}: an analog program (ahs) does not take it: `)
})
