import { describe, expect, test } from '@jest/globals'
import {
  type HistogramData,
  type HistogramOptions,
  histogramBars,
  histogramLayout
} from '../../../apps/console/charts/histogram/histogram-layout.js'
import { canTurn, labelLines, orderText, outcomeParts } from '../../../apps/console/charts/histogram/outcome-label.js'
import type { Counts } from '../../../apps/console/results/counts.js'
import { bellPair, counts, dataOf, options, register } from './histogram-scene.js'

const cd = [register('c', 2), register('d', 3)]
const layoutOf = (data: HistogramData, given: HistogramOptions) =>
  histogramLayout(data, histogramBars(data, given), given)
const labelsOf = (data: HistogramData, given: HistogramOptions) =>
  layoutOf(data, given).rows.map(({ label }) => label.map(({ text }) => text))

describe('the order of bits', () => {
  test('is qubit 0 leftmost, with the first register first', () => {
    expect(outcomeParts('01001', cd, false)).toEqual(['01', '001'])
  })

  test('as Qiskit prints it has the last register first, and bit 0 of each rightmost', () => {
    expect(outcomeParts('01001', cd, true)).toEqual(['100', '10'])
    expect(outcomeParts('100', [], true)).toEqual(['001'])
  })

  test('is not split where the registers have another width', () => {
    expect(outcomeParts('0100', cd, false)).toEqual(['0100'])
  })

  test('is stated under the histogram, and so is that only the display is turned', () => {
    const reading = dataOf({}, [{ name: 'c', size: 2, qubits: [3, 0] }, register('d', 1)])
    expect(orderText(reading, false)).toBe(
      'Qubit 0 leftmost, bit 0 of each register leftmost. Registers from left to right: c (2 bits; qubits 3, 0), d (1 bit).'
    )
    expect(orderText(reading, true)).toBe(
      'Shown in the order of Qiskit: the last register first, qubit 0 rightmost. Results and files keep qubit 0 leftmost. Registers from left to right: d (1 bit), c (2 bits; qubits 0, 3).'
    )
    expect(orderText(dataOf({}), false)).toBe('Qubit 0 leftmost.')
    expect(orderText({ order: 'site order', registers: [] }, false)).toContain('site 0 leftmost')
    expect(orderText({ order: 'unstated', registers: [] }, false)).toContain('as the program returned them')
  })

  test('can be turned for bits of a circuit alone', () => {
    expect(canTurn(dataOf({}), ['00', '11'])).toBe(true)
    expect(canTurn(dataOf({}), ['00', 'grg'])).toBe(false)
    expect(canTurn({ order: 'unstated', registers: [] }, ['00'])).toBe(false)
  })

  test('turned changes labels and nothing else', () => {
    const data = dataOf({ a: counts({ '100': 7, '001': 3 }) })
    const [straight, turned] = [false, true].map((turned) => layoutOf(data, options({ turned })))
    expect(straight!.rows.map(({ bars }) => bars)).toEqual(turned!.rows.map(({ bars }) => bars))
    expect(labelsOf(data, options({ turned: true }))).toEqual([['001'], ['100']])
  })

  test('sorted by outcome is the one that is shown', () => {
    const data = dataOf({ a: counts({ '100': 7, '001': 3, '010': 1 }) })
    expect(labelsOf(data, options({ sort: 'outcome' })).flat()).toEqual(['001', '010', '100'])
    expect(labelsOf(data, options({ sort: 'outcome', turned: true })).flat()).toEqual(['001', '010', '100'])
  })
})

