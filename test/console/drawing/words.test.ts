import { describe, expect, test } from '@jest/globals'
import type { Condition } from '../../../apps/console/circuit/circuit.js'
import { angleText, exactAngleText } from '../../../apps/console/drawing/angle-text.js'
import { conditionBits, conditionText } from '../../../apps/console/drawing/condition-text.js'
import { classicalWires } from '../../../apps/console/drawing/wires.js'
import { isOne, registerIs } from './circuits.js'

describe('an angle', () => {
  test.each([
    [Math.PI, 'π'],
    [-Math.PI / 4, '-π/4'],
    [(3 * Math.PI) / 8, '3π/8'],
    [2 * Math.PI, '2π'],
    [Math.PI / 1024, 'π/1024'],
    [0, '0'],
    [-0, '0'],
    [0.1234567, '0.1235'],
    [3.1, '3.1'],
    [1e-9, '1e-9']
  ])('of %p reads %s', (angle, text) => {
    expect(angleText(angle)).toBe(text)
  })

  test('has all its digits in full', () => {
    expect(exactAngleText(0.1234567)).toBe('0.1234567')
    expect(exactAngleText(Math.PI / 2)).toBe('π/2')
    expect(exactAngleText(1.5707963267948)).toBe('1.5707963267948')
    expect(angleText(1.5707963267948)).toBe('π/2')
  })
})

const names = ['c[0]', 'c[1]', 'flag', 'd[0]', 'd[1]', 'd[2]']
const wires = classicalWires({ clbits: 6, clbitNames: names })
const text = (condition: Condition) => conditionText(condition, wires, names)

describe('classical wires', () => {
  test('are one for each register', () => {
    expect(wires).toMatchObject([
      { name: 'c', clbits: [0, 1] },
      { name: 'flag', clbits: [2] },
      { name: 'd', clbits: [3, 4, 5] }
    ])
  })

  test('keep the full names of bits that are no whole register', () => {
    const odd = { clbits: 4, clbitNames: ['c[1]', 'c[0]', 'c[2]', 'd[0]'] }
    expect(classicalWires(odd).map(({ name }) => name)).toEqual(['c[1]', 'c', 'c[2]', 'd'])
    expect(classicalWires({ clbits: 2, clbitNames: [] }).map(({ name }) => name)).toEqual(['bit 0', 'bit 1'])
  })

  test('of two registers with one name are two', () => {
    expect(classicalWires({ clbits: 4, clbitNames: ['c[0]', 'c[1]', 'c[0]', 'c[1]'] })).toHaveLength(2)
  })
})

describe('a condition', () => {
  const less: Condition = { kind: 'compare', left: { clbits: [0, 1] }, operator: '<', right: { clbits: [3, 4, 5] } }

  test('is written with the names of the program', () => {
    expect(text(isOne(0))).toBe('c[0]')
    expect(text(registerIs([0], 0))).toBe('!c[0]')
    expect(text(registerIs([0, 1], 3))).toBe('c == 3')
    expect(text(registerIs([1, 0], 3))).toBe('{c[1], c[0]} == 3')
    expect(text(registerIs([2], 5))).toBe('flag == 5')
    expect(text(less)).toBe('c < d')
  })

  test('has brackets where it needs them', () => {
    expect(text({ kind: 'and', parts: [isOne(2), less, { kind: 'or', parts: [isOne(0), isOne(1)] }] })).toBe(
      'flag && (c < d) && (c[0] || c[1])'
    )
    expect(text({ kind: 'not', of: less })).toBe('!(c < d)')
    expect(text({ kind: 'not', of: isOne(2) })).toBe('!flag')
  })

  test('of no parts is one that always or never holds', () => {
    expect(text({ kind: 'and', parts: [] })).toBe('true')
    expect(text({ kind: 'or', parts: [] })).toBe('false')
  })

  test('of any size is short, and read in no time', () => {
    let large: Condition = less
    for (let depth = 0; depth < 20; depth++) large = { kind: 'and', parts: [large, large] }
    const begun = performance.now()
    expect(text(large).length).toBeLessThanOrEqual(200)
    expect(text({ kind: 'and', parts: new Array(100_000).fill(isOne(0)) }).length).toBeLessThanOrEqual(200)
    expect(performance.now() - begun).toBeLessThan(1_000)
  })

  test('reads each of its bits once', () => {
    expect(conditionBits({ kind: 'and', parts: [less, { kind: 'not', of: isOne(0) }] })).toEqual([0, 1, 3, 4, 5])
  })
})
