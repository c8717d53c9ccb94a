import { expect, test } from '@jest/globals'
import { frameworkOf, isPython } from '../../../apps/console/playground/program/language.js'

const frameworks = ['qiskit', 'cirq', 'pennylane', 'openqasm', 'marqov', 'braket']

test.each([
  ['OPENQASM 2.0;\nqreg q[1];', false],
  ['qubit q;\nx q;', false],
  ['', false],
  ['from qiskit import QuantumCircuit', true],
  ['x = 1\nimport cirq\n', true]
])('%j is Python: %s', (program, python) => {
  expect(isPython(program, 'auto')).toBe(python)
})

test('a language that was chosen decides over the text', () => {
  expect(isPython('qubit q;', 'cirq')).toBe(true)
  expect(isPython('import cirq', 'openqasm')).toBe(false)
})

test('the framework of a conversion is the chosen one, or the first that is imported', () => {
  expect(frameworkOf('import numpy\nfrom cirq import Circuit', 'auto', frameworks)).toBe('cirq')
  expect(frameworkOf('import numpy', 'auto', frameworks)).toBeNull()
  expect(frameworkOf('import cirq', 'qiskit', frameworks)).toBe('qiskit')
})