describe('the layout of a histogram', () => {
  test('gives each bar the length of its share', () => {
    const { rows, plot } = layoutOf(dataOf({ job: bellPair }), options())
    const [zero, one] = rows.map(({ bars }) => bars[0]!)
    expect(zero!.width / one!.width).toBeCloseTo(503 / 497, 9)
    expect(zero!.x).toBe(plot.x)
    expect(zero!.interval!.from).toBeLessThan(zero!.x + zero!.width)
    expect(zero!.interval!.to).toBeGreaterThan(zero!.x + zero!.width)
    expect(zero!.value.text).toBe('503    50.3 %')
  })

  test('sets the parts of an outcome apart by a gap', () => {
    const { rows } = layoutOf(dataOf({ job: counts({ '01001': 5 }) }, cd), options())
    const [c, d] = rows[0]!.label
    expect([c!.text, d!.text]).toEqual(['01', '001'])
    expect(d!.x - c!.x).toBeGreaterThan(3 * 7.3)
  })

  test('says in words what a row shows', () => {
    const { rows, description } = layoutOf(dataOf({ job: bellPair }), options())
    expect(rows[0]!.title).toBe('00: 503 of 1,000 (50.3 %), 95 % interval 47.2 to 53.4 %')
    expect(description).toContain('All 2 outcomes of job with 1,000 shots.')
  })

  test('names how many outcomes the rest is', () => {
    const many = counts(
      Object.fromEntries(Array.from({ length: 1_024 }, (_, at) => [at.toString(2).padStart(10, '0'), at]))
    )
    const { rows, description } = layoutOf(dataOf({ job: many }), options())
    expect(rows).toHaveLength(21)
    expect(rows.at(-1)).toMatchObject({
      isRest: true,
      title: expect.stringContaining('rest (1,004 outcomes): 503,506 of 523,776')
    })
    expect(description).toContain('The 20 most frequent outcomes')
  })

  test('keeps its outcomes readable beside a large rest, whose bar is cut and says so', () => {
    const spread = counts(Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`${at}`, 100 + at])))
    const { rows, plot } = layoutOf(dataOf({ job: spread }), options())
    expect(rows[0]!.bars[0]!.width).toBeGreaterThan(plot.width / 2)
    expect(rows[0]!.bars[0]!.isCut).toBe(false)
    expect(rows.at(-1)!.bars[0]).toMatchObject({ isCut: true, width: plot.width })
    const logarithmic = layoutOf(dataOf({ job: spread }), options({ axis: 'logarithmic' }))
    expect(logarithmic.rows.at(-1)!.bars[0]!.isCut).toBe(false)
  })

  test('has two bars in each row of a pair', () => {
    const { rows } = layoutOf(dataOf({ a: bellPair, b: counts({ '11': 10 }) }), options())
    expect(rows.map(({ bars }) => bars.map(({ set, value }) => [set, value.text.trim()]))).toEqual([
      [
        [0, '497    49.7 %'],
        [1, '10     100 %']
      ],
      [
        [0, '503    50.3 %'],
        [1, '0       0 %']
      ]
    ])
    expect(rows[0]!.title).toContain('b: 10 of 10 (100 %)')
  })

  test('shows the smallest count on a logarithmic axis', () => {
    const data = dataOf({ job: counts({ '0': 999_999, '1': 1 }) })
    const [linear, logarithmic] = (['linear', 'logarithmic'] as const).map((axis) => layoutOf(data, options({ axis })))
    expect(linear!.rows[1]!.bars[0]!.width).toBe(1)
    expect(logarithmic!.rows[1]!.bars[0]!.width).toBeGreaterThan(20)
    expect(logarithmic!.ticks.map(({ label }) => label)).toContain('100 %')
  })

  test('of 2^63 shots has its digits within the picture, at 360 pixels as well', () => {
    const data = dataOf({ job: counts({ '0': 2n ** 63n - 1n, '1': 1n }) })
    for (const axis of ['linear', 'logarithmic'] as const)
      for (const width of [320, 360, 1_200]) {
        const layout = layoutOf(data, options({ width, axis }))
        expect(layout.rows[0]!.bars[0]!.value.text).toBe('9,223,372,036,854,775,807  > 99.9 %')
        for (const { x, width: length } of layout.rows.flatMap(({ bars }) => bars))
          expect([x, length, x + length].every(Number.isFinite)).toBe(true)
      }
  })

  test('stays within its width, without a number that is none, for every kind of counts', () => {
    const sets: Record<string, Counts>[] = [
      { job: counts({}) },
      { job: counts({ '0': 0 }) },
      { job: counts({ '0': 1 }) },
      { a: counts({ '0': 1 }), b: counts({}) },
      { job: counts({ ['0'.repeat(256)]: 5, [`${'0'.repeat(255)}1`]: 6 }) }
    ]
    for (const set of sets)
      for (const axis of ['linear', 'logarithmic'] as const) {
        const layout = layoutOf(dataOf(set), options({ width: 360, axis }))
        for (const { bars } of layout.rows)
          for (const bar of bars) {
            expect(Number.isFinite(bar.width)).toBe(true)
            expect(bar.x + bar.width).toBeLessThanOrEqual(360)
          }
        for (const { at } of layout.ticks) expect(Number.isFinite(at)).toBe(true)
      }
  })

  test('breaks a long outcome into lines, and of one that is too long shows both ends', () => {
    const bits = '0123456789'.repeat(4)
    expect(labelLines([bits], 10, 4)).toEqual(['0123456789', '0123456789', '0123456789', '0123456789'])
    expect(labelLines([bits.repeat(2)], 10, 4)).toEqual(['0123456789', '012345678…', '0123456789', '0123456789'])
    const { rows } = layoutOf(dataOf({ job: counts({ ['01'.repeat(128)]: 1 }) }), options({ width: 360 }))
    expect(rows[0]!.label).toHaveLength(4)
    expect(rows[0]!.title).toContain('01'.repeat(128))
  })

  test('draws an outcome that a program chose as text of limited length', () => {
    const data = {
      ...dataOf({ job: counts({ [`\u202e<script>${'x'.repeat(10_000)}`]: 1 }) }),
      order: 'unstated' as const
    }
    const { rows } = layoutOf(data, options())
    expect(rows[0]!.label[0]!.text).toMatch(/^\uFFFD<script>x+/)
    expect(rows[0]!.title.length).toBeLessThan(400)
  })
})
