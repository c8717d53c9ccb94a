import { describe, expect, test } from '@jest/globals'
import {
  assertStateVectorFits,
  declaredQubits,
  isTooWide,
  tooWide,
  widthOfSource
} from '../../../domain/jobs/declared-width.js'

describe('the width of an OpenQASM source', () => {
  test.each<[string, number | null]>([
    ['OPENQASM 3.0; qubit[2] q; h q[0];', 2],
    ['qubit a; qubit[ 30 ] b;', 31],
    ['OPENQASM 2.0; qreg q[5]; creg c[9]; qreg ancilla[2];', 7],
    ['// qubit[9] no;\n/* qubit[9]\n no; */ qubit[3] q; // qubit[9] no;', 3],
    ['const uint n = 4; qubit[n] q; qubit[2] r;', null],
    ['qubit[2*2] q;', null],
    ['cx $0, $31;', null],
    ['qubitq; qubit [ 3 ]\n q ;', 3],
    ['def f(qubit q) { } bit[9] c;', null]
  ])('of %j is %j', (text, width) => {
    expect(declaredQubits(text)).toBe(width)
  })

  test.each(['/*', '//', 'qubit[', 'qubit ', 'qreg a', 'qubit[1] q', ' ', '/'])(
    'is read in linear time from a megabyte of %j',
    (piece) => {
      const text = `qubit${piece.repeat(1024 * 1024)}`
      const began = process.cpuUsage()
      declaredQubits(text)
      // Quadratic time would take minutes.
      expect(process.cpuUsage(began).user).toBeLessThan(5_000_000)
    }
  )

  test('is read only from OpenQASM', () => {
    const text = 'qubit[3] q;'
    expect(widthOfSource({ kind: 'circuit', format: 'qasm3', text })).toBe(3)
    expect(widthOfSource({ kind: 'inline', framework: 'openqasm', text })).toBe(3)
    expect(widthOfSource({ kind: 'inline', framework: 'qiskit', text })).toBeNull()
  })
})

describe('a circuit that is wider than its backend', () => {
  const simulator = (slug: string, maxQubits: number, status: 'online' | 'offline' = 'online') => ({
    slug,
    maxQubits,
    status,
    engine: 'statevector'
  })
  const all = [simulator('mps', 100), simulator('away', 30, 'offline'), simulator('wide', 28), simulator('local', 25)]

  test('is refused with the smallest simulator that is online and fits', () => {
    expect([isTooWide(25, all[3]!), isTooWide(26, all[3]!), isTooWide(999, { slug: 'x', maxQubits: null })]).toEqual([
      false,
      true,
      false
    ])
    expect(tooWide(26, all[3]!, all).message).toBe(
      'backend: the circuit has 26 qubits, local takes at most 25; wide takes 28'
    )
    expect(tooWide(101, all[3]!, all).message).toMatch(/no simulator of this service takes as many$/)
  })
})

test('a state vector of more than 20 qubits is refused', () => {
  const params = (extract: boolean) => ({ extract_state_vector: extract })
  expect(() => assertStateVectorFits(20, params(true))).not.toThrow()
  expect(() => assertStateVectorFits(21, params(false))).not.toThrow()
  expect(() => assertStateVectorFits(21, params(true))).toThrow(
    'params.extract_state_vector: a state vector has at most 20 qubits (the circuit has 21)'
  )
})
